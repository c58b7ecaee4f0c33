//! The published schemas are those of the types, and results follow them.

mod sample;

use hotcopy_lab::results::cost::CostResult;
use hotcopy_lab::results::modes::ModesResult;
use hotcopy_lab::results::{cost_schema, modes_schema, to_json};
use serde::Serialize;
use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema");

fn published(command: &str) -> jsonschema::Validator {
    let path = format!("{FOLDER}/{command}.schema.json");
    let text = std::fs::read_to_string(path).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn as_json<T: Serialize>(result: &T) -> Value {
    serde_json::from_str(&to_json(result)).unwrap()
}

#[test]
fn the_published_schemas_are_generated_from_the_types() {
    for (command, generated) in [("cost", cost_schema()), ("modes", modes_schema())] {
        let path = format!("{FOLDER}/{command}.schema.json");
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, &generated).unwrap();
        }
        let published = std::fs::read_to_string(&path).unwrap();
        assert!(
            published == generated,
            "docs/schema/{command}.schema.json is not that of the types: if the change is meant, run \
             this test again with UPDATE_SCHEMA=1 (and raise the version in SCHEMA if a reader of \
             older files would be misled)"
        );
    }
}

fn faults(command: &str, result: &Value) -> Vec<String> {
    let schema = published(command);
    let errors = schema.iter_errors(result);
    errors.map(|error| error.to_string()).collect()
}

#[test]
fn a_result_follows_the_schema() {
    for result in [sample::full(), sample::interrupted()] {
        assert_eq!(faults("cost", &as_json(&result)), Vec::<String>::new());
    }
    for result in [sample::modes::full(), sample::modes::interrupted()] {
        assert_eq!(faults("modes", &as_json(&result)), Vec::<String>::new());
    }
}

#[test]
fn a_broken_result_of_modes_does_not_follow_the_schema() {
    type Break = fn(&mut Value);
    let broken: [(&str, Break); 3] = [
        ("unknown access", |it| {
            it["rows"][0]["access"] = json!("stolen");
        }),
        ("no switches", |it| {
            it.as_object_mut().unwrap().remove("switches");
        }),
        ("text for a number", |it| {
            it["rows"][0]["get"]["median_ns"] = json!("12");
        }),
    ];
    for (name, break_it) in broken {
        let mut result = as_json(&sample::modes::full());
        break_it(&mut result);
        assert_ne!(faults("modes", &result), Vec::<String>::new(), "{name}");
        assert!(
            serde_json::from_value::<ModesResult>(result).is_err(),
            "{name} can be read"
        );
    }
}

#[test]
fn a_broken_result_does_not_follow_the_schema() {
    let schema = published("cost");
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
