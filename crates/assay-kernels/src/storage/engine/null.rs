//! Engine without I/O: every request completes when it is submitted.
//!
//! Measures the cost of the load generator itself. It never touches the memory.

use std::io;
use std::time::Duration;

use super::{EngineSetup, IoAction, IoCompletion, IoRequest, StorageEngine, Wait};

/// Engine that does nothing.
#[derive(Debug)]
pub(crate) struct Null {
    queued: Vec<IoCompletion>,
}

impl StorageEngine for Null {
    const NAME: &'static str = "null";
    const HOLDS_ONE_BATCH: bool = true;

    fn set_up(setup: EngineSetup<'_>) -> io::Result<Self> {
        Ok(Self { queued: Vec::with_capacity(setup.slots as usize) })
    }

    fn granted_features(&self) -> String {
        String::new()
    }

    #[inline]
    fn queue(&mut self, request: IoRequest) {
        let bytes = match request.action {
            IoAction::Sync | IoAction::SyncData | IoAction::SyncRange(_) => 0,
            IoAction::Read
            | IoAction::Write
            | IoAction::Trim
            | IoAction::CallFile
            | IoAction::Skip => request.bytes,
        };
        // Validation limits lengths to 1 GiB.
        self.queued.push(IoCompletion { slot: request.slot, result: bytes as i32 });
    }

    fn submit(
        &mut self,
        _most: usize,
        _done: &mut Vec<IoCompletion>,
    ) -> io::Result<Option<usize>> {
        Ok(Some(0))
    }

    #[inline]
    fn exchange(
        &mut self,
        _most: usize,
        wait: Wait,
        done: &mut Vec<IoCompletion>,
    ) -> io::Result<usize> {
        if let (Wait::AtMost { ns }, true) = (wait, self.queued.is_empty()) {
            std::thread::sleep(Duration::from_nanos(ns));
        }
        done.append(&mut self.queued);
        Ok(0)
    }
}
