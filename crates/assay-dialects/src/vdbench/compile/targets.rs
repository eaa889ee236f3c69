//! Targets of a run: files and devices, their used ranges, and their hosts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assay_model::path_text;
use assay_model::workload::storage::{StorageTarget, TargetOpening, WriteSync};

use super::super::PathInfo;
use super::super::attributes::{OpenFlags, TransferSizes};
use super::super::definitions::{StorageDefinition, WorkloadDefinition};
use super::super::runs::RunDefinition;
use super::super::tokens::ParameterElement;
use super::Compiler;

/// Target with the parameters of its storage that a stream needs.
pub(super) struct PlacedTarget {
    pub(super) target: usize,
    pub(super) threads: u32,
    pub(super) hit_area_bytes: u64,
}

/// Index of the storage, index of its path, host when hosts are distributed, and used range.
type TargetKey = (usize, usize, Option<usize>, Option<(u64, u64)>);

/// Targets without duplicates.
#[derive(Default)]
pub(super) struct TargetSet {
    pub(super) list: Vec<StorageTarget>,
    /// Host of each target, when hosts are distributed.
    pub(super) hosts: Vec<usize>,
    by_key: HashMap<TargetKey, usize>,
}

impl TargetSet {
    fn add(&mut self, key: TargetKey, target: impl FnOnce() -> StorageTarget) -> usize {
        *self.by_key.entry(key).or_insert_with(|| {
            self.list.push(target());
            self.hosts.extend(key.2);
            self.list.len() - 1
        })
    }
}

impl Compiler<'_, '_> {
    /// Adds the targets of one storage definition under one workload; returns their indices.
    pub(super) fn place_targets(
        &mut self,
        run: &RunDefinition,
        workload: &WorkloadDefinition,
        index: usize,
        targets: &mut TargetSet,
    ) -> Option<Vec<usize>> {
        let storage = &self.definitions.storages[index];
        if storage.luns.iter().all(|(lun, _)| lun.text.is_empty()) {
            let message = format!("`{}` has no path", storage.name.text);
            self.lines
                .report_error("V131", storage.name.spot, message)
                .advise("add lun=/path/to/file", "stops");
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
            let hosts = self.select_hosts(hosts, &workload.hosts)?;
            let hosts: Vec<Option<usize>> = match self.input.is_apart {
                true => hosts.into_iter().map(Some).collect(),
                false => vec![None],
            };
            for host in hosts {
                let path = path_text::decode_path(&lun.text);
                let visible_path = host.map_or_else(
                    || path.clone(),
                    |host| host_path(&self.definitions.hosts[host].label, &path),
                );
                let mut path_info = (self.env.inspect)(&visible_path);
                if let Some(path_info) = path_info.as_mut().filter(|_| self.input.simulates) {
                    path_info.device = false;
                }
                let is_device = path_info.is_some_and(|path_info| path_info.device);
                let is_unknown = storage.size_bytes.is_none()
                    && path_info.is_none_or(|path_info| path_info.bytes == 0);
                let (size, range) = if self.input.simulates && is_unknown {
                    (None, None)
                } else {
                    let size = self.target_size(storage, path_info, flags)?;
                    let range = self.target_range(run, workload, storage, size, is_device)?;
                    (Some(size), range)
                };
                let key = (index, number, host, range);
                placed.push(targets.add(key, || StorageTarget {
                    name: storage.name.text.clone(),
                    path,
                    size_bytes: size,
                    range_bytes: range,
                    align_bytes: storage.align_bytes,
                    direct: flags.direct,
                    sync: flags.sync,
                    sync_at_end: flags.sync_at_end,
                    data_seed: None,
                    opening: TargetOpening::default(),
                    duplicates: None,
                }));
            }
        }
        Some(placed)
    }

