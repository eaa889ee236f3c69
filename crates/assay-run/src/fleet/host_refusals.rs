//! Failures of several hosts as reasons of one failure: hosts with the same reason share a line.

use assay_model::host_names::format_host_list;

use crate::failure::CommandFailure;

/// Failure of a host, with advice.
#[derive(Debug)]
pub(crate) struct HostRefusal {
    pub(crate) host: String,
    pub(crate) reason: String,
    /// Advice; may be empty.
    pub(crate) advice: String,
}

/// Adds the reasons of the hosts to a failure, at most this many.
pub(crate) fn add_reasons(
    mut failed: CommandFailure,
    refusals: &[HostRefusal],
    most: usize,
) -> CommandFailure {
    let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for HostRefusal { host, reason, advice } in refusals {
        match reasons.iter_mut().find(|it| it.0 == reason) {
            Some((_, _, hosts)) => hosts.push(host),
            None => reasons.push((reason, advice, vec![host])),
        }
    }
    for (reason, advice, hosts) in reasons.iter().take(most) {
        failed = failed.with_reason(format!("{}: {reason}", format_host_list(hosts)));
        if !advice.is_empty() {
            failed = failed.advise(*advice);
        }
    }
    match reasons.len().saturating_sub(most) {
        0 => failed,
        1 => failed.with_reason("and one more reason"),
        more => failed.with_reason(format!("and {more} more reasons")),
    }
}
