//! Resource limits of this process, from `/proc/self/limits` (`proc_pid_limits(5)`).

use crate::root::Root;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SoftLimit {
    Unlimited,
    Value(u64),
}

/// Raises the limit of open files to the maximum; failures are ignored.
pub fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let _refused = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}

/// Returns the soft limit with the kernel's name, as in `Max stack size`; `None` if it is not
/// visible.
pub(crate) fn soft_limit(root: &Root, name: &str) -> Option<SoftLimit> {
    let limits = root.text("proc/self/limits")?;
    let value = limits.lines().find_map(|line| line.strip_prefix(name))?;
    match value.split_whitespace().next()? {
        "unlimited" => Some(SoftLimit::Unlimited),
        number => number.parse().ok().map(SoftLimit::Value),
    }
}
