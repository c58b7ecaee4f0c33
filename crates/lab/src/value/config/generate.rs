//! Writes the default value: always the same, from lists of words and a generator of its own (the
//! sequence of a library's generator may change with its version, and the size with it).

use std::collections::{BTreeMap, BTreeSet};

use super::lists::{
    ALLOWED_ORIGINS, BLOCKED_AGENTS, BRANDS, CLOSING_DAYS, CONTENT_SECURITY_POLICY, REDIRECTS,
    STOP_WORDS, SYNONYMS, TRUSTED_PROXIES,
};
use super::messages::{MAIL_SUBJECTS, MESSAGES};
use super::notes::{HELP, ON_CALL_NOTES};
use super::texts::{EXPERIMENTS, FEATURES, HISTORY, TENANTS};
use super::words::{
    CURRENCIES, LOCALES, METRICS, PARAMETERS, PLANS, REGIONS, ROUTES, RULES, TEAMS,
};
use super::{
    Change, Config, Experiment, FeatureFlag, Locale, Plan, Region, Route, SCHEMA, Search, Security,
    Service, Tenant, Variant,
};
use crate::value::revision;

/// The default value at `revision`; nothing else in it depends on the revision.
///
/// Costs about as much as decoding it: build it outside of measuring.
#[must_use]
pub fn generate(revision: u64) -> Config {
    let mut random = Random(0x5eed);
    Config {
        schema: SCHEMA.into(),
        revision: revision::stored(revision),
        service: service(),
        locales: LOCALES.iter().map(|row| locale(row, &mut random)).collect(),
        regions: regions(),
        plans: plans(),
        routes: routes(&mut random),
        feature_flags: FEATURES
            .iter()
            .map(|&(name, description)| (name.into(), feature_flag(description, &mut random)))
            .collect(),
        experiments: EXPERIMENTS
            .iter()
            .map(|row| experiment(row, &mut random))
            .collect(),
        tenants: TENANTS
            .iter()
            .zip(1_001..)
            .map(|(row, id)| tenant(id, row, &mut random))
            .collect(),
        closing_days: texts(CLOSING_DAYS),
        search: Search {
            synonyms: texts(SYNONYMS),
            stop_words: texts(STOP_WORDS),
            brands: texts(BRANDS),
            redirects: texts(REDIRECTS),
        },
        security: Security {
            allowed_origins: texts(ALLOWED_ORIGINS),
            content_security_policy: texts(CONTENT_SECURITY_POLICY),
            blocked_agents: texts(BLOCKED_AGENTS),
            trusted_proxies: texts(TRUSTED_PROXIES),
        },
        messages: texts_by_name(MESSAGES),
        mail_subjects: texts_by_name(MAIL_SUBJECTS),
        help: texts(HELP),
        on_call_notes: texts(ON_CALL_NOTES),
        history: HISTORY
            .iter()
            .map(|&(at, by, summary)| Change {
                at: at.into(),
                by: by.into(),
                summary: summary.into(),
            })
            .collect(),
    }
}

/// `SplitMix64` (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `low` to `high`, both possible.
    fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high - low) + 1;
        low + u32::try_from(self.next() % span).expect("less than a 32-bit span")
    }

    fn index(&mut self, len: usize) -> usize {
        // The remainder before the cast, so that 32-bit machines draw the same.
        usize::try_from(self.next() % len as u64).expect("less than `len`")
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.between(1, 100) <= percent
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.index(from.len())]
    }

    fn pick_text(&mut self, from: &[&str]) -> String {
        (*self.pick(from)).to_owned()
    }

    /// `count` different texts in the order of the list.
    fn pick_some(&mut self, from: &[&str], count: u32) -> Vec<String> {
        let mut chosen = BTreeSet::new();
        while chosen.len() < count as usize {
            chosen.insert(self.index(from.len()));
        }
        chosen.into_iter().map(|i| from[i].to_owned()).collect()
    }

    /// Two decimals: the division rounds to the double that prints as them.
    fn hundredths(&mut self, low: u32, high: u32) -> f64 {
        f64::from(self.between(low, high)) / 100.0
    }

    fn day(&mut self, year: u32) -> String {
        let (month, day) = (self.between(1, 12), self.between(1, 28));
        format!("{year}-{month:02}-{day:02}")
    }
}

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

fn texts_by_name(list: &[(&str, &str)]) -> BTreeMap<String, String> {
    list.iter()
        .map(|&(name, text)| (name.to_owned(), text.to_owned()))
        .collect()
}

fn service() -> Service {
    let timeouts = [
        ("cart", 250),
        ("checkout", 2_500),
        ("inventory", 400),
        ("mail", 5_000),
        ("payment", 8_000),
        ("search", 350),
        ("session", 100),
        ("shipping", 1_200),
    ];
    Service {
        name: "storefront".into(),
        environment: "production".into(),
        version: [4, 17, 2],
        read_only: false,
        maintenance: None,
        trace_sample_rate: 0.05,
        timeouts_ms: timeouts.map(|(name, ms)| (name.to_owned(), ms)).into(),
        latency_buckets_s: vec![
            0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
        ],
    }
}

