//! Messages of any length between rank 0 and the others, which control a job outside of timed code.
//!
//! A receiver sleeps between two looks, so that a waiting rank takes no CPU from those that measure.
//! No benchmark uses these messages.

use std::ffi::c_int;
use std::thread;
use std::time::Duration;

use super::abi::Handle;
use super::calls::MpiResult;
use super::communicator::Communicator;

/// Tag of a message's length, and of its contents.
const TAGS: [c_int; 2] = [71, 72];
/// Sleep between two looks for a message.
const POLL_INTERVAL: Duration = Duration::from_micros(500);
/// Maximum length of one part: counts of MPI have 31 bits.
const PART_BYTES: usize = 1 << 30;

impl<H: Handle> Communicator<H> {
    /// Sends a message to rank `to`.
    pub(super) fn send_message(&self, bytes: &[u8], to: c_int) -> MpiResult {
        let length = (bytes.len() as u64).to_le_bytes();
        // SAFETY: readable bytes of this length.
        unsafe { self.send(length.as_ptr(), length.len() as c_int, to, TAGS[0]) }?;
        bytes.chunks(PART_BYTES).try_for_each(|part| {
            // SAFETY: as above.
            unsafe { self.send(part.as_ptr(), part.len() as c_int, to, TAGS[1]) }
        })
    }

    /// Receives a message from rank `from`; `None` if `gives_up` returns true before it is complete.
    /// Nothing can be received from that rank afterwards.
    pub(super) fn receive_message(
        &self,
        from: c_int,
        gives_up: &mut dyn FnMut() -> bool,
    ) -> MpiResult<Option<Vec<u8>>> {
        let Some(length) = self.receive_part(8, from, TAGS[0], gives_up)? else {
            return Ok(None);
        };
        let mut missing = length.try_into().map_or(0, u64::from_le_bytes) as usize;
        let mut message = Vec::new();
        while missing > 0 {
            let bytes = missing.min(PART_BYTES);
            let Some(part) = self.receive_part(bytes, from, TAGS[1], gives_up)? else {
                return Ok(None);
            };
            message.extend(part);
            missing -= bytes;
        }
        Ok(Some(message))
    }

    fn receive_part(
        &self,
        bytes: usize,
        from: c_int,
        tag: c_int,
        gives_up: &mut dyn FnMut() -> bool,
    ) -> MpiResult<Option<Vec<u8>>> {
        let mut memory = vec![0_u8; bytes];
        let mut request = H::default();
        // SAFETY: writable bytes of this length, which stay in place until the request is complete.
        unsafe { self.ireceive(memory.as_mut_ptr(), bytes as c_int, from, tag, &mut request) }?;
        while !self.test(&mut request)? {
            if gives_up() {
                // The library may still write there.
                std::mem::forget(memory);
                return Ok(None);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(Some(memory))
    }
}
