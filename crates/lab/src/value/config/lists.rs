//! The lists of short texts in the default value: what the search and the edge go by.

/// Days on which parcels are not collected, and where.
pub(super) const CLOSING_DAYS: &[&str] = &[
    "2026-10-03 German Unity Day: DE",
    "2026-10-12 Thanksgiving: CA",
    "2026-11-01 All Saints: AT BE ES FR IT PL",
    "2026-11-11 Armistice Day: BE FR",
    "2026-11-26 Thanksgiving: US",
    "2026-12-08 Immaculate Conception: AT ES IT",
    "2026-12-24 Christmas Eve: CZ DK PL SE",
    "2026-12-25 Christmas Day: everywhere but JP",
    "2026-12-26 Second day of Christmas: most of Europe",
    "2026-12-31 stocktaking: the central warehouse",
    "2027-01-01 New Year: everywhere",
    "2027-01-06 Epiphany: AT ES IT PL SE",
    "2027-01-11 Coming of Age Day: JP",
    "2027-02-11 Foundation Day: JP",
    "2027-03-26 Good Friday: CA CH CZ DE DK ES GB SE",
    "2027-03-29 Easter Monday: most of Europe",
    "2027-04-27 King's Day: NL",
    "2027-05-01 Labour Day: most of Europe",
    "2027-05-03 Constitution Day: PL",
    "2027-05-06 Ascension Day: AT BE CH DE DK FR NL SE",
    "2027-05-17 Whit Monday: AT BE CH DE DK FR NL",
    "2027-05-31 Memorial Day: US",
    "2027-07-01 Canada Day: CA",
    "2027-07-14 National Day: FR",
];

/// Groups of words that mean the same, three groups a line.
pub(super) const SYNONYMS: &[&str] = &[
    "sofa, couch, settee; trousers, pants, slacks; trainers, sneakers, running shoes",
    "jumper, sweater, pullover; torch, flashlight, headlamp; nappy, diaper",
    "pram, stroller, pushchair, buggy; tap, faucet; hob, cooktop, stove top",
    "duvet, comforter, quilt; rucksack, backpack, daypack; bin, trash can, waste basket",
    "hoover, vacuum cleaner; spanner, wrench; kettle, water boiler",
    "tv, telly, television; fridge, refrigerator, cooler; mobile, phone, smartphone, handset",
    "earphones, earbuds, in-ears; notebook, laptop; rug, carpet, mat",
    "wardrobe, closet, armoire; curtains, drapes; secateurs, pruning shears",
    "tin, can; biscuit, cookie; courgette, zucchini",
    "plaster, band-aid, sticking plaster; swimsuit, bathing suit, one-piece; dressing gown, bathrobe",
    "waistcoat, vest, gilet; wellies, rubber boots, rain boots; teapot, tea maker",
    "plaid, tartan, check; lead, leash; jewellery, jewelry",
    "chopping board, cutting board; clothes peg, clothespin; cot, crib, baby bed",
    "drawing pin, thumb tack; fairy lights, string lights, light chain; ironmongery, hardware",
    "paraffin, kerosene, lamp oil; skirting, baseboard; aubergine, eggplant",
    "ground coffee, filter coffee; fountain pen, ink pen; bike, bicycle, cycle",
];

/// Words that are not looked for, a language a line.
pub(super) const STOP_WORDS: &[&str] = &[
    "a about an and any are as at be best buy by can cheap do for from get has have how i in is it its like me my need of on or order our please shop some that the their to want what where with you",
    "aber alle als am an auch auf aus bei bestellen bin das dem den der die ein eine er es für ich im in ist kaufen mein mit nach nicht noch oder sie und von was wie wir wo zu zum zur",
    "à acheter au aux avec ce ces dans de des du elle en et eux il je la le les leur lui ma mais me mes moi mon ne nos notre nous on ou où par pas pour que qui sa se ses son sur un une vous",
];

