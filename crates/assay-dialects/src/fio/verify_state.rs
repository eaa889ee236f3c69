//! States of verification: how many writes a job did, in the format of fio 3.33
//! (`local-JOB-NUMBER-verify.state`).
//!
//! Opens nothing. The places of the last writes, which fio adds, are left out: assay completes all
//! I/O in flight before a job ends, so the number tells all.

use std::io::{self, Write};

use super::section_options::FioOptions;

/// Version of the format.
const VERSION: u64 = 3;
/// Version, length of the rest, and its checksum, eight bytes each.
const HEADER_BYTES: usize = 24;
/// Number of places, depth, number of files, writes, index, state of the draws, and name.
const BODY_BYTES: usize = 152;
const DEPTH_AT: usize = 8;
const FILES_AT: usize = 12;
const WRITES_AT: usize = 16;
const NAME_AT: usize = 88;
/// Bytes of the name, with a zero at the end.
const NAME_BYTES: usize = 64;

/// Bytes that a state begins with.
pub const STATE_MAGIC: [u8; 8] = VERSION.to_le_bytes();

/// Returns the path of the state of a clone; `index` counts the clones of all jobs from 0.
pub(super) fn path(job: &FioOptions, index: usize) -> String {
    let name = format!("local-{}-{index}-verify.state", job.name.replace('/', "."));
    match &job.contents.aux_path {
        Some(folder) => format!("{folder}/{name}"),
        None => name,
    }
}

/// Writes the state of a job after so many writes.
pub(super) fn write(job: &FioOptions, writes: u64, to: &mut dyn Write) -> io::Result<()> {
    let mut body = [0; BODY_BYTES];
    let mut put = |at: usize, bytes: &[u8]| body[at..at + bytes.len()].copy_from_slice(bytes);
    let files = u32::try_from(job.file_count).unwrap_or(u32::MAX);
    put(DEPTH_AT, &job.depth.to_le_bytes());
    put(FILES_AT, &files.to_le_bytes());
    put(WRITES_AT, &writes.to_le_bytes());
    let name = job.name.as_bytes();
    put(NAME_AT, &name[..name.len().min(NAME_BYTES - 1)]);
    to.write_all(&STATE_MAGIC)?;
    to.write_all(&(BODY_BYTES as u64).to_le_bytes())?;
    to.write_all(&u64::from(checksum(&body)).to_le_bytes())?;
    to.write_all(&body)
}

/// Parses a state of assay or of fio 3.33; returns the number of writes.
pub(super) fn parse(bytes: &[u8]) -> Result<u64, String> {
    let number = |at: usize| {
        let word = bytes.get(at..at + 8).and_then(|it| it.try_into().ok());
        word.map(u64::from_le_bytes)
    };
    match number(0) {
        Some(VERSION) => {}
        Some(other) => {
            return Err(format!("version {VERSION} of the format is supported, not {other}"));
        }
        None => return Err("it is shorter than a state".to_owned()),
    }
    let body = bytes.get(HEADER_BYTES..).unwrap_or_default();
    let is_whole = number(8) == Some(body.len() as u64) && body.len() >= BODY_BYTES;
    if !is_whole || number(16) != Some(u64::from(checksum(body))) {
        return Err("it is not a whole state".to_owned());
    }
    number(HEADER_BYTES + WRITES_AT).ok_or_else(|| "it is not a whole state".to_owned())
}

/// Returns the CRC-32C of fio, which does not invert the result.
fn checksum(bytes: &[u8]) -> u32 {
    /// Castagnoli's polynomial, the lowest bit first.
    const POLYNOMIAL: u32 = 0x82f6_3b78;
    bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { (sum >> 1) ^ POLYNOMIAL } else { sum >> 1 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// State that fio 3.33 wrote after 16 writes of a job `l`: all bytes that are not 0.
    fn of_fio() -> Vec<u8> {
        let mut bytes = vec![0; 192];
        for (at, part) in [
            (0, &[3][..]),
            (8, &[0xa8]),
            (16, &[0x50, 0xc3, 0x26, 0x45]),
            (24, &[1]),
            (32, &[1]),
            (36, &[1]),
            (40, &[16]),
            (112, b"l"),
            (185, &[0xf0]),
        ] {
            bytes[at..at + part.len()].copy_from_slice(part);
        }
        bytes
    }

    #[test]
    fn states_of_fio_and_assay_have_the_number_of_writes() {
        assert_eq!(parse(&of_fio()), Ok(16));
        let mut bytes = vec![];
        write(&FioOptions::new("a"), 77, &mut bytes).unwrap();
        assert_eq!((bytes.len(), parse(&bytes)), (176, Ok(77)));
        for cut in 0..bytes.len() {
            assert!(parse(&bytes[..cut]).is_err(), "{cut}");
        }
        bytes[42] ^= 1;
        assert!(parse(&bytes).is_err(), "another number than that of the checksum");
    }
}