fn locale(
    &(tag, name, currency, decimal_mark, fallback): &(&str, &str, &str, &str, Option<&str>),
    random: &mut Random,
) -> Locale {
    Locale {
        tag: tag.into(),
        name: name.into(),
        currency: currency.into(),
        decimal_mark: decimal_mark.into(),
        right_to_left: ["ar-AE", "he-IL"].contains(&tag),
        first_weekday: if ["en-US", "he-IL", "ja-JP"].contains(&tag) {
            7
        } else {
            1
        },
        fallback: fallback.map(str::to_owned),
        coverage: random.hundredths(82, 100),
    }
}

fn regions() -> Vec<Region> {
    let region = |&(id, failover, weight, position): &(&str, Option<&str>, f64, [f64; 2])| Region {
        id: id.into(),
        endpoint: format!("https://{id}.storefront.example/v3"),
        weight,
        primary: failover.is_none(),
        failover: failover.map(str::to_owned),
        position,
        zones: ["a", "b", "c"]
            .iter()
            .map(|zone| format!("{id}-{zone}"))
            .collect(),
    };
    REGIONS.iter().map(region).collect()
}

fn plans() -> Vec<Plan> {
    PLANS
        .iter()
        .zip(0_u32..)
        .map(|(&(id, title, euro_cents, includes), rank)| {
            let top = rank as usize + 1 == PLANS.len();
            Plan {
                id: id.into(),
                title: title.into(),
                monthly_price: CURRENCIES
                    .iter()
                    .map(|&(currency, percent)| {
                        let cents = euro_cents * percent / 100 / 100 * 100;
                        (currency.into(), f64::from(cents.saturating_sub(1)) / 100.0)
                    })
                    .collect(),
                order_fee_percent: f64::from(290 - 40 * rank) / 100.0,
                includes: texts(includes),
                max_products: (!top).then(|| 250 * 10_u32.pow(rank)),
                max_staff: (!top).then(|| 2 + 5 * rank),
                on_sale: rank != 1,
            }
        })
        .collect()
}

fn routes(random: &mut Random) -> Vec<Route> {
    let route = |&(method, path, upstream, description): &(&str, &str, &str, &str)| Route {
        method: method.into(),
        path: path.into(),
        upstream: upstream.into(),
        description: description.into(),
        auth: method != "GET" || path.starts_with("/account"),
        timeout_ms: random.between(2, 40) * 50,
        retries: u8::from(method == "GET") * 2,
        cache_s: (method == "GET" && !path.starts_with("/account"))
            .then(|| random.between(1, 20) * 15),
        rate_per_s: random.between(1, 50),
        burst: random.between(1, 20) * 5,
    };
    ROUTES.iter().map(route).collect()
}

fn feature_flag(description: &str, random: &mut Random) -> FeatureFlag {
    let rules = u32::from(random.chance(40));
    FeatureFlag {
        description: description.into(),
        enabled: random.chance(80),
        owner: random.pick_text(TEAMS),
        rollout: random.hundredths(0, 100),
        expires_on: random.chance(50).then(|| random.day(2027)),
        rules: (0..rules).map(|_| rule(random)).collect(),
    }
}

/// Condition and answer, such as `country in AT, CH -> on`.
fn rule(random: &mut Random) -> String {
    let &(attribute, values) = random.pick(RULES);
    let count = random.between(1, 3);
    let any_of = random.pick_some(values, count).join(", ");
    let answer = if random.chance(75) { "on" } else { "off" };
    format!("{attribute} in {any_of} -> {answer}")
}

fn experiment(&(key, ended, hypothesis): &(&str, bool, &str), random: &mut Random) -> Experiment {
    let variants: &[(&str, f64)] = random.pick::<&[(&str, f64)]>(&[
        &[("control", 0.5), ("treatment", 0.5)],
        &[("control", 0.5), ("compact", 0.25), ("detailed", 0.25)],
        &[("control", 0.8), ("treatment", 0.2)],
    ]);
    Experiment {
        key: key.into(),
        hypothesis: hypothesis.into(),
        salt: random.next() >> 16,
        traffic: random.hundredths(5, 100),
        started_at: format!("{}T08:00:00Z", random.day(2025)),
        ended_at: ended.then(|| format!("{}T08:00:00Z", random.day(2026))),
        variants: variants
            .iter()
            .map(|&(name, weight)| Variant {
                name: name.into(),
                weight,
                parameters: random
                    .pick_some(PARAMETERS, 2)
                    .into_iter()
                    .map(|name| format!("{name}={}", random.between(1, 48)))
                    .collect::<Vec<_>>()
                    .join("&"),
            })
            .collect(),
        metrics: random.pick_some(METRICS, 2),
    }
}

fn tenant(id: u32, &(name, note): &(&str, &str), random: &mut Random) -> Tenant {
    let tags = LOCALES.map(|row| row.0);
    let features: Vec<&str> = FEATURES.iter().map(|row| row.0).collect();
    let domain = format!("{}.shop.example", name.to_lowercase().replace(' ', "-"));
    let (locale_count, feature_count) = (random.between(1, 2), random.between(1, 3));
    Tenant {
        id,
        name: name.into(),
        plan: random.pick(PLANS).0.into(),
        region: random.pick(REGIONS).0.into(),
        locales: random.pick_some(&tags, locale_count),
        active: random.chance(92),
        requests_per_s: random.between(1, 40) * 25,
        webhook_url: format!(
            "https://{domain}/hooks/orders?key={:016x}{:016x}",
            random.next(),
            random.next()
        ),
        note: note.into(),
        features: random.pick_some(&features, feature_count),
        domain,
    }
}
