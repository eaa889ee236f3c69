//! Reader of JSON that keeps only the members with known names, and a limited number of them.
//!
//! A tree of all values takes 30 to 200 times the memory of its text. Values that no reader uses,
//! such as the intervals of iperf3, are skipped without being stored.

use std::cell::Cell;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::outputs::ToolError;

/// Cost of an object in values: a node of its map has places for 11 members (`BTreeMap`).
const OBJECT_COST: usize = 8;
/// Beginning of the message of an exceeded limit, by which it is recognised.
const LIMIT_MARK: &str = "more values than ";

/// Members to keep, and the number of values that may still be kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JsonSelection<'k> {
    /// Names of members to keep, at any depth.
    names: &'k [&'k str],
    /// Names of members of which everything is kept.
    whole: &'k [&'k str],
    limit: usize,
    left: &'k Cell<usize>,
    /// Whether the second member of one name is kept as `name#2`.
    keeps_repeated: bool,
}

impl<'k> JsonSelection<'k> {
    /// Selects members by their names, within the limit that `left` holds.
    pub(crate) const fn new(
        names: &'k [&'k str],
        whole: &'k [&'k str],
        (limit, left): (usize, &'k Cell<usize>),
    ) -> Self {
        Self { names, whole, limit, left, keeps_repeated: false }
    }

    /// Accounts for kept values.
    fn take<E: serde::de::Error>(&self, cost: usize) -> Result<(), E> {
        match self.left.get().checked_sub(cost) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(E::custom(format_args!("{LIMIT_MARK}{}", self.limit))),
        }
    }

    fn keeps(&self, name: &str) -> bool {
        self.names.is_empty() || self.whole.contains(&name) || self.names.contains(&name)
    }
}

/// Reads the selected members of a text that holds one document.
///
/// # Errors
/// The error of the JSON, or an exceeded limit, which [`limit_error`] recognises.
pub(crate) fn select(
    text: &str,
    names: &[&str],
    limit: usize,
) -> Result<Value, serde_json::Error> {
    let left = Cell::new(limit);
    read_selection(text, JsonSelection::new(names, &[], (limit, &left)))
}

/// Reads the selected members like [`select`], and everything within the members named `whole`.
///
/// # Errors
/// The error of the JSON, or an exceeded limit, which [`limit_error`] recognises.
pub(crate) fn select_with_whole(
    text: &str,
    names: &[&str],
    whole: &[&str],
    limit: usize,
) -> Result<Value, serde_json::Error> {
    let left = Cell::new(limit);
    read_selection(text, JsonSelection::new(names, whole, (limit, &left)))
}

/// Reads the selected members like [`select`], and keeps the second member of one name as `name#2`.
///
/// # Errors
/// The error of the JSON, or an exceeded limit, which [`limit_error`] recognises.
pub(crate) fn select_with_repeated(
    text: &str,
    names: &[&str],
    limit: usize,
) -> Result<Value, serde_json::Error> {
    let left = Cell::new(limit);
    let selection = JsonSelection::new(names, &[], (limit, &left));
    read_selection(text, JsonSelection { keeps_repeated: true, ..selection })
}

fn read_selection(
    text: &str,
    selection: JsonSelection<'_>,
) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = selection.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Returns the refusal for an exceeded limit of values; `None` for any other error.
pub(crate) fn limit_error(error: &serde_json::Error, limit: usize) -> Option<ToolError> {
    let is_limit = error.is_data() && error.to_string().starts_with(LIMIT_MARK);
    is_limit.then_some(ToolError::LimitExceeded { what: "values of JSON that are read", limit })
}

/// Returns the refusal of a document: an exceeded limit, or damage.
pub(crate) fn document_error(error: &serde_json::Error, limit: usize) -> ToolError {
    limit_error(error, limit).unwrap_or_else(|| ToolError::Truncated {
        missing: format!("its JSON is damaged: {error}"),
    })
}

impl<'de> DeserializeSeed<'de> for JsonSelection<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSelection<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            self.take(1)?;
            kept.push(item);
        }
        Ok(Value::Array(kept))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        self.take(OBJECT_COST)?;
        let mut kept = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if !self.keeps(&name) {
                members.next_value::<IgnoredAny>()?;
                continue;
            }
            self.take(1)?;
            // Below that member every name is kept.
            let below = match self.whole.contains(&&*name) {
                true => JsonSelection { names: &[], ..self },
                false => self,
            };
            let is_repeated = self.keeps_repeated && kept.contains_key(&name);
            let name = if is_repeated { format!("{name}#2") } else { name };
            // The last of several equal names counts.
            kept.insert(name, members.next_value_seed(below)?);
        }
        Ok(Value::Object(kept))
    }
}
