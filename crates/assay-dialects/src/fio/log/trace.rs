//! Trace of all measured I/O in the order of submission (`write_iolog`), in version 3 of fio's format:
//! `time in µs, file, action, offset, bytes`.

use std::io::{self, Write};

use assay_model::storage_outcome::{IoOperation, JournalEntry, StorageOutcome};

use super::super::compile::FioPlan;
use super::clone_parts;

/// Writes the trace of these clones. `began_ms` is the start of the measured time of each phase.
pub(super) fn write(
    plan: &FioPlan,
    clones: &[usize],
    (outcomes, began_ms): (&[StorageOutcome], &[u64]),
    to: &mut dyn Write,
) -> io::Result<()> {
    writeln!(to, "fio version 3 iolog")?;
    for clone in clones.iter().map(|index| plan.clones[*index]) {
        let workload = &plan.plan.phases[clone.part.phase].workload;
        let rw = plan.options[clone.section].rw;
        let name =
            |target: usize| workload.targets.get(target).map_or("", |it| it.name.as_str());
        let files = || workload.streams[clone.part.stream].targets.iter().map(|it| name(*it));
        for action in ["add", "open"] {
            files().try_for_each(|file| writeln!(to, "0 {file} {action}"))?;
        }
        let began = |phase: usize| began_ms.get(phase).copied().unwrap_or(0);
        let mut last_us = 0;
        for part in clone_parts(plan, clone) {
            let outcome = outcomes.get(part.phase);
            let stream = outcome.and_then(|outcome| outcome.streams.get(part.stream));
            let mut ios: Vec<&JournalEntry> =
                stream.map_or_else(Vec::new, |stream| stream.journal.iter().collect());
            ios.sort_by_key(|entry| entry.at_ns.saturating_sub(entry.service_ns));
            let before_ms = began(part.phase).saturating_sub(began(clone.part.phase));
            for entry in ios {
                let issued_ns = entry.at_ns.saturating_sub(entry.service_ns);
                last_us = before_ms.saturating_mul(1000).saturating_add(issued_ns / 1000);
                let action = match entry.operation {
                    IoOperation::Read if rw.trims_first => "trim",
                    IoOperation::Read => "read",
                    IoOperation::Write if rw.trims => "trim",
                    IoOperation::Write => "write",
                };
                let JournalEntry { offset, bytes, .. } = entry;
                let file = name(entry.target as usize);
                writeln!(to, "{last_us} {file} {action} {offset} {bytes}")?;
            }
        }
        files().try_for_each(|file| writeln!(to, "{last_us} {file} close"))?;
    }
    Ok(())
}
