//! Dimensions of a result that a user names, like `placement=node`.

use assay_model::attribute::{
    Attribute, AttributeKind, AttributeRow, AttributeValue, Attributes, Role,
};
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
        let value = parse_value(row, text)?;
        Ok((*name, value))
    };
    set.iter().map(one).collect()
}

fn parse_value(row: AttributeRow, text: &str) -> Result<AttributeValue, CommandFailure> {
    let refused = || CommandFailure::usage(format!("--set {}={text}", row.name));
    match (row.kind, text.parse::<u64>(), text.parse::<f64>()) {
        (AttributeKind::Size, ..) => {
            let bytes = text.parse::<Bytes>().map_err(|error| refused().with_cause(&error))?;
            Ok(AttributeValue::Integer(bytes.0))
        }
        (_, Ok(whole), _) => Ok(AttributeValue::Integer(whole)),
        (AttributeKind::Count, ..) => Err(refused()
            .with_reason(format!("{} is a whole number", row.name))
            .advise(format!("give a number, like {}=4", row.name))),
        (_, _, Ok(number)) if number.is_finite() => Ok(AttributeValue::Number(number)),
        (AttributeKind::Plain, ..) => Ok(match text {
            "true" => AttributeValue::Flag(true),
            "false" => AttributeValue::Flag(false),
            _ => AttributeValue::Text(text.to_owned()),
        }),
        (
            AttributeKind::Quantity(_) | AttributeKind::Percent | AttributeKind::Scientific,
            ..,
        ) => Err(refused()
            .with_reason(format!("{} is a number", row.name))
            .advise(format!("give a number without its unit, like {}=4", row.name))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_kind_of_their_dimension() {
        for (name, text, expected) in [
            (Attribute::Threads, "4", AttributeValue::Integer(4)),
            (Attribute::Bytes, "4KiB", AttributeValue::Integer(4096)),
            (Attribute::PageCache, "true", AttributeValue::Flag(true)),
            (Attribute::Placement, "node", AttributeValue::Text("node".to_owned())),
        ] {
            let parsed = parse_dimensions(&[(name, text.to_owned())]).unwrap();
            assert_eq!(parsed.get(&name), Some(&expected), "{text}");
        }
        for (name, text) in [
            (Attribute::Threads, "many"),
            (Attribute::Threads, "1.5"),
            (Attribute::Bytes, "large"),
            (Attribute::Kernel, "avx512"),
        ] {
            assert!(parse_dimensions(&[(name, text.to_owned())]).is_err(), "{text}");
        }
    }
}
