//! The words that the default value is made of.

/// Tag, name, currency, decimal mark, fallback.
pub(super) const LOCALES: [(&str, &str, &str, &str, Option<&str>); 16] = [
    ("ar-AE", "العربية", "AED", ".", Some("en-GB")),
    ("cs-CZ", "čeština", "CZK", ",", Some("en-GB")),
    ("da-DK", "dansk", "DKK", ",", Some("en-GB")),
    ("de-AT", "Deutsch (Österreich)", "EUR", ",", Some("de-DE")),
    ("de-DE", "Deutsch", "EUR", ",", Some("en-GB")),
    ("en-GB", "English (UK)", "GBP", ".", None),
    ("en-US", "English (US)", "USD", ".", Some("en-GB")),
    ("es-ES", "español", "EUR", ",", Some("en-GB")),
    ("fr-CA", "français (Canada)", "CAD", ",", Some("fr-FR")),
    ("fr-FR", "français", "EUR", ",", Some("en-GB")),
    ("he-IL", "עברית", "ILS", ".", Some("en-GB")),
    ("it-IT", "italiano", "EUR", ",", Some("en-GB")),
    ("ja-JP", "日本語", "JPY", ".", Some("en-US")),
    ("nl-NL", "Nederlands", "EUR", ",", Some("en-GB")),
    ("pl-PL", "polski", "PLN", ",", Some("en-GB")),
    ("pt-BR", "português (Brasil)", "BRL", ",", Some("en-US")),
];

/// Name, failover, weight, position.
pub(super) const REGIONS: &[(&str, Option<&str>, f64, [f64; 2])] = &[
    ("eu-central", None, 0.34, [50.11, 8.68]),
    ("eu-north", Some("eu-central"), 0.12, [59.33, 18.07]),
    ("us-east", Some("us-west"), 0.22, [38.95, -77.45]),
    ("us-west", Some("us-east"), 0.14, [45.6, -122.68]),
    ("ap-northeast", Some("ap-southeast"), 0.1, [35.68, 139.69]),
    ("ap-southeast", Some("ap-northeast"), 0.08, [1.35, 103.82]),
];

/// Name, title, price in euro cents a month.
pub(super) const PLANS: &[(&str, &str, u32)] = &[
    ("starter", "Starter", 2_900),
    ("classic", "Classic (closed to new shops)", 5_900),
    ("growth", "Growth", 9_900),
    ("scale", "Scale", 29_900),
    ("enterprise", "Enterprise", 129_900),
];

/// Currency, percent of the price in euro.
pub(super) const CURRENCIES: &[(&str, u32)] = &[
    ("CAD", 148),
    ("CHF", 98),
    ("CZK", 2_500),
    ("DKK", 746),
    ("EUR", 100),
    ("GBP", 86),
    ("PLN", 430),
    ("USD", 109),
];

/// Method, path, upstream.
pub(super) const ROUTES: &[(&str, &str, &str)] = &[
    ("GET", "/", "pages"),
    ("GET", "/products", "catalog"),
    ("GET", "/products/{id}", "catalog"),
    ("GET", "/products/{id}/reviews", "reviews"),
    ("POST", "/products/{id}/reviews", "reviews"),
    ("GET", "/products/{id}/stock", "inventory"),
    ("GET", "/categories", "catalog"),
    ("GET", "/categories/{slug}", "catalog"),
    ("GET", "/brands/{slug}", "catalog"),
    ("GET", "/search", "search"),
    ("GET", "/search/suggest", "search"),
    ("GET", "/recommendations", "recommender"),
    ("POST", "/cart", "cart"),
    ("PATCH", "/cart/items/{id}", "cart"),
    ("DELETE", "/cart/items/{id}", "cart"),
    ("POST", "/cart/coupons", "pricing"),
    ("POST", "/checkout", "checkout"),
    ("POST", "/checkout/address", "checkout"),
    ("POST", "/checkout/payment", "payment"),
    ("POST", "/checkout/confirm", "checkout"),
    ("GET", "/shipping/rates", "shipping"),
    ("GET", "/stores", "stores"),
    ("POST", "/session", "identity"),
    ("DELETE", "/session", "identity"),
    ("POST", "/password/reset", "identity"),
    ("GET", "/account", "accounts"),
    ("PATCH", "/account", "accounts"),
    ("GET", "/account/orders", "orders"),
    ("GET", "/account/orders/{id}", "orders"),
    ("POST", "/account/orders/{id}/return", "returns"),
    ("GET", "/account/wishlist", "wishlist"),
    ("PUT", "/account/wishlist/{id}", "wishlist"),
    ("POST", "/newsletter", "mail"),
    ("POST", "/webhooks/{provider}", "webhooks"),
];

pub(super) const TEAMS: &[&str] = &[
    "catalog", "checkout", "growth", "identity", "mobile", "payments", "platform", "search",
];

