//! How much there is to build when a document is decoded.

use serde_json::Value;

/// Size of a decoded document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Objects, arrays and scalars (names of members are not values).
    pub values: u64,
    /// Nesting: 1 for a bare scalar or an empty container, one more for each level.
    pub depth: u64,
}

/// Counts the values of `value` and its depth.
#[must_use]
pub fn shape(value: &Value) -> Shape {
    let mut shape = Shape {
        values: 0,
        depth: 0,
    };
    // No recursion: MessagePack may nest deeper than a thread's stack.
    let mut rest = vec![(value, 1)];
    while let Some((value, depth)) = rest.pop() {
        shape.values += 1;
        shape.depth = shape.depth.max(depth);
        match value {
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                rest.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn containers_and_scalars_are_values_and_levels_are_counted_from_one() {
        for (value, values, depth) in [
            (json!(null), 1, 1),
            (json!([]), 1, 1),
            (json!({}), 1, 1),
            (json!([1, 2]), 3, 2),
            (json!({"a": 1, "b": {"c": [true, null]}}), 6, 4),
        ] {
            assert_eq!(shape(&value), Shape { values, depth }, "{value}");
        }
    }
}
