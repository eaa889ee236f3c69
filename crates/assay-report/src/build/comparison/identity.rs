//! Short labels of the attributes that distinguish the cases of one metric and by which `compare`
//! matches them.

use assay_model::attribute::{Attribute, AttributeValue, Attributes, identity_attributes};

use crate::build::run::words as run_words;
use crate::locale::{comma, word};
use crate::words::dimension;
use crate::{precision, units};

/// Returns a label such as `node, 8 threads`; empty if no attribute distinguishes cases.
pub(in crate::build) fn label(attributes: &Attributes) -> String {
    let shared = identity_attributes(attributes);
    let reported = attributes
        .iter()
        .filter(|(name, _)| shared.contains_key(name) || **name == Attribute::Threads);
    reported
        .filter_map(|(name, value)| attribute_label(*name, value))
        .collect::<Vec<_>>()
        .join(comma())
}

fn attribute_label(name: Attribute, value: &AttributeValue) -> Option<String> {
    let shown = units::format_attribute(name, value);
    let plain = || dimension(name);
    Some(match (name, value) {
        (Attribute::Concurrent, AttributeValue::Flag(false)) => return None,
        (Attribute::Concurrent, _) => word("all-at-once").to_owned(),
        (_, AttributeValue::Flag(true)) => plain().to_owned(),
        (_, AttributeValue::Flag(false)) => message!("attribute-not", what = plain()),
        (Attribute::LoadStreams, AttributeValue::Integer(0)) => return None,
        (Attribute::Threads, _) => run_words::threads(value.as_number()? as usize),
        (
            Attribute::AskedGidIndex
            | Attribute::AskedPathMtuBytes
            | Attribute::ServiceLevel
            | Attribute::PauseS,
            _,
        ) => format!("{} {shown}", plain()),
        (Attribute::Streams, _) => message!("streams", n = value.as_number()? as u64),
        (Attribute::LoadStreams, _) => message!("under-load", n = value.as_number()? as u64),
        (Attribute::Ranks, _) => message!("ranks", ranks = shown),
        (Attribute::N, _) => format!("N = {shown}"),
        (Attribute::Depth, _) => message!("attribute-in-flight", n = shown),
        (Attribute::End, _) => run_words::end(&shown),
        (Attribute::ReadShare, _) => {
            message!(
                "attribute-reads",
                share = precision::format_percent_setting(100.0 * value.as_number()?)
            )
        }
        (Attribute::MessagesPerS, _) => message!("per-second", rate = shown),
        (Attribute::PreconditionPasses, _) => message!("attribute-passes", n = shown),
        _ => shown,
    })
}
