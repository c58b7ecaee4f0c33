//! The words that the default value is made of.

/// Tag, name, currency, decimal mark, fallback.
pub(super) const LOCALES: [(&str, &str, &str, &str, Option<&str>); 12] = [
    ("ar-AE", "العربية", "AED", ".", Some("en-GB")),
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
    ("CHF", 98),
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
    ("GET", "/categories/{slug}", "catalog"),
    ("GET", "/search", "search"),
    ("GET", "/search/suggest", "search"),
    ("GET", "/recommendations", "recommender"),
    ("POST", "/cart", "cart"),
    ("PATCH", "/cart/items/{id}", "cart"),
    ("DELETE", "/cart/items/{id}", "cart"),
    ("POST", "/cart/coupons", "pricing"),
    ("POST", "/checkout", "checkout"),
    ("POST", "/checkout/payment", "payment"),
    ("POST", "/checkout/confirm", "checkout"),
    ("GET", "/shipping/rates", "shipping"),
    ("POST", "/session", "identity"),
    ("POST", "/password/reset", "identity"),
    ("GET", "/account", "accounts"),
    ("GET", "/account/orders", "orders"),
    ("GET", "/account/orders/{id}", "orders"),
    ("POST", "/account/orders/{id}/return", "returns"),
    ("GET", "/account/wishlist", "wishlist"),
    ("POST", "/newsletter", "mail"),
    ("POST", "/webhooks/{provider}", "webhooks"),
];

pub(super) const TEAMS: &[&str] = &[
    "catalog", "checkout", "growth", "identity", "mobile", "payments", "platform", "search",
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
