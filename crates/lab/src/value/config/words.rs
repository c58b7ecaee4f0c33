//! The words that the default value is made of.

/// Tag, name, currency, fallback.
pub(super) const LOCALES: [(&str, &str, &str, Option<&str>); 12] = [
    ("ar-AE", "العربية", "AED", Some("en-GB")),
    ("de-DE", "Deutsch", "EUR", Some("en-GB")),
    ("en-GB", "English (UK)", "GBP", None),
    ("en-US", "English (US)", "USD", Some("en-GB")),
    ("es-ES", "español", "EUR", Some("en-GB")),
    ("fr-CA", "français (Canada)", "CAD", Some("fr-FR")),
    ("fr-FR", "français", "EUR", Some("en-GB")),
    ("he-IL", "עברית", "ILS", Some("en-GB")),
    ("it-IT", "italiano", "EUR", Some("en-GB")),
    ("ja-JP", "日本語", "JPY", Some("en-US")),
    ("nl-NL", "Nederlands", "EUR", Some("en-GB")),
    ("pl-PL", "polski", "PLN", Some("en-GB")),
];

/// Name, failover, weight, position, milliseconds to each region.
pub(super) type RegionRow = (&'static str, Option<&'static str>, f64, [f64; 2], [u32; 6]);

pub(super) const REGIONS: &[RegionRow] = &[
    (
        "eu-central",
        None,
        0.34,
        [50.11, 8.68],
        [1, 22, 89, 142, 226, 158],
    ),
    (
        "eu-north",
        Some("eu-central"),
        0.12,
        [59.33, 18.07],
        [22, 1, 108, 156, 244, 177],
    ),
    (
        "us-east",
        Some("us-west"),
        0.22,
        [38.95, -77.45],
        [89, 108, 1, 62, 148, 214],
    ),
    (
        "us-west",
        Some("us-east"),
        0.14,
        [45.6, -122.68],
        [142, 156, 62, 1, 97, 163],
    ),
    (
        "ap-northeast",
        Some("ap-southeast"),
        0.1,
        [35.68, 139.69],
        [226, 244, 148, 97, 1, 69],
    ),
    (
        "ap-southeast",
        Some("ap-northeast"),
        0.08,
        [1.35, 103.82],
        [158, 177, 214, 163, 69, 1],
    ),
];

/// Name, price in euro cents a month, what is shown beside it.
pub(super) const PLANS: &[(&str, u32, &[&str])] = &[
    (
        "starter",
        2_900,
        &[
            "Your own domain with a certificate",
            "Answers to your questions by mail within two working days",
        ],
    ),
    (
        "classic",
        5_900,
        &[
            "Everything in Starter",
            "The old theme editor, for as long as you keep the plan",
        ],
    ),
    (
        "growth",
        9_900,
        &[
            "Everything in Starter",
            "Discount codes, gift cards and abandoned cart mails",
            "Chat with our staff from eight to eight",
        ],
    ),
    (
        "scale",
        29_900,
        &[
            "Everything in Growth",
            "A test shop beside the real one",
            "Reports for each market and sales channel",
        ],
    ),
    (
        "enterprise",
        129_900,
        &[
            "Everything in Scale",
            "Single sign-on for your staff",
            "A contact who knows your shop, and a phone number for the night",
        ],
    ),
];

/// Percent of the price in euro that plans cost in CHF, EUR, GBP and USD.
pub(super) const CURRENCIES: [u32; 4] = [98, 100, 86, 109];

/// Method, path and upstream; what it is for.
pub(super) const ROUTES: &[(&str, &str)] = &[
    (
        "GET / -> pages",
        "Home page with the offers of the week and the products seen last.",
    ),
    (
        "GET /products/{id} -> catalog",
        "One product with its variants, prices and the stock of the nearest store.",
    ),
    (
        "GET /products/{id}/reviews -> reviews",
        "Reviews by page, the most helpful ones first.",
    ),
    (
        "POST /products/{id}/reviews -> reviews",
        "Takes a review; it is shown when a person has read it.",
    ),
    (
        "GET /categories/{slug} -> catalog",
        "Products of a category with the filters that apply there.",
    ),
    (
        "GET /search -> search",
        "Full search. Falls back to titles alone when the ranking service is slow.",
    ),
    (
        "GET /search/suggest -> search",
        "Suggestions while somebody types: answer fast or not at all.",
    ),
    (
        "GET /recommendations -> recommender",
        "Products that go with those in the cart; an empty list is a good answer.",
    ),
    (
        "POST /cart -> cart",
        "Puts a product into the cart and reserves it for twenty minutes.",
    ),
    (
        "PATCH /cart/items/{id} -> cart",
        "Changes quantity, gift wrapping or the note of a line.",
    ),
    (
        "POST /cart/coupons -> pricing",
        "Checks a coupon. The low limit keeps people from guessing codes.",
    ),
    (
        "POST /checkout -> checkout",
        "Starts a checkout and freezes the prices of the cart.",
    ),
    (
        "POST /checkout/payment -> payment",
        "Authorises the payment; never retried, the bank may have taken it.",
    ),
    (
        "POST /checkout/confirm -> checkout",
        "Places the order, once for each idempotency key.",
    ),
    (
        "GET /shipping/rates -> shipping",
        "Rates and dates of all carriers for an address and a weight.",
    ),
    (
        "POST /session -> identity",
        "Signs a customer in with a password, a passkey or a link.",
    ),
    (
        "POST /password/reset -> identity",
        "Sends a link for a new password, and says so even if nobody has that address.",
    ),
    (
        "GET /account/orders -> orders",
        "Orders of the customer, newest first, twenty to a page.",
    ),
    (
        "POST /account/orders/{id}/return -> returns",
        "Opens a return and prints its label.",
    ),
    (
        "POST /newsletter -> mail",
        "Asks for news; the address counts once it has been confirmed.",
    ),
    (
        "POST /webhooks/{provider} -> webhooks",
        "Notices of payment providers and carriers, checked by signature.",
    ),
];

/// What rules look at, and its values.
pub(super) const RULES: &[(&str, &[&str])] = &[
    ("country", COUNTRIES),
    ("platform", &["android", "ios", "web"]),
    ("plan", &["enterprise", "growth", "scale", "starter"]),
    ("cohort", &["beta", "employees", "partners", "returning"]),
];

const COUNTRIES: &[&str] = &[
    "AT", "BE", "CA", "CH", "CZ", "DE", "DK", "ES", "FR", "GB", "IT", "JP", "NL", "PL", "SE", "US",
];
