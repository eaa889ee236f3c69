//! Failures of several hosts as reasons of one failure: hosts with the same reason share a line.

use assay_model::host_names::format_host_list;

use crate::failure::CommandFailure;

/// Maximum number of reasons that are printed.
const MAX_REASONS: usize = 4;

/// Failure of a host, with advice.
#[derive(Debug)]
pub(crate) struct HostRefusal {
    pub(crate) host: String,
    pub(crate) reason: String,
    /// Advice; may be empty.
    pub(crate) advice: String,
}

/// Adds the reasons of the hosts to a failure.
pub(crate) fn add_reasons(
    mut failed: CommandFailure,
    refusals: &[HostRefusal],
) -> CommandFailure {
    let mut reasons: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for HostRefusal { host, reason, advice } in refusals {
        match reasons.iter_mut().find(|it| it.0 == reason) {
            Some((_, _, hosts)) => hosts.push(host),
            None => reasons.push((reason, advice, vec![host])),
        }
    }
    for (reason, advice, hosts) in reasons.iter().take(MAX_REASONS) {
        failed = failed.with_reason(format!("{}: {reason}", format_host_list(hosts)));
        if !advice.is_empty() {
            failed = failed.advise(*advice);
        }
    }
    match reasons.len().saturating_sub(MAX_REASONS) {
        0 => failed,
        more => failed.with_reason(format!("and {more} more reasons")),
    }
}
