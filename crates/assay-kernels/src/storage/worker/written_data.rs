//! Data of the writes of a worker.

use super::super::engine::StorageEngine;
use super::super::{address_content, content};
use super::StorageWorker;

impl<E: StorageEngine> StorageWorker<'_, E> {
    /// Generates the data of a write.
    pub(super) fn prepare_data(&mut self, slot: u32) {
        let state = &mut self.slots[slot as usize];
        let target = &self.phase.workload.targets[state.target as usize];
        let before = state.noise.filter(|(_, bytes)| *bytes >= state.bytes);
        let memory = self.buffers.writable(slot, state.bytes as usize);
        self.serial += 1;
        if let Some(duplicates) = &target.duplicates {
            let writer = (self.serial ^ self.phase.workload.seed, u64::from(state.target));
            let compressible = self.phase.workload.data.compressible;
            return content::fill_blocks(
                memory,
                state.offset,
                compressible,
                duplicates,
                writer,
            );
        }
        let has_pattern = self.content.is_some_and(|content| !content.pattern.is_empty());
        if let Some(seed) = target.data_seed {
            let is_noise = before.is_some_and(|(address, _)| {
                address_content::has_same_noise(address, state.offset)
            });
            address_content::fill(memory, state.offset, seed, is_noise);
            state.noise = Some((state.offset, state.bytes));
            return;
        }
        if let Some(content) = self.content.filter(|it| !it.offset_places.is_empty()) {
            content::fill_pattern(memory, &content::pattern_at(content, state.offset));
        }
        match (&self.phase.targets[state.target as usize].generations, self.content) {
            (Some(generations), _) => {
                state.stamp = generations.next_stamp(state.offset, u64::from(state.bytes));
                if !has_pattern {
                    content::stamp_sectors(memory, state.offset, state.stamp);
                }
            }
            (None, None) => content::make_unique(memory, state.offset, self.serial),
            // The memory was filled before.
            (None, Some(_)) if has_pattern => {}
            (None, Some(content)) => {
                let is_duplicate = content::is_duplicate(self.serial, content.duplicate_share);
                self.unique_writes += u64::from(!is_duplicate);
                let number = match content.working_set {
                    Some(set) if is_duplicate => content::draw_of_set(set, self.serial),
                    Some(set) => content::contents_of(set.stream, self.unique_writes - 1),
                    None => self.unique_writes,
                };
                content::make_unique(memory, 0, number);
            }
        }
    }
}
