//! Expansion of the IO500 measure: one case with all phases.

use super::files::MAX_THREADS;
use super::storage::SEED;
use super::{NamedWorkload, PlanError, domains};
use crate::facts::HostFacts;
use crate::suite::Io500Request;
use crate::workload::Workload;
use crate::workload::io500::{IOR_EASY_TRANSFER, Io500Workload};

pub(super) fn resolve(
    request: &Io500Request,
    host: &HostFacts,
) -> Result<Vec<NamedWorkload>, PlanError> {
    let folder = request.folder.clone().ok_or(PlanError::NoTarget)?;
    let tasks = match request.tasks {
        Some(tasks) => tasks,
        None => u32::try_from(domains::node(host, None, "threads")?.cpus.len()).unwrap_or(1),
    };
    let (easy, hard) = request.mdtest_files;
    if tasks > MAX_THREADS {
        let (what, given) = ("the number of threads".to_owned(), u64::from(tasks));
        return Err(PlanError::NumberTooLarge { what, given, most: u64::from(MAX_THREADS) });
    }
    let workload = Io500Workload {
        folder,
        tasks,
        stonewall_s: request.stonewall_s,
        ior_easy_bytes: request.ior_easy_size.0 / IOR_EASY_TRANSFER * IOR_EASY_TRANSFER,
        ior_hard_segments: request.ior_hard_segments.into(),
        mdtest_easy_files: easy.into(),
        mdtest_hard_files: hard.into(),
        seed: SEED,
    };
    Ok(vec![(format!("{tasks}-tasks"), Workload::Io500(Box::new(workload)))])
}
