//! The resource limits of this process, from `/proc/self/limits` (`proc_pid_limits(5)`).

use crate::root::Root;

/// A soft limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Unlimited,
    At(u64),
}

/// The soft limit that the kernel calls `name`, as in `Max stack size`; `None` when it is not told.
pub(crate) fn soft(root: &Root, name: &str) -> Option<Limit> {
    let limits = root.text("proc/self/limits")?;
    let value = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match value.split_whitespace().next()? {
        "unlimited" => Some(Limit::Unlimited),
        number => number.parse().ok().map(Limit::At),
    }
}
