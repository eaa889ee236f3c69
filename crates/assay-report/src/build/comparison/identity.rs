//! What distinguishes the cases of one metric, in few words: what `compare` matches by.

use assay_model::attribute::{Attribute, Attributes, Role, Value};

use crate::build::run::words::count;
use crate::locale::word;
use crate::units;

/// `node, 8 threads`; empty where nothing needs telling apart.
pub(in crate::build) fn words(attributes: &Attributes) -> String {
    let told = attributes
        .iter()
        .filter(|(name, _)| name.row().role == Role::Identity || **name == Attribute::Threads);
    told.filter_map(|(name, value)| one(*name, value)).collect::<Vec<_>>().join(", ")
}

fn one(name: Attribute, value: &Value) -> Option<String> {
    let shown = units::display(name, value);
    let plain = name.name().replace('_', " ");
    let some = |singular, plural| Some(count(value.number()? as usize, singular, plural));
    Some(match (name, value) {
        (Attribute::Concurrent, Value::Flag(false)) => return None,
        (Attribute::Concurrent, _) => word("all-at-once").to_owned(),
        (_, Value::Flag(true)) => plain,
        (_, Value::Flag(false)) => format!("no {plain}"),
        (Attribute::LoadStreams, Value::Integer(0)) => return None,
        (Attribute::Threads, _) => some("thread", "threads")?,
        (Attribute::Streams, _) => some("stream", "streams")?,
        (Attribute::LoadStreams, _) => some("stream of load", "streams of load")?,
        (Attribute::Ranks, _) => some("rank", "ranks")?,
        (Attribute::N, _) => format!("N = {shown}"),
        (Attribute::Depth, _) => format!("{shown} in flight"),
        (Attribute::End, _) => format!("{shown} end"),
        (Attribute::ReadShare, _) => {
            format!("{} reads", units::percent(100.0 * value.number()?))
        }
        (Attribute::MessagesPerS, _) => format!("{shown} per second"),
        (Attribute::PreconditionPasses, _) => format!("{shown} passes before"),
        _ => shown,
    })
}
