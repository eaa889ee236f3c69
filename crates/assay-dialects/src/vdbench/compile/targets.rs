//! Where the I/O of a run goes: files and devices, the parts of them that are used, and their hosts.

use std::collections::HashMap;
use std::path::PathBuf;

use assay_model::workload::storage::{Opening, StorageTarget, WriteSync};

use super::super::Present;
use super::super::attributes::{OpenFlags, Sizes};
use super::super::definitions::{Storage, Workload};
use super::super::runs::Run;
use super::super::tokens::Element;
use super::Compiler;

/// A target, with what a stream must know of its storage.
pub(super) struct Placed {
    pub(super) target: usize,
    pub(super) threads: u32,
    pub(super) hit_area_bytes: u64,
}

/// Storage, which of its paths, and the part that is used.
type TargetKey = (usize, usize, Option<(u64, u64)>);

/// Targets as they are collected; the same one is kept once.
#[derive(Default)]
pub(super) struct Targets {
    pub(super) list: Vec<StorageTarget>,
    by_key: HashMap<TargetKey, usize>,
}

impl Compiler<'_, '_> {
    /// The targets of one storage definition under one workload.
    pub(super) fn place(
        &mut self,
        run: &Run,
        workload: &Workload,
        index: usize,
        targets: &mut Targets,
    ) -> Option<Vec<usize>> {
        let storage = &self.all.storages[index];
        if storage.luns.iter().all(|(lun, _)| lun.text.is_empty()) {
            let message = format!("`{}` has no path", storage.name.text);
            let error = self.lines.error("V131", storage.name.spot, message);
            self.lines.found.push(error.help("add lun=/path/to/file").vdbench("stops"));
            return None;
        }
        let flags = run.flags.or(workload.flags).or(storage.flags);
        let flags = flags.unwrap_or(OpenFlags {
            direct: false,
            sync: WriteSync::None,
            sync_at_end: false,
        });
        let mut placed = Vec::new();
        for (number, (lun, hosts)) in storage.luns.iter().enumerate() {
            self.note_hosts(hosts, &workload.hosts)?;
            let path = PathBuf::from(&lun.text);
            let present = (self.around.look)(&path);
            let size = self.size(storage, present, flags)?;
            let is_device = present.is_some_and(|present| present.device);
            let range = self.range(run, workload, storage, size, is_device)?;
            let key = (index, number, range);
            let target = match targets.by_key.get(&key) {
                Some(target) => *target,
                None => {
                    targets.by_key.insert(key, targets.list.len());
                    targets.list.push(StorageTarget {
                        name: storage.name.text.clone(),
                        path,
                        size_bytes: Some(size),
                        range_bytes: range,
                        align_bytes: storage.align_bytes,
                        direct: flags.direct,
                        sync: flags.sync,
                        sync_at_end: flags.sync_at_end,
                        opening: Opening::default(),
                    });
                    targets.list.len() - 1
                }
            };
            placed.push(target);
        }
        Some(placed)
    }

    /// Remembers which hosts the run needs.
    fn note_hosts(&mut self, of_storage: &[Element], of_workload: &[Element]) -> Option<()> {
        let selectors = if of_storage.is_empty() { of_workload } else { of_storage };
        if self.hosts.is_empty() && selectors.iter().all(|one| is_local(&one.text)) {
            return Some(());
        }
        if selectors.is_empty() {
            self.used_hosts.extend(0..self.all.hosts.len());
        } else {
            let chosen = self.hosts.select(self.lines, "host (hd)", selectors)?;
            self.used_hosts.extend(chosen);
        }
        Some(())
    }

    fn size(
        &mut self,
        storage: &Storage,
        present: Option<Present>,
        flags: OpenFlags,
    ) -> Option<u64> {
        let name = &storage.name;
        let is_device = present.is_some_and(|present| present.device);
        if is_device && !flags.direct {
            let message = format!("`{}` is a device and is opened without o_direct", name.text);
            let error = self.lines.error("V150", name.spot, message);
            self.lines.found.push(error.help("add openflags=o_direct").vdbench("stops"));
            return None;
        }
        let found = present.map(|present| present.bytes).filter(|bytes| *bytes > 0);
        match (storage.size_bytes, found) {
            (Some(wanted), Some(has)) if is_device && wanted > has => {
                let message =
                    format!("`{}` is to have {wanted} bytes, its device has {has}", name.text);
                let error = self.lines.error("V152", name.spot, message);
                self.lines.found.push(error.help("shorten size=").vdbench("stops"));
                None
            }
            (Some(wanted), _) if wanted >= 512 => Some(wanted),
            (None, Some(has)) => Some(has),
            _ => {
                let message = format!("the size of `{}` is unknown", name.text);
                let error = self.lines.error("V151", name.spot, message);
                self.lines.found.push(error.help("add size=1g").vdbench("stops"));
                None
            }
        }
    }

    /// The part of the target that is used: `None` for all of it.
    #[expect(clippy::option_option, reason = "a wrong range and no range are different things")]
    fn range(
        &mut self,
        run: &Run,
        workload: &Workload,
        storage: &Storage,
        size: u64,
        is_device: bool,
    ) -> Option<Option<(u64, u64)>> {
        let bounds = |(low, high): (f64, f64)| {
            let factor = if high <= 100.0 { size as f64 / 100.0 } else { 1.0 };
            ((low * factor) as u64, ((high * factor) as u64).min(size))
        };
        let largest = largest(&workload.sizes);
        let (mut low, mut high) = workload.range.or(storage.range).map_or((0, size), bounds);
        low = low.saturating_add(storage.offset_bytes);
        if is_device {
            // The first block holds the label of a disk.
            low = low.max(largest);
        }
        if low != 0 {
            low = low.checked_next_multiple_of(largest).unwrap_or(u64::MAX);
            low = low.saturating_add(storage.offset_bytes % largest);
        }
        high -= (high.saturating_sub(low)) % largest;
        if high.saturating_sub(low) < 2 * largest {
            let message = format!(
                "`{}` leaves room for fewer than two I/O of {largest} bytes in the run `{}`",
                storage.name.text, run.name.text
            );
            let error = self.lines.error("V153", storage.name.spot, message);
            self.lines.found.push(error.help("widen size= or range=").vdbench("stops"));
            return None;
        }
        Some(((low, high) != (0, size)).then_some((low, high)))
    }
}

fn is_local(host: &str) -> bool {
    matches!(host.to_ascii_lowercase().as_str(), "*" | "localhost" | "127.0.0.1")
}

fn largest(sizes: &Sizes) -> u64 {
    match sizes {
        Sizes::Shares(shares) => shares.iter().map(|(bytes, _)| *bytes).max().unwrap_or(512),
        Sizes::Uniform(_, max, _) => *max,
    }
}