pub(super) const FEATURES: &[&str] = &[
    "address-autocomplete",
    "age-check",
    "back-in-stock-mail",
    "barcode-scan",
    "bulk-discounts",
    "cart-sharing",
    "click-and-collect",
    "customs-estimate",
    "dark-theme",
    "delivery-slots",
    "digital-goods",
    "dynamic-shipping",
    "express-checkout",
    "fraud-score-v2",
    "gift-cards",
    "gift-wrapping",
    "guest-checkout",
    "image-search",
    "instalments",
    "invoice-payment",
    "live-chat",
    "loyalty-points",
    "multi-currency",
    "new-navigation",
    "order-notes",
    "order-tracking",
    "passkeys",
    "photo-reviews",
    "price-alerts",
    "product-bundles",
    "product-video",
    "returns-portal",
    "saved-carts",
    "shop-the-look",
    "size-advisor",
    "sms-updates",
    "split-shipments",
    "store-credit",
    "store-pickup-map",
    "subscriptions",
    "tax-exemption",
    "typo-tolerance",
    "vector-ranking",
    "wishlist-sync",
];

/// What rules look at, and its values.
pub(super) const RULES: &[(&str, &[&str])] = &[
    ("country", COUNTRIES),
    ("platform", &["android", "ios", "web"]),
    ("plan", &["starter", "growth", "scale", "enterprise"]),
    ("cohort", &["beta", "employees", "partners", "returning"]),
];

pub(super) const COUNTRIES: &[&str] = &[
    "AT", "BE", "CA", "CH", "CZ", "DE", "DK", "ES", "FR", "GB", "IT", "JP", "NL", "PL", "SE", "US",
];

/// Name, and whether it has ended.
pub(super) const EXPERIMENTS: &[(&str, bool)] = &[
    ("cart-drawer-width", false),
    ("checkout-one-page", true),
    ("coupon-field-position", false),
    ("free-shipping-banner", false),
    ("gallery-zoom", true),
    ("homepage-hero", false),
    ("listing-grid-density", false),
    ("recommendation-count", false),
    ("review-summary", true),
    ("search-result-ranking", false),
    ("signup-incentive", false),
    ("stock-urgency-label", false),
];

pub(super) const PARAMETERS: &[&str] = &[
    "badge_px",
    "columns",
    "delay_ms",
    "discount",
    "items",
    "margin_px",
    "max_lines",
    "priority",
];

pub(super) const METRICS: &[&str] = &[
    "add_to_cart",
    "bounce_rate",
    "conversion",
    "order_value",
    "return_rate",
    "time_to_order",
];

pub(super) const TENANTS: &[&str] = &[
    "Alder Books",
    "Amber Ceramics",
    "Arctic Outdoor",
    "Birch Cycling",
    "Blue Door Tea",
    "Bramble Garden",
    "Canvas and Oak",
    "Cedar Toys",
    "Clover Baby",
    "Copper Kettle",
    "Coral Swim",
    "Dapper Shoes",
    "Elm Street Music",
    "Fable Paper",
    "Fern Cosmetics",
    "Fjord Knitwear",
    "Granite Climbing",
    "Harbour Coffee",
    "Hazel Kitchen",
    "Iron Gate Tools",
    "Juniper Spices",
    "Lantern Lights",
    "Lark Instruments",
    "Linen House",
    "Maple Furniture",
    "Meadow Pets",
    "Mint Eyewear",
    "Moss and Stone",
    "North Pier Fish",
    "Olive Press",
    "Orchard Juice",
    "Paper Crane",
    "Pebble Jewels",
    "Quill Stationery",
    "River Canoe",
    "Rosewood Clocks",
    "Saffron Table",
    "Salt and Sail",
    "Silver Birch Sauna",
    "Sparrow Prints",
    "Stone Oven Bread",
    "Sunday Ceramics",
    "Thistle Wool",
    "Tidewater Boats",
    "Timber Frames",
    "Velvet Records",
    "Walnut Desk",
    "Willow Baskets",
    "Yellow Bicycle",
];

/// When, by whom, why.
pub(super) const HISTORY: &[(&str, &str, &str)] = &[
    (
        "2026-08-31T09:12:44Z",
        "k.lindqvist",
        "Raised the burst of the search routes before the autumn sale.",
    ),
    (
        "2026-08-19T15:40:02Z",
        "deploy-bot",
        "Ended the review summary experiment; its treatment is now the default for everyone.",
    ),
    (
        "2026-07-28T07:55:31Z",
        "m.okafor",
        "Moved a tenth of the traffic from the northern to the central region after the upgrade.",
    ),
    (
        "2026-07-02T12:20:15Z",
        "s.tanaka",
        "Closed the Classic plan to new shops. Shops that have it keep its price.",
    ),
    (
        "2026-06-11T18:03:57Z",
        "a.moreau",
        "Longer timeout for payments: the bank behind instalments needs seven seconds.",
    ),
    (
        "2026-05-23T10:41:20Z",
        "deploy-bot",
        "Removed five flags that had expired; their features are on for every tenant.",
    ),
    (
        "2026-05-04T06:30:09Z",
        "k.lindqvist",
        "Added Hebrew and Arabic, with texts in English where a translation is missing.",
    ),
];
