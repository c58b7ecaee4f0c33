//! The published schema is that of the types, and results follow it.

mod sample;

use hotcopy_lab::results::cost::CostResult;
use hotcopy_lab::results::{cost_schema, to_json};
use serde_json::{Value, json};

const PATH: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/schema/cost.schema.json"
);

fn published() -> jsonschema::Validator {
    let text = std::fs::read_to_string(PATH).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn as_json(result: &CostResult) -> Value {
    serde_json::from_str(&to_json(result)).unwrap()
}

#[test]
fn the_published_schema_is_generated_from_the_types() {
    let generated = cost_schema();
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(PATH, &generated).unwrap();
    }
    let published = std::fs::read_to_string(PATH).unwrap();
    assert!(
        published == generated,
        "docs/schema/cost.schema.json is not that of the types: if the change is meant, run this \
         test again with UPDATE_SCHEMA=1 (and raise the version in SCHEMA if a reader of older \
         files would be misled)"
    );
}

#[test]
fn a_result_follows_the_schema() {
    let schema = published();
    for result in [sample::full(), sample::interrupted()] {
        let errors: Vec<String> = schema
            .iter_errors(&as_json(&result))
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

#[test]
fn a_broken_result_does_not_follow_the_schema() {
    let schema = published();
    type Break = fn(&mut Value);
    let broken: [(&str, Break); 7] = [
        ("other schema", |it| it["schema"] = json!("hotcopy.cost/2")),
        ("no rows", |it| {
            it.as_object_mut().unwrap().remove("rows");
        }),
        ("unknown field", |it| it["config"]["extra"] = json!(1)),
        ("negative count", |it| it["rows"][0]["reads"] = json!(-1)),
        ("text for a number", |it| {
            it["rows"][0]["transfer"]["payload_mib_per_min"] = json!("6417");
        }),
        ("unknown path", |it| it["rows"][0]["path"] = json!("disk")),
        ("figure that is not finite", |it| {
            it["summary"]["saved_cores"] = Value::Null;
        }),
    ];
    for (name, break_it) in broken {
        let mut result = as_json(&sample::full());
        break_it(&mut result);
        assert!(!schema.is_valid(&result), "{name}");
        assert!(
            name == "other schema" || serde_json::from_value::<CostResult>(result).is_err(),
            "{name} can be read"
        );
    }
}
