//! Messages on a pipe: four bytes of length, most significant first, and that much JSON with a newline at its end.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Most bytes of one message. The facts and findings of a host of a thousand CPUs take less than 1 MiB.
const MAXIMUM_BYTES: u32 = 16 << 20;

/// Why the next message could not be had.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the pipe was closed")]
    Closed,
    #[error(
        "a message of {bytes} bytes, where {MAXIMUM_BYTES} are allowed: something else writes into the pipe"
    )]
    TooLong { bytes: u32 },
    #[error(
        "a message that is none: something else writes into the pipe, or the versions differ"
    )]
    Foreign(#[source] serde_json::Error),
    #[error(
        "nothing came through the pipe for {seconds} s: the link is cut, or the other end stands still"
    )]
    Silent { seconds: u64 },
    #[error("the pipe cannot be used")]
    Pipe(#[source] io::Error),
}

/// Writes one message and hands it on.
///
/// # Errors
/// [`FrameError::Closed`] when nobody reads any more, [`FrameError::Pipe`] for all else.
pub fn write(pipe: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    let mut text = serde_json::to_vec(message).map_err(FrameError::Foreign)?;
    // srun hands on what a step writes line by line (srun(1), --unbuffered); JSON has no other newline.
    text.push(b'\n');
    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if bytes > MAXIMUM_BYTES {
        return Err(FrameError::TooLong { bytes });
    }
    let whole = [&bytes.to_be_bytes()[..], &text].concat();
    pipe.write_all(&whole).and_then(|()| pipe.flush()).map_err(broken)
}

/// Waits for one message.
///
/// # Errors
/// [`FrameError`]; nothing sensible can be read from the pipe afterwards.
pub fn read<T: DeserializeOwned>(pipe: &mut impl Read) -> Result<T, FrameError> {
    let mut length = [0; 4];
    pipe.read_exact(&mut length).map_err(broken)?;
    let bytes = u32::from_be_bytes(length);
    if bytes > MAXIMUM_BYTES {
        return Err(FrameError::TooLong { bytes });
    }
    let mut text = Vec::new();
    let read = pipe.take(u64::from(bytes)).read_to_end(&mut text).map_err(broken)?;
    if read < bytes as usize {
        return Err(FrameError::Closed);
    }
    serde_json::from_slice(&text).map_err(FrameError::Foreign)
}

/// Whether a whole message has come already, so that reading it waits for nothing.
pub fn is_complete(buffered: &[u8]) -> bool {
    buffered.split_first_chunk().is_some_and(|(length, text)| {
        usize::try_from(u32::from_be_bytes(*length)).is_ok_and(|bytes| text.len() >= bytes)
    })
}

fn broken(error: io::Error) -> FrameError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => FrameError::Closed,
        _ => FrameError::Pipe(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_and_everything_else_is_refused() {
        let mut pipe = Vec::new();
        write(&mut pipe, &("one", 1)).unwrap();
        write(&mut pipe, &("two", 2)).unwrap();
        assert!(!is_complete(&pipe[..13]) && is_complete(&pipe[..14]) && !is_complete(b"\0\0"));
        let mut reader = &pipe[..];
        assert_eq!(read::<(String, i32)>(&mut reader).unwrap(), ("one".to_owned(), 1));
        assert_eq!(read::<(String, i32)>(&mut reader).unwrap(), ("two".to_owned(), 2));
        assert!(matches!(read::<String>(&mut reader), Err(FrameError::Closed)));
        assert!(pipe.ends_with(b"\n"), "transports that wait for the end of a line hand it on");
        for cut in 0..pipe.len() / 2 {
            assert!(matches!(
                read::<(String, i32)>(&mut &pipe[..cut]),
                Err(FrameError::Closed)
            ));
        }
        let noise = read::<String>(&mut &b"Welcome to vm1\n"[..]);
        assert!(matches!(noise, Err(FrameError::TooLong { .. })), "{noise:?}");
        let other = read::<String>(&mut &b"\0\0\0\x02{}"[..]);
        assert!(matches!(other, Err(FrameError::Foreign(_))), "{other:?}");
    }
}
