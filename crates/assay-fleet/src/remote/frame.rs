//! Message frames on a pipe: four bytes of length (big-endian), then that much JSON with a newline
//! at its end.

use std::io::{self, Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum size of a message. Facts and findings of a host with a thousand CPUs take less than 1
/// MiB.
const MAXIMUM_BYTES: u32 = 16 << 20;

/// Error while reading or writing a message.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    #[error("the pipe was closed")]
    Closed,
    #[error(
        "message of {bytes} bytes is larger than {MAXIMUM_BYTES}: another program writes into the pipe"
    )]
    TooLong { bytes: u32 },
    #[error("malformed message: another program writes into the pipe, or the versions differ")]
    Malformed(#[source] serde_json::Error),
    #[error("nothing was received for {seconds} s: the link is cut, or the other end hangs")]
    Silent { seconds: u64 },
    #[error("cannot start a thread for the pipe")]
    Thread(#[source] io::Error),
    #[error("cannot use the pipe")]
    Pipe(#[source] io::Error),
}

/// Writes and flushes one message.
///
/// # Errors
/// [`FrameError::Closed`] if the reader is gone, [`FrameError::Pipe`] for other errors.
pub fn write(pipe: &mut impl Write, message: &impl Serialize) -> Result<(), FrameError> {
    let mut text = serde_json::to_vec(message).map_err(FrameError::Malformed)?;
    // srun forwards a step's output line by line (srun(1), --unbuffered); JSON has no other
    // newline.
    text.push(b'\n');
    let bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if bytes > MAXIMUM_BYTES {
        return Err(FrameError::TooLong { bytes });
    }
    let whole = [&bytes.to_be_bytes()[..], &text].concat();
    pipe.write_all(&whole).and_then(|()| pipe.flush()).map_err(pipe_error)
}

/// Waits for one message.
///
/// # Errors
/// [`FrameError`]; the pipe is unusable afterwards.
pub fn read<T: DeserializeOwned>(pipe: &mut impl Read) -> Result<T, FrameError> {
    let mut length = [0; 4];
    pipe.read_exact(&mut length).map_err(pipe_error)?;
    let length = check_length(length)?;
    let mut text = Vec::new();
    let read = pipe.take(length as u64).read_to_end(&mut text).map_err(pipe_error)?;
    if read < length {
        return Err(FrameError::Closed);
    }
    serde_json::from_slice(&text).map_err(FrameError::Malformed)
}

/// Parses the first message of the received bytes and returns it with its length; `None` if it is
/// incomplete.
///
/// # Errors
/// Same as [`read`], except [`FrameError::Closed`].
pub fn parse_first<T: DeserializeOwned>(
    received: &[u8],
) -> Result<Option<(T, usize)>, FrameError> {
    let Some((length, text)) = received.split_first_chunk() else { return Ok(None) };
    let length = check_length(*length)?;
    let Some(text) = text.get(..length) else { return Ok(None) };
    let message = serde_json::from_slice(text).map_err(FrameError::Malformed)?;
    Ok(Some((message, size_of::<u32>() + length)))
}

fn check_length(length: [u8; 4]) -> Result<usize, FrameError> {
    let bytes = u32::from_be_bytes(length);
    let is_allowed = bytes <= MAXIMUM_BYTES;
    let length = usize::try_from(bytes).ok().filter(|_| is_allowed);
    length.ok_or(FrameError::TooLong { bytes })
}

fn pipe_error(error: io::Error) -> FrameError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => FrameError::Closed,
        _ => FrameError::Pipe(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_round_trip_and_noise_is_rejected() {
        let mut pipe = Vec::new();
        write(&mut pipe, &("one", 1)).unwrap();
        write(&mut pipe, &("two", 2)).unwrap();
        for cut in 0..14 {
            assert_eq!(parse_first::<(String, i32)>(&pipe[..cut]).unwrap(), None);
        }
        let whole = Some((("one".to_owned(), 1), 14));
        assert_eq!(parse_first(&pipe[..14]).unwrap(), whole);
        assert_eq!(parse_first(&pipe).unwrap(), whole);
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
        assert!(matches!(parse_first::<String>(b"Welc"), Err(FrameError::TooLong { .. })));
        let other = b"\0\0\0\x02{}";
        assert!(matches!(read::<String>(&mut &other[..]), Err(FrameError::Malformed(_))));
        assert!(matches!(parse_first::<String>(other), Err(FrameError::Malformed(_))));
    }
}
