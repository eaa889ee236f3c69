//! The far end: answers requests on its standard input until that closes.

use std::io::{Read, Write};
use std::sync::mpsc;
use std::thread;

use super::frame::{self, FrameError};
use super::{Reply, Request, hash};

/// Serves until the pipe closes, and returns at once then: whoever calls this ends the process, with whatever
/// is still being done.
///
/// # Errors
/// [`FrameError`] when something else than requests comes in.
pub fn serve(
    mut input: impl Read,
    mut output: impl Write + Send + 'static,
    answer: impl Fn(Request) -> Reply + Send + 'static,
) -> Result<(), FrameError> {
    let program = std::fs::read("/proc/self/exe").map_err(FrameError::Pipe)?;
    frame::write(&mut output, &Reply::Hello(hash(&program)))?;
    drop(program);
    let (requests, requested) = mpsc::channel();
    thread::spawn(move || {
        for request in requested {
            // Nobody reads any more: the input closes as well.
            if frame::write(&mut output, &answer(request)).is_err() {
                return;
            }
        }
    });
    loop {
        match frame::read(&mut input) {
            Ok(request) if requests.send(request).is_ok() => {}
            Ok(_) | Err(FrameError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
