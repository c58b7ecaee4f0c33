//! Writes the default value: always the same, from lists of words and a generator of its own (the
//! sequence of a library's generator may change with its version, and the size with it).

use std::collections::{BTreeMap, BTreeSet};

use super::lists::{
    ALLOWED_ORIGINS, BLOCKED_AGENTS, BRANDS, CLOSING_DAYS, CONTENT_SECURITY_POLICY, REDIRECTS,
    STOP_WORDS, SYNONYMS, TRUSTED_PROXIES,
};
use super::messages::{MAIL_SUBJECTS, MESSAGES};
use super::notes::{HELP, ON_CALL_NOTES};
use super::tables::tables;
use super::texts::{EXPERIMENTS, FEATURES, HISTORY, TENANTS};
use super::words::{CURRENCIES, LOCALES, PLANS, REGIONS, ROUTES, RULES, RegionRow};
use super::{
    Config, Experiment, Features, Locales, Plan, Region, Routes, SCHEMA, Search, Security, Service,
    Tenant,
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
        locales: locales(&mut random),
        regions: regions(),
        plans: plans(),
        routes: routes(&mut random),
        features: features(&mut random),
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
            blocked_agents: BLOCKED_AGENTS.into(),
            trusted_proxies: texts(TRUSTED_PROXIES),
        },
        messages: texts_by_name(MESSAGES),
        mail_subjects: texts_by_name(MAIL_SUBJECTS),
        help: texts(HELP),
        on_call_notes: texts(ON_CALL_NOTES),
        history: texts(HISTORY),
        tables: tables(),
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

fn locales(random: &mut Random) -> Locales {
    let tags = LOCALES.map(|row| row.0);
    let place = |fallback: Option<&str>| tags.iter().position(|&tag| Some(tag) == fallback);
    Locales {
        tags: texts(&tags),
        names: texts(&LOCALES.map(|row| row.1)),
        currencies: texts(&LOCALES.map(|row| row.2)),
        right_to_left: tags.map(|tag| ["ar-AE", "he-IL"].contains(&tag)).into(),
        first_weekdays: tags
            .map(|tag| match tag {
                "en-US" | "he-IL" | "ja-JP" => 7,
                _ => 1,
            })
            .into(),
        fallbacks: LOCALES.map(|row| place(row.3)).into(),
        coverage: tags.map(|_| random.hundredths(82, 100)).into(),
    }
}

fn regions() -> Vec<Region> {
    let region = |&(id, failover, weight, position, latencies_ms): &RegionRow| Region {
        id: id.into(),
        endpoint: format!("https://{id}.storefront.example/v3"),
        weight,
        primary: failover.is_none(),
        failover: failover.map(str::to_owned),
        position,
        latencies_ms: latencies_ms.to_vec(),
    };
    REGIONS.iter().map(region).collect()
}

fn plans() -> Vec<Plan> {
    PLANS
        .iter()
        .zip(0_u32..)
        .map(|(&(id, euro_cents, includes), rank)| Plan {
            id: id.into(),
            monthly_prices: CURRENCIES.map(|percent| {
                let cents = euro_cents * percent / 100 / 100 * 100;
                f64::from(cents.saturating_sub(1)) / 100.0
            }),
            order_fee_percent: f64::from(290 - 40 * rank) / 100.0,
            includes: texts(includes),
            on_sale: rank != 1,
        })
        .collect()
}

fn routes(random: &mut Random) -> Routes {
    let get = || ROUTES.iter().map(|row| row.0.starts_with("GET "));
    let account = || ROUTES.iter().map(|row| row.0.contains(" /account"));
    Routes {
        patterns: ROUTES.iter().map(|row| row.0.to_owned()).collect(),
        descriptions: ROUTES.iter().map(|row| row.1.to_owned()).collect(),
        auth: get()
            .zip(account())
            .map(|(get, account)| !get || account)
            .collect(),
        timeouts_ms: ROUTES.iter().map(|_| random.between(2, 40) * 50).collect(),
        retries: get().map(|get| u8::from(get) * 2).collect(),
        cache_s: get()
            .zip(account())
            .map(|(get, account)| (get && !account).then(|| random.between(1, 20) * 15))
            .collect(),
        rates_per_s: ROUTES.iter().map(|_| random.between(1, 50)).collect(),
        bursts: ROUTES.iter().map(|_| random.between(1, 20) * 5).collect(),
    }
}

fn features(random: &mut Random) -> Features {
    Features {
        descriptions: texts_by_name(FEATURES),
        enabled: FEATURES.iter().map(|_| random.chance(80)).collect(),
        rollout: FEATURES.iter().map(|_| random.hundredths(5, 100)).collect(),
        rules: FEATURES
            .iter()
            .step_by(3)
            .map(|&(name, _)| rule(name, random))
            .collect(),
    }
}

/// Condition and answer, such as `live-chat: country in AT, CH -> on`.
fn rule(feature: &str, random: &mut Random) -> String {
    let &(attribute, values) = random.pick(RULES);
    let count = random.between(1, 3);
    let any_of = random.pick_some(values, count).join(", ");
    let answer = if random.chance(75) { "on" } else { "off" };
    format!("{feature}: {attribute} in {any_of} -> {answer}")
}

fn experiment(&(key, ended, hypothesis): &(&str, bool, &str), random: &mut Random) -> Experiment {
    let weights: &[f64] = random.pick::<&[f64]>(&[&[0.5, 0.5], &[0.5, 0.25, 0.25], &[0.8, 0.2]]);
    let full_percent = random.between(20, 100);
    Experiment {
        key: key.into(),
        hypothesis: hypothesis.into(),
        salt: random.next() >> 16,
        traffic: [5, 20, 50, 100]
            .map(|percent| f64::from(full_percent * percent / 100) / 100.0)
            .into(),
        weights: weights.into(),
        running: !ended,
    }
}

fn tenant(id: u32, &(name, note): &(&str, &str), random: &mut Random) -> Tenant {
    let host = name.to_lowercase().replace(' ', "-");
    let (opens_min, open_min) = (random.between(28, 40) * 15, random.between(32, 48) * 15);
    Tenant {
        id,
        name: name.into(),
        plan: random.pick(PLANS).0.into(),
        requests_per_s: random.between(1, 40) * 25,
        webhook_url: format!(
            "https://{host}.shop.example/hooks/orders?key={:016x}{:016x}{:016x}",
            random.next(),
            random.next(),
            random.next()
        ),
        note: note.into(),
        staffed_min: [opens_min, opens_min + open_min],
    }
}
