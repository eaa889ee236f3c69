//! Limits of this process from control groups and resource limits.

use assay_model::facts::LimitFacts;

use crate::control_group;
use crate::resource_limits::{self, SoftLimit};
use crate::root::Root;

pub(super) fn read(root: &Root) -> LimitFacts {
    LimitFacts {
        cpu_quota: control_group::cpu_quota(root),
        memory_available_bytes: control_group::memory_available_bytes(root),
        locked_memory_bytes: soft_limit(root, "Max locked memory"),
        stack_bytes: soft_limit(root, "Max stack size"),
    }
}

fn soft_limit(root: &Root, name: &str) -> Option<u64> {
    match resource_limits::soft_limit(root, name)? {
        SoftLimit::Unlimited => None,
        SoftLimit::Value(bytes) => Some(bytes),
    }
}
