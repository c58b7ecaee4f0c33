//! Which version of a value somebody holds: a number inside the document, so that a change can be
//! followed from the writer to the reader.

use serde_json::Value;

use super::config::SCHEMA;

/// Member that a user's own object gets; the default value has a `revision` of its own.
const FOREIGN_MEMBER: &str = "hotcopy_revision";
const OWN_MEMBER: &str = "revision";

/// Revisions are stored with ten digits, so that no revision is longer than another.
const BASE: u64 = 1_000_000_000;
const COUNT: u64 = 9_000_000_000;

/// Revision `n` as it stands in a document. After nine thousand million it starts again.
pub(super) fn stored(n: u64) -> u64 {
    BASE + n % COUNT
}

/// The document with revision `n`; `None` if it is not an object, which cannot take a member.
#[must_use]
pub fn with_revision(document: &Value, n: u64) -> Option<Value> {
    let mut members = document.as_object()?.clone();
    let member = if is_default(document) {
        OWN_MEMBER
    } else {
        FOREIGN_MEMBER
    };
    members.insert(member.to_owned(), stored(n).into());
    Some(Value::Object(members))
}

/// The revision that [`with_revision`] gave the document, or that of the default value.
#[must_use]
pub fn revision_of(document: &Value) -> Option<u64> {
    let member = if is_default(document) {
        OWN_MEMBER
    } else {
        FOREIGN_MEMBER
    };
    document.get(member)?.as_u64()?.checked_sub(BASE)
}

/// A user's object may have a `revision` too, with a meaning of its own.
fn is_default(document: &Value) -> bool {
    document.get("schema").and_then(Value::as_str) == Some(SCHEMA)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::value::config;

    #[test]
    fn the_default_value_takes_a_revision_as_if_generated_with_it() {
        let first = serde_json::to_value(config::generate(0)).unwrap();
        let fifth = serde_json::to_value(config::generate(5)).unwrap();
        assert_eq!(revision_of(&first), Some(0));
        let changed = with_revision(&first, 5).unwrap();
        assert_eq!(revision_of(&changed), Some(5));
        assert_eq!(
            serde_json::to_string(&changed).unwrap(),
            serde_json::to_string(&fifth).unwrap()
        );
    }

    #[test]
    fn an_object_of_a_user_keeps_its_members_and_gets_one_more() {
        let own = json!({"revision": 3, "schema": "mine"});
        assert_eq!(revision_of(&own), None);
        let changed = with_revision(&own, 41).unwrap();
        assert_eq!(revision_of(&changed), Some(41));
        assert_eq!(changed["revision"], 3);
        let again = with_revision(&changed, 42).unwrap();
        assert_eq!(revision_of(&again), Some(42));
        assert_eq!(again.to_string().len(), changed.to_string().len());
    }

    #[test]
    fn what_is_no_object_has_no_revision() {
        for document in [json!([1]), json!("text"), json!(null)] {
            assert_eq!(with_revision(&document, 1), None);
            assert_eq!(revision_of(&document), None);
        }
    }

    #[test]
    fn a_revision_of_another_width_is_not_ours() {
        let foreign = json!({"hotcopy_revision": 7});
        assert_eq!(revision_of(&foreign), None);
    }
}