    /// Selects the hosts of a storage definition and a workload, and marks them as used.
    fn select_hosts(
        &mut self,
        storage_hosts: &[ParameterElement],
        workload_hosts: &[ParameterElement],
    ) -> Option<Vec<usize>> {
        let selector_lists = [storage_hosts, workload_hosts];
        if self.hosts.is_empty()
            && selector_lists.into_iter().flatten().all(|selector| is_local(&selector.text))
        {
            return Some(Vec::new());
        }
        let mut common: Option<Vec<usize>> = None;
        for selectors in selector_lists.into_iter().filter(|selectors| !selectors.is_empty()) {
            let mut selected = self.hosts.select(self.lines, "host (hd)", selectors)?;
            if let Some(earlier) = common {
                selected.retain(|host| earlier.binary_search(host).is_ok());
            }
            common = Some(selected);
        }
        let selected_hosts =
            common.unwrap_or_else(|| (0..self.definitions.hosts.len()).collect());
        self.used_hosts.extend(&selected_hosts);
        Some(selected_hosts)
    }

    fn target_size(
        &mut self,
        storage: &StorageDefinition,
        path_info: Option<PathInfo>,
        flags: OpenFlags,
    ) -> Option<u64> {
        let name = &storage.name;
        let is_device = path_info.is_some_and(|path_info| path_info.device);
        if is_device && !flags.direct {
            let message = format!("`{}` is a device and is opened without o_direct", name.text);
            self.lines
                .report_error("V150", name.spot, message)
                .advise("add openflags=o_direct", "stops");
            return None;
        }
        let existing_bytes =
            path_info.map(|path_info| path_info.bytes).filter(|bytes| *bytes > 0);
        match (storage.size_bytes, existing_bytes) {
            (Some(defined), Some(existing)) if is_device && defined > existing => {
                let message = format!(
                    "`{}` is defined with {defined} bytes, but its device has {existing}",
                    name.text
                );
                self.lines
                    .report_error("V152", name.spot, message)
                    .advise("shorten size=", "stops");
                None
            }
            (Some(defined), _) if defined >= 512 => Some(defined),
            (None, Some(existing)) => Some(existing),
            _ => {
                let message = format!("the size of `{}` is unknown", name.text);
                self.lines
                    .report_error("V151", name.spot, message)
                    .advise("add size=1g", "stops");
                None
            }
        }
    }

    /// Returns the used range of a target, `Some(None)` for all of it; `None` after a reported
    /// error.
    #[expect(clippy::option_option, reason = "a wrong range and no range are different things")]
    fn target_range(
        &mut self,
        run: &RunDefinition,
        workload: &WorkloadDefinition,
        storage: &StorageDefinition,
        size: u64,
        is_device: bool,
    ) -> Option<Option<(u64, u64)>> {
        let bounds = |(low, high): (f64, f64)| {
            let factor = if high <= 100.0 { size as f64 / 100.0 } else { 1.0 };
            ((low * factor) as u64, ((high * factor) as u64).min(size))
        };
        let largest = largest_size(&workload.sizes);
        let (mut low, mut high) = workload.range.or(storage.range).map_or((0, size), bounds);
        low = low.saturating_add(storage.offset_bytes);
        if is_device {
            // The first block holds the disk label.
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
            self.lines
                .report_error("V153", storage.name.spot, message)
                .advise("widen size= or range=", "stops");
            return None;
        }
        Some(((low, high) != (0, size)).then_some((low, high)))
    }
}

/// Formats a path on one of several hosts, `host:path` as in scp.
pub fn host_path(host: &str, path: &Path) -> PathBuf {
    path_text::decode_path(&format!("{host}:{}", path_text::encode(path.as_os_str())))
}

fn is_local(host: &str) -> bool {
    matches!(host.to_ascii_lowercase().as_str(), "*" | "localhost" | "127.0.0.1")
}

fn largest_size(sizes: &TransferSizes) -> u64 {
    match sizes {
        TransferSizes::Shares(shares) => {
            shares.iter().map(|(bytes, _)| *bytes).max().unwrap_or(512)
        }
        TransferSizes::Uniform(_, max, _) => *max,
    }
}
