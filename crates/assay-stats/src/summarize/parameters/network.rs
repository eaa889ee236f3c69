//! What was asked of the network.

use assay_model::event::Parameter;
use assay_model::workload::{NetworkQuestion, NetworkWorkload};

/// The parameters of one series; `end` tells which end it is about, where it is about one alone.
pub(super) fn asked(
    work: &NetworkWorkload,
    end: Option<&str>,
) -> Vec<(&'static str, Parameter)> {
    let named = |name: &str| Parameter::Text(name.to_owned());
    let integer = |value: u32| Parameter::Integer(u64::from(value));
    let mut list = vec![("to", named(work.to.as_deref().unwrap_or("loopback")))];
    list.extend(end.map(|end| ("end", named(end))));
    match &work.question {
        NetworkQuestion::Throughput(it) => {
            list.extend([
                ("streams", integer(it.streams)),
                ("direction", named(it.direction.name())),
                ("copy", Parameter::Flag(it.copy)),
                ("seconds", integer(it.seconds)),
            ]);
            list.extend(
                it.rate_bit_per_s.map(|rate| ("rate_bit_per_s", Parameter::Integer(rate))),
            );
            list.extend(it.congestion.as_deref().map(|name| ("congestion", named(name))));
        }
        NetworkQuestion::Latency(it) => {
            list.extend([
                ("bytes", Parameter::Integer(it.bytes)),
                ("waiting", named(if it.spin { "spin" } else { "sleep" })),
                ("load_streams", integer(it.load_streams)),
            ]);
            list.extend(
                it.busy_poll_us
                    .map(|us| ("busy_poll_s", Parameter::Number(f64::from(us) * 1e-6))),
            );
            list.extend(it.rate_per_s.map(|rate| ("messages_per_s", Parameter::Number(rate))));
        }
    }
    list
}
