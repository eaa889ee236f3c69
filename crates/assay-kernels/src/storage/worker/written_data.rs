//! Data of the writes of a worker.

use super::super::content;
use super::super::engine::StorageEngine;
use super::StorageWorker;

impl<E: StorageEngine> StorageWorker<'_, E> {
    /// Generates the data of a write.
    pub(super) fn prepare_data(&mut self, slot: u32) {
        let state = &mut self.slots[slot as usize];
        let memory = self.buffers.writable(slot, state.bytes as usize);
        self.serial += 1;
        let has_pattern = self.content.is_some_and(|content| !content.pattern.is_empty());
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
                if !content::is_duplicate(self.serial, content.duplicate_share) {
                    self.unique_serial = self.serial;
                }
                content::make_unique(memory, 0, self.unique_serial);
            }
        }
    }
}