/// Names that are not corrected, a department a line.
pub(super) const BRANDS: &[&str] = &[
    "Arvika, Calder, Ekström, Gantry, Halden, Ibex, Kestrel, Nansen, Nordal, Rask, Solberg, Tarn, Voss, Zephyr",
    "Aldwyn, Beltane, Cinderly, Dovetail, Fairlie, Grünwald, Hygga, Lumière, Lyng, Pellworm, Skagen Loom, Umbra Sei, Wexcombe",
    "Bruun, Corvo, Jora, Kivi, Marlow, Merrow, Mokka, Okapi, Onda, Orrin, Quarry, Rivet, Sablier, Tivoli, Tulio, Vesper, Yarrow",
];

/// Old address and new one.
pub(super) const REDIRECTS: &[&str] = &[
    "/about-us -> /pages/about",
    "/agb -> /pages/terms",
    "/blog/* -> https://journal.storefront.example/{rest}",
    "/careers -> https://jobs.storefront.example/",
    "/christmas -> /collections/gifts",
    "/contact-form -> /pages/contact",
    "/de/versand -> /pages/shipping?lang=de-DE",
    "/faq -> /help",
    "/fr/livraison -> /pages/shipping?lang=fr-FR",
    "/gift-finder -> /collections/gifts?sort=popular",
    "/impressum -> /pages/imprint",
    "/index.php -> /",
    "/item.asp?no={id} -> /products/{id}",
    "/lookbook-2024 -> /collections/autumn",
    "/my-account -> /account",
    "/new -> /collections/new-arrivals",
    "/order-status -> /account/orders",
    "/outlet -> /collections/last-pieces",
    "/privacy.html -> /pages/privacy",
    "/press -> https://press.storefront.example/",
    "/returns-form -> /account/orders?filter=returnable",
    "/shop/{slug} -> /categories/{slug}",
    "/size-guide -> /help/sizes",
    "/store-locator -> /stores",
    "/spring-sale -> /collections/last-pieces?season=spring",
    "/terms-of-use -> /pages/terms",
    "/tracking/{code} -> /account/orders?parcel={code}",
    "/unsubscribe.php -> /newsletter/leave",
    "/vouchers -> /products/gift-card",
    "/wp-login.php -> /404",
];

/// Pages that may call the interface.
pub(super) const ALLOWED_ORIGINS: &[&str] = &[
    "https://www.storefront.example",
    "https://checkout.storefront.example",
    "https://admin.storefront.example",
    "https://embed.storefront.example",
    "https://preview.storefront.example:8443",
    "https://*.shop.example",
    "capacitor://localhost",
];

/// Directives of the header of that name.
pub(super) const CONTENT_SECURITY_POLICY: &[&str] = &[
    "default-src 'self'",
    "base-uri 'none'",
    "connect-src 'self' https://api.storefront.example wss://chat.storefront.example",
    "font-src 'self' https://static.storefront.example",
    "form-action 'self' https://checkout.storefront.example",
    "frame-ancestors 'self' https://admin.storefront.example",
    "frame-src https://pay.storefront.example https://video.storefront.example",
    "img-src 'self' data: https://images.storefront.example",
    "object-src 'none'",
    "script-src 'self' 'strict-dynamic'",
    "upgrade-insecure-requests",
];

/// Pattern of the names of clients that are turned away.
pub(super) const BLOCKED_AGENTS: &str = "price-spider|stock-sniper|sneaker-bot|couponharvest/|mirror-site-copier|python-scraper/0.|headless-cart|mailgrabber|seo-audit-trial|wp-vuln-scan";

/// Networks whose forwarded addresses are believed.
pub(super) const TRUSTED_PROXIES: &[&str] = &[
    "10.12.0.0/16",
    "10.40.8.0/21",
    "10.64.0.0/14",
    "172.20.0.0/15",
    "192.0.2.0/25",
    "198.51.100.64/26",
    "203.0.113.0/24",
    "2001:db8:1200::/40",
    "2001:db8:fe00::/48",
];
