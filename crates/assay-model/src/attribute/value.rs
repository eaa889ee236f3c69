//! Values of attributes: numbers, names, reasons, or lists of them. No value is a text that must be
//! parsed.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::engine_reason::EngineReason;
use crate::quantity::Bytes;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AttributeValue {
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Integer(u64),
    /// Any other number, in the attribute's base unit.
    Number(f64),
    /// A name, a path, or a stable word such as `random`.
    Text(String),
    /// Reason why an engine was chosen.
    Reason(EngineReason),
    /// External names with their values: environment variables, command lines.
    Pairs(BTreeMap<String, String>),
    /// CPU bindings of the ranks of an MPI program, in rank order.
    Ranks(Vec<RankBinding>),
}

/// CPU binding of one rank of an MPI program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankBinding {
    /// Its host, if the ranks run on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The CPUs that it may run on.
    pub cpus: Vec<u32>,
}

impl RankBinding {
    /// Formats all ranks on one line: `0; 1`, or with hosts if there are several: `a:0,1; b:4`.
    pub fn format_line(ranks: &[Self]) -> String {
        let one = |rank: &Self| {
            let cpus: Vec<String> = rank.cpus.iter().map(ToString::to_string).collect();
            let host = rank.host.as_ref().map(|host| format!("{host}:")).unwrap_or_default();
            host + &cpus.join(",")
        };
        ranks.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

impl AttributeValue {
    /// Returns the value as a number, if it is one.
    pub const fn as_number(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            Self::Flag(_)
            | Self::Text(_)
            | Self::Reason(_)
            | Self::Pairs(_)
            | Self::Ranks(_) => None,
        }
    }

    /// Whether a user's text denotes the value: a name, a truth value, or a number, which may be a
    /// size like 4k.
    pub fn is_denoted_by(&self, text: &str) -> bool {
        match (self, self.as_number()) {
            (Self::Text(name), _) => name == text,
            (Self::Flag(flag), _) => text.parse() == Ok(*flag),
            (_, Some(number)) => {
                let size = || text.parse::<Bytes>().ok().map(|bytes| bytes.0 as f64);
                let denoted: Option<f64> = text.parse().ok().or_else(size);
                denoted.is_some_and(|it| (number - it).abs() <= 1e-9 * it.abs())
            }
            (_, None) => false,
        }
    }

    /// Returns the value as text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Flag(_)
            | Self::Integer(_)
            | Self::Number(_)
            | Self::Reason(_)
            | Self::Pairs(_)
            | Self::Ranks(_) => None,
        }
    }
}

/// Formats the value for programs: without a unit, in no language.
impl fmt::Display for AttributeValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Integer(number) => number.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
            Self::Reason(reason) => f.write_str(reason.id()),
            Self::Pairs(pairs) => {
                let pair = |(name, value): (&String, &String)| format!("{name}={value}");
                f.write_str(&pairs.iter().map(pair).collect::<Vec<_>>().join(";"))
            }
            Self::Ranks(ranks) => f.write_str(&RankBinding::format_line(ranks)),
        }
    }
}

crate::impl_from!(AttributeValue {
    bool => Self::Flag,
    u32 => |number| Self::Integer(number.into()),
    u64 => Self::Integer,
    usize => |number| Self::Integer(number as u64),
    f64 => Self::Number,
    &str => |text| Self::Text(text.to_owned()),
    String => Self::Text,
});
