//! What the default value promises: its size, its shape and its references.

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
    assert!((1_520..=1_700).contains(&shape.values), "{shape:?}");
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
    // Not its bytes: a feature of `serde_json` decides whether members keep their order.
    assert_eq!(serde_json::to_vec(&untyped).unwrap().len(), json.len());
}

#[test]
fn message_pack_carries_the_same_document_in_fewer_bytes() {
    let config = generate(7);
    let packed = rmp_serde::to_vec_named(&config).unwrap();
    let untyped: Value = rmp_serde::from_slice(&packed).unwrap();
    assert_eq!(untyped, serde_json::to_value(&config).unwrap());
    assert_eq!(rmp_serde::from_slice::<Config>(&packed).unwrap(), config);
    assert!(packed.len() < JSON_BYTES);
}

#[test]
fn what_refers_to_something_finds_it() {
    let config = generate(0);
    for tenant in &config.tenants {
        assert!(config.plans.iter().any(|plan| plan.id == tenant.plan));
    }
    for fallback in config.locales.fallbacks.iter().flatten() {
        assert!(*fallback < config.locales.tags.len());
    }
    for rule in &config.features.rules {
        let feature = rule.split(':').next().unwrap();
        assert!(config.features.descriptions.contains_key(feature), "{rule}");
    }
    for message in config.mail_subjects.keys() {
        assert!(config.messages.contains_key(message), "{message}");
    }
    for experiment in &config.experiments {
        let weights: f64 = experiment.weights.iter().sum();
        assert!((weights - 1.0).abs() < 1e-9, "{}", experiment.key);
    }
}

#[test]
fn columns_of_a_table_are_equally_long() {
    let config = generate(0);
    let document = serde_json::to_value(&config).unwrap();
    for (table, rows) in [("locales", 12), ("routes", 21)] {
        for (name, column) in document[table].as_object().unwrap() {
            assert_eq!(column.as_array().unwrap().len(), rows, "{table}.{name}");
        }
    }
    let Features {
        descriptions,
        enabled,
        rollout,
        ..
    } = &config.features;
    assert_eq!(descriptions.len(), enabled.len());
    assert_eq!(descriptions.len(), rollout.len());
    assert_eq!(config.tables.quotas_by_plan.len(), config.plans.len());
    let shipping = &config.tables.shipping;
    assert_eq!(shipping.rates_eur.len(), shipping.days.len());
    assert_eq!(shipping.rates_eur.len(), shipping.free_from_eur.len());
    for rates in &shipping.rates_eur {
        assert_eq!(rates.len(), shipping.classes_g.len());
    }
}
