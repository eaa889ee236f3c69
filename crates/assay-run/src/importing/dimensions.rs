//! Dimensions of a result that a user names, like `placement=node`.

use assay_model::attribute::{Attribute, AttributeKind, AttributeValue, Attributes, Role};
use assay_model::quantity::Bytes;

use crate::failure::CommandFailure;

/// Parses the dimensions given by the user into typed values.
///
/// # Errors
/// A parameter that is no dimension, or a size that cannot be read.
pub fn parse_dimensions(set: &[(Attribute, String)]) -> Result<Attributes, CommandFailure> {
    let one = |(name, text): &(Attribute, String)| {
        let row = name.row();
        if matches!(row.role, Role::Fact | Role::Part) {
            let what = format!("`{}` is not a dimension of a result", row.name);
            return Err(
                CommandFailure::usage(what).advise("set a dimension, like placement=node")
            );
        }
        let value = match (row.kind, text.parse::<u64>(), text.parse::<f64>()) {
            (AttributeKind::Size, ..) => {
                let bytes: Bytes = text.parse().map_err(|error| {
                    CommandFailure::usage(format!("--set {}={text}", row.name))
                        .with_cause(&error)
                })?;
                AttributeValue::Integer(bytes.0)
            }
            (_, Ok(whole), _) => AttributeValue::Integer(whole),
            (_, _, Ok(number)) if number.is_finite() => AttributeValue::Number(number),
            _ => match text.as_str() {
                "true" => AttributeValue::Flag(true),
                "false" => AttributeValue::Flag(false),
                _ => AttributeValue::Text(text.clone()),
            },
        };
        Ok((*name, value))
    };
    set.iter().map(one).collect()
}
