//! The default value: the configuration of a web shop, as a service reads it on every request.
//!
//! Its JSON has exactly [`JSON_BYTES`] bytes for every revision, so that results of different
//! machines compare. The types are the target of the typed decode: owned, as a service holds them.

mod generate;
mod lists;
mod messages;
mod notes;
mod tables;
#[cfg(test)]
mod tests;
mod texts;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use generate::generate;
pub use tables::{Shipping, Tables};

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
    pub locales: Locales,
    /// Where it runs.
    pub regions: Vec<Region>,
    /// What tenants pay.
    pub plans: Vec<Plan>,
    /// Where requests go.
    pub routes: Routes,
    /// What can be switched on, and for whom.
    pub features: Features,
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
    /// When, by whom and why it was last changed, newest first.
    pub history: Vec<String>,
    /// What is looked up by number.
    pub tables: Tables,
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

/// Its languages, by column: each list has one entry for each tag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Locales {
    /// BCP 47.
    pub tags: Vec<String>,
    /// As their speakers write them.
    pub names: Vec<String>,
    /// ISO 4217.
    pub currencies: Vec<String>,
    /// Written from right to left.
    pub right_to_left: Vec<bool>,
    /// 1 is Monday.
    pub first_weekdays: Vec<u8>,
    /// Place in `tags` of the language that is read where a text is missing.
    pub fallbacks: Vec<Option<usize>>,
    /// Share of texts that are translated.
    pub coverage: Vec<f64>,
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
    /// Milliseconds to each region, in their order.
    pub latencies_ms: Vec<u32>,
}

/// What a tenant pays for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Short name.
    pub id: String,
    /// In CHF, EUR, GBP and USD.
    pub monthly_prices: [f64; 4],
    /// Fee for each order.
    pub order_fee_percent: f64,
    /// Shown beside the price.
    pub includes: Vec<String>,
    /// May be chosen by new tenants.
    pub on_sale: bool,
}

/// Where requests go, by column: each list has one entry for each pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Routes {
    /// HTTP method, pattern of the path and service that answers.
    pub patterns: Vec<String>,
    /// What they are for.
    pub descriptions: Vec<String>,
    /// Need a signed-in user.
    pub auth: Vec<bool>,
    /// For a whole answer.
    pub timeouts_ms: Vec<u32>,
    /// After the first attempt.
    pub retries: Vec<u8>,
    /// Seconds in shared caches; `None` is not cached.
    pub cache_s: Vec<Option<u32>>,
    /// Sustained requests of one client.
    pub rates_per_s: Vec<u32>,
    /// Requests of one client at once.
    pub bursts: Vec<u32>,
}

/// What can be switched on, and for whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Features {
    /// What they do, by name.
    pub descriptions: BTreeMap<String, String>,
    /// Off for everybody if false; in the order of the names.
    pub enabled: Vec<bool>,
    /// Share of users, in the order of the names.
    pub rollout: Vec<f64>,
    /// Conditions that come before the share; the first that holds decides.
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
    /// Share of users in it, by the week since its start; the last holds on.
    pub traffic: Vec<f64>,
    /// Share of its users that see each variant; the first is the present state.
    pub weights: Vec<f64>,
    /// Assigns users.
    pub running: bool,
}

/// One customer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tenant {
    /// Number.
    pub id: u32,
    /// As shown.
    pub name: String,
    /// [`Plan::id`].
    pub plan: String,
    /// Requests that it may make.
    pub requests_per_s: u32,
    /// Where orders are reported to.
    pub webhook_url: String,
    /// What its account manager wrote down.
    pub note: String,
    /// When its staff answers, from and to, in minutes since midnight.
    pub staffed_min: [u32; 2],
}

/// What the search knows about words and addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Groups of words that mean the same, three groups a line.
    pub synonyms: Vec<String>,
    /// Words that are not looked for, a language a line.
    pub stop_words: Vec<String>,
    /// Names that are not corrected, a department a line.
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
    /// Pattern of the names of clients that are turned away.
    pub blocked_agents: String,
    /// Networks whose forwarded addresses are believed.
    pub trusted_proxies: Vec<String>,
}
