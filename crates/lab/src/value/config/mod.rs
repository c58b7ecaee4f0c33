//! The default value: the configuration of a web shop, as a service reads it on every request.
//!
//! Its JSON has exactly [`JSON_BYTES`] bytes for every revision, so that results of different
//! machines compare. The types are the target of the typed decode: owned, as a service holds them.

mod generate;
mod lists;
mod messages;
mod notes;
#[cfg(test)]
mod tests;
mod texts;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use generate::generate;

/// Size of the JSON of every revision: that of the article that this lab repeats.
pub const JSON_BYTES: usize = 41_083;

/// Value of [`Config::schema`].
pub const SCHEMA: &str = "storefront.config/3";

/// The whole configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Ten digits, one higher with each change.
    pub revision: u64,
    /// The service itself.
    pub service: Service,
    /// Languages it speaks.
    pub locales: Vec<Locale>,
    /// Where it runs.
    pub regions: Vec<Region>,
    /// What tenants pay.
    pub plans: Vec<Plan>,
    /// Where requests go.
    pub routes: Vec<Route>,
    /// What is switched on, by name.
    pub feature_flags: BTreeMap<String, FeatureFlag>,
    /// Running comparisons.
    pub experiments: Vec<Experiment>,
    /// The customers.
    pub tenants: Vec<Tenant>,
    /// Days on which parcels are not collected, and where.
    pub closing_days: Vec<String>,
    /// What the search knows about words and addresses.
    pub search: Search,
    /// Whom browsers and the edge may trust.
    pub security: Security,
    /// What customers are told, by name.
    pub messages: BTreeMap<String, String>,
    /// Subjects of mails, by the name of the message.
    pub mail_subjects: BTreeMap<String, String>,
    /// Shown to shop owners beside the settings.
    pub help: Vec<String>,
    /// For whoever is on call.
    pub on_call_notes: Vec<String>,
    /// Why it was last changed, newest first.
    pub history: Vec<Change>,
}

impl Config {
    /// The configuration as compact JSON, [`JSON_BYTES`] long.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings, numbers and maps with string keys are JSON")
    }
}

/// The service itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Stage.
    pub environment: String,
    /// Major, minor, patch.
    pub version: [u32; 3],
    /// Refuses writes.
    pub read_only: bool,
    /// Planned downtime.
    pub maintenance: Option<Maintenance>,
    /// Share of requests that are traced.
    pub trace_sample_rate: f64,
    /// By what is waited for.
    pub timeouts_ms: BTreeMap<String, u32>,
    /// Upper bounds of the latency metric's buckets.
    pub latency_buckets_s: Vec<f64>,
}

/// Planned downtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Maintenance {
    /// RFC 3339.
    pub starts_at: String,
    /// RFC 3339.
    pub ends_at: String,
}

/// One language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Locale {
    /// BCP 47.
    pub tag: String,
    /// As its speakers write it.
    pub name: String,
    /// ISO 4217.
    pub currency: String,
    /// Between units and decimals.
    pub decimal_mark: String,
    /// Written from right to left.
    pub right_to_left: bool,
    /// 1 is Monday.
    pub first_weekday: u8,
    /// Read where a text is missing.
    pub fallback: Option<String>,
    /// Share of texts that are translated.
    pub coverage: f64,
}

/// One place where it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Region {
    /// Short name.
    pub id: String,
    /// Base address.
    pub endpoint: String,
    /// Share of traffic.
    pub weight: f64,
    /// Takes writes.
    pub primary: bool,
    /// Region that takes over.
    pub failover: Option<String>,
    /// Latitude, longitude.
    pub position: [f64; 2],
    /// Separate sites.
    pub zones: Vec<String>,
}

/// What a tenant pays for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Short name.
    pub id: String,
    /// As shown.
    pub title: String,
    /// By currency.
    pub monthly_price: BTreeMap<String, f64>,
    /// Fee for each order.
    pub order_fee_percent: f64,
    /// Shown beside the price.
    pub includes: Vec<String>,
    /// `None` is unlimited.
    pub max_products: Option<u32>,
    /// `None` is unlimited.
    pub max_staff: Option<u32>,
    /// May be chosen by new tenants.
    pub on_sale: bool,
}

/// Where a kind of request goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// HTTP method.
    pub method: String,
    /// Pattern of the path.
    pub path: String,
    /// Service that answers.
    pub upstream: String,
    /// What it is for.
    pub description: String,
    /// Needs a signed-in user.
    pub auth: bool,
    /// For a whole answer.
    pub timeout_ms: u32,
    /// After the first attempt.
    pub retries: u8,
    /// Seconds in shared caches; `None` is not cached.
    pub cache_s: Option<u32>,
    /// Sustained requests of one client.
    pub rate_per_s: u32,
    /// Requests of one client at once.
    pub burst: u32,
}

/// One switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FeatureFlag {
    /// What it does.
    pub description: String,
    /// Off for everybody if false.
    pub enabled: bool,
    /// Team.
    pub owner: String,
    /// Share of users, if no rule matches.
    pub rollout: f64,
    /// Day after which it has to be removed.
    pub expires_on: Option<String>,
    /// Conditions; the first that holds decides.
    pub rules: Vec<String>,
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Name.
    pub key: String,
    /// What is expected.
    pub hypothesis: String,
    /// Mixed into the hash that assigns users.
    pub salt: u64,
    /// Share of users in it.
    pub traffic: f64,
    /// RFC 3339.
    pub started_at: String,
    /// RFC 3339; `None` while it runs.
    pub ended_at: Option<String>,
    /// What is compared.
    pub variants: Vec<Variant>,
    /// What decides.
    pub metrics: Vec<String>,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Name.
    pub name: String,
    /// Share of the experiment's users.
    pub weight: f64,
    /// What it sets, as a query string.
    pub parameters: String,
}

/// One customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tenant {
    /// Number.
    pub id: u32,
    /// As shown.
    pub name: String,
    /// Its shop's host name.
    pub domain: String,
    /// [`Plan::id`].
    pub plan: String,
    /// [`Region::id`].
    pub region: String,
    /// [`Locale::tag`]s, the default first.
    pub locales: Vec<String>,
    /// Open for orders.
    pub active: bool,
    /// Requests that it may make.
    pub requests_per_s: u32,
    /// Where orders are reported to.
    pub webhook_url: String,
    /// What its account manager wrote down.
    pub note: String,
    /// Names of [`Config::feature_flags`] turned on for it.
    pub features: Vec<String>,
}

/// What the search knows about words and addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Words that mean the same, one group a line.
    pub synonyms: Vec<String>,
    /// Words that are not looked for.
    pub stop_words: Vec<String>,
    /// Names that are not corrected.
    pub brands: Vec<String>,
    /// Old address and new one.
    pub redirects: Vec<String>,
}

/// Whom browsers and the edge may trust.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Security {
    /// Pages that may call the interface.
    pub allowed_origins: Vec<String>,
    /// Directives of the header of that name.
    pub content_security_policy: Vec<String>,
    /// Parts of the names of clients that are turned away.
    pub blocked_agents: Vec<String>,
    /// Networks whose forwarded addresses are believed.
    pub trusted_proxies: Vec<String>,
}

/// One change of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// RFC 3339.
    pub at: String,
    /// Who.
    pub by: String,
    /// Why.
    pub summary: String,
}
