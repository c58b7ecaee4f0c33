//! The default value: the configuration of a web shop, as a service reads it on every request.
//!
//! Its JSON has exactly [`JSON_BYTES`] bytes for every revision, so that results of different
//! machines compare. The types are the target of the typed decode: owned, as a service holds them.

mod generate;
mod messages;
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
    /// What customers are told, by name.
    pub messages: BTreeMap<String, String>,
    /// Why it was last changed, newest first.
    pub history: Vec<Change>,
}

impl Config {
    /// The configuration as compact JSON, [`JSON_BYTES`] long.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("strings, numbers and maps with string keys are JSON")
    }

    /// The configuration as `MessagePack`, with the names of the fields.
    #[must_use]
    pub fn to_msgpack(&self) -> Vec<u8> {
        rmp_serde::to_vec_named(self).expect("strings, numbers and maps are MessagePack")
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
    pub zones: Vec<Zone>,
}

/// One site of a region.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Zone {
    /// Short name.
    pub id: String,
    /// Machines.
    pub nodes: u32,
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
    /// Orders a month and the fee for each up to there, in percent.
    pub order_fee_steps: Vec<(u32, f64)>,
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
    /// Needs a signed-in user.
    pub auth: bool,
    /// For a whole answer.
    pub timeout_ms: u32,
    /// After the first attempt.
    pub retries: u8,
    /// Seconds in shared caches; `None` is not cached.
    pub cache_s: Option<u32>,
    /// Bound on requests.
    pub rate_limit: RateLimit,
}

/// Bound on requests of one client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RateLimit {
    /// Sustained.
    pub per_s: f64,
    /// At once.
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
    /// The first that matches decides.
    pub rules: Vec<Rule>,
}

/// Who gets a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// What is looked at.
    pub attribute: String,
    /// What matches.
    pub any_of: Vec<String>,
    /// What a match means.
    pub serve: bool,
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
    /// What it sets.
    pub parameters: BTreeMap<String, i64>,
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
    /// Day of the first unpaid invoice.
    pub overdue_since: Option<String>,
    /// What it may use.
    pub limits: TenantLimits,
    /// Where orders are reported to.
    pub webhook_url: String,
    /// Whom to write to.
    pub contact: String,
    /// What its account manager wrote down.
    pub note: String,
    /// Names of [`Config::feature_flags`] turned on for it.
    pub features: Vec<String>,
}

/// What a tenant may use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TenantLimits {
    /// Requests.
    pub requests_per_s: u32,
    /// Pictures and documents.
    pub storage_gib: f64,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::value::shape;

    const REVISIONS: [u64; 7] = [0, 1, 9, 10, 12_345, 8_999_999_999, u64::MAX];

    fn longest_string(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.iter().map(longest_string).max().unwrap_or(0),
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| name.len().max(longest_string(value)))
                .max()
                .unwrap_or(0),
            _ => 0,
        }
    }

    /// Names of the JSON types in `value`.
    fn types(value: &Value, found: &mut BTreeSet<&'static str>) {
        let name = match value {
            Value::Null => "null",
            Value::Bool(true) => "true",
            Value::Bool(false) => "false",
            Value::Number(number) if number.is_f64() => "float",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(items) => {
                items.iter().for_each(|item| types(item, found));
                "array"
            }
            Value::Object(members) => {
                members.values().for_each(|member| types(member, found));
                "object"
            }
        };
        found.insert(name);
    }

    #[test]
    fn the_json_of_every_revision_has_exactly_the_size_of_the_article() {
        for revision in REVISIONS {
            let json = generate(revision).to_json();
            assert_eq!(json.len(), JSON_BYTES, "revision {revision}");
        }
    }

    #[test]
    fn revisions_differ_in_their_number_alone() {
        let (first, mut later) = (generate(0), generate(1));
        assert_ne!(first, later);
        later.revision = first.revision;
        assert_eq!(first, later);
    }

    #[test]
    fn it_is_a_document_of_many_values_of_all_types() {
        let json = serde_json::to_value(generate(0)).unwrap();
        let shape = shape(&json);
        assert!(shape.values >= 1_500, "{shape:?}");
        assert!(shape.depth >= 4, "{shape:?}");
        assert!(longest_string(&json) <= 200);
        let mut found = BTreeSet::new();
        types(&json, &mut found);
        assert_eq!(found.len(), 8, "{found:?}");
    }

    #[test]
    fn typed_and_untyped_decodes_agree() {
        let config = generate(7);
        let json = config.to_json();
        let typed: Config = serde_json::from_slice(&json).unwrap();
        let untyped: Value = serde_json::from_slice(&json).unwrap();
        assert_eq!(typed, config);
        assert_eq!(serde_json::to_value(&typed).unwrap(), untyped);
        assert_eq!(serde_json::to_vec(&untyped).unwrap(), json);
    }

    #[test]
    fn message_pack_carries_the_same_document_in_fewer_bytes() {
        let config = generate(7);
        let packed = config.to_msgpack();
        let untyped: Value = rmp_serde::from_slice(&packed).unwrap();
        assert_eq!(untyped, serde_json::to_value(&config).unwrap());
        assert_eq!(rmp_serde::from_slice::<Config>(&packed).unwrap(), config);
        assert!(packed.len() < JSON_BYTES);
    }

    #[test]
    fn what_refers_to_something_finds_it() {
        let config = generate(0);
        let ids = |ids: Vec<&String>, id: &String| ids.contains(&id);
        for tenant in &config.tenants {
            let plans = config.plans.iter().map(|plan| &plan.id).collect();
            let regions = config.regions.iter().map(|region| &region.id).collect();
            assert!(ids(plans, &tenant.plan) && ids(regions, &tenant.region));
            for tag in &tenant.locales {
                assert!(config.locales.iter().any(|locale| locale.tag == *tag));
            }
            for feature in &tenant.features {
                assert!(config.feature_flags.contains_key(feature), "{feature}");
            }
        }
        for experiment in &config.experiments {
            let weights: f64 = experiment.variants.iter().map(|v| v.weight).sum();
            assert!((weights - 1.0).abs() < 1e-9, "{}", experiment.key);
        }
    }
}
