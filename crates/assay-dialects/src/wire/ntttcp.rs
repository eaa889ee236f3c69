//! ntttcp's synchronisation of sender and receiver: numbers of four bytes over a TCP connection to
//! the port below that of the data.
//!
//! A sender asks for the state of the receiver, proposes the length of the test, and asks it to
//! start. The receiver answers each number with one. Letters are numbers, too: `R` is 82.

use thiserror::Error;

/// First port of the data; the synchronisation uses the port below.
pub const DEFAULT_PORT: u16 = 5001;
/// Largest number of ports, of threads for each, and of connections of a thread.
pub const MAX_PORTS: u32 = 512;
pub const MAX_THREADS_PER_PORT: u32 = 25_600;
pub const MAX_CONNECTIONS_PER_THREAD: u32 = 1000;

/// Number on the wire.
pub type SyncNumber = i32;

/// State of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NtttcpState {
    Waiting = 11,
    Running = 12,
    Finished = 13,
}

const ASK_STATE: SyncNumber = b'X' as SyncNumber;
const START: SyncNumber = b'R' as SyncNumber;
const START_ALL: SyncNumber = b'L' as SyncNumber;
const EXIT: SyncNumber = b'E' as SyncNumber;
const WAIT: SyncNumber = b'W' as SyncNumber;

/// Number of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncRequest {
    /// In which state is the receiver?
    State,
    /// Proposed seconds of the test, warm-up and cool-down included; 0 = until interrupted.
    Seconds(SyncNumber),
    /// Starts the test.
    Start {
        /// Whether this is the last of several senders.
        is_last: bool,
    },
    /// Ends the test.
    Exit,
}

impl SyncRequest {
    /// Returns the number on the wire.
    pub const fn encode(self) -> [u8; 4] {
        let number = match self {
            Self::State => ASK_STATE,
            Self::Seconds(seconds) => seconds,
            Self::Start { is_last: false } => START,
            Self::Start { is_last: true } => START_ALL,
            Self::Exit => EXIT,
        };
        number.to_be_bytes()
    }
}

/// Whether ntttcp's receiver takes a number of seconds for another request.
pub fn is_mistaken_for_request(seconds: u32) -> bool {
    [ASK_STATE, START, START_ALL, EXIT].map(SyncNumber::cast_unsigned).contains(&seconds)
}

/// Answer of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncReply {
    State(NtttcpState),
    /// Agreed seconds of the test.
    Seconds(SyncNumber),
    /// The test runs.
    Started,
    /// The test starts when the last sender asks for it; a second answer follows then.
    Wait,
    /// The test does not start with this sender.
    Refused,
}

impl SyncReply {
    /// Returns the number on the wire.
    pub const fn encode(self) -> [u8; 4] {
        let number = match self {
            Self::State(state) => state as SyncNumber,
            Self::Seconds(seconds) => seconds,
            Self::Started => START,
            Self::Wait => WAIT,
            Self::Refused => EXIT,
        };
        number.to_be_bytes()
    }
}

/// Reason of a receiver, or of its answer, against a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NtttcpProtocolError {
    #[error("it is busy with another test")]
    Busy,
    #[error("it refused to start the test")]
    Refused,
    #[error("it answered the proposed length with {0} s")]
    NegativeSeconds(SyncNumber),
    #[error("it allows a test of {agreed_s} s, not longer than the warm-up of {warm_up_s} s")]
    NoMeasuredTime { agreed_s: u32, warm_up_s: u32 },
}

/// Returns whether a receiver in this state is free.
///
/// # Errors
/// It runs another test.
pub const fn check_state(answer: SyncNumber) -> Result<(), NtttcpProtocolError> {
    match answer == NtttcpState::Running as SyncNumber {
        true => Err(NtttcpProtocolError::Busy),
        false => Ok(()),
    }
}

/// Reads the agreed seconds.
///
/// # Errors
/// They are below zero, or end in the warm-up.
pub fn read_seconds(answer: SyncNumber, warm_up_s: u32) -> Result<u32, NtttcpProtocolError> {
    let agreed_s =
        u32::try_from(answer).map_err(|_| NtttcpProtocolError::NegativeSeconds(answer))?;
    match agreed_s > 0 && agreed_s <= warm_up_s {
        true => Err(NtttcpProtocolError::NoMeasuredTime { agreed_s, warm_up_s }),
        false => Ok(agreed_s),
    }
}

/// Reads whether the test runs; false if other senders are awaited.
///
/// # Errors
/// The receiver refuses.
pub const fn read_start(answer: SyncNumber) -> Result<bool, NtttcpProtocolError> {
    match answer {
        START => Ok(true),
        WAIT => Ok(false),
        _ => Err(NtttcpProtocolError::Refused),
    }
}

/// Collects received bytes to numbers.
#[derive(Debug, Default)]
pub struct NumberReader {
    bytes: [u8; 4],
    count: usize,
}

impl NumberReader {
    /// Returns the room for the missing bytes of the next number.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes[self.count..]
    }

    /// Adds received bytes; returns the number that they complete.
    pub fn add(&mut self, count: usize) -> Option<SyncNumber> {
        self.count = (self.count + count).min(self.bytes.len());
        (self.count == self.bytes.len()).then(|| {
            self.count = 0;
            SyncNumber::from_be_bytes(self.bytes)
        })
    }
}

/// Requests of one sender, as its receiver reads them.
///
/// The number after the question for the state is the time: a test of 82 seconds is no `R`. A
/// repeated `X` asks for the state again.
#[derive(Debug, Default)]
pub struct SenderRequests {
    is_time_due: bool,
}

impl SenderRequests {
    /// Reads the next number.
    pub fn read(&mut self, number: SyncNumber) -> SyncRequest {
        if std::mem::take(&mut self.is_time_due) && number != ASK_STATE {
            return SyncRequest::Seconds(number);
        }
        match number {
            ASK_STATE => {
                self.is_time_due = true;
                SyncRequest::State
            }
            START => SyncRequest::Start { is_last: false },
            START_ALL => SyncRequest::Start { is_last: true },
            EXIT => SyncRequest::Exit,
            seconds => SyncRequest::Seconds(seconds),
        }
    }
}

/// Returns the seconds that a receiver answers to a proposal: the larger of both, and 0 if either end
/// has no limit. With several senders the receiver's own time counts.
pub const fn agree_on_seconds(
    own: SyncNumber,
    proposed: SyncNumber,
    awaits_several: bool,
) -> SyncNumber {
    if awaits_several {
        own
    } else if own == 0 || proposed == 0 {
        0
    } else if proposed > own {
        proposed
    } else {
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_ntttcp() {
        for (bytes, expected) in [
            (SyncRequest::State.encode(), [0, 0, 0, 0x58]),
            (SyncRequest::Seconds(60).encode(), [0, 0, 0, 60]),
            (SyncRequest::Start { is_last: false }.encode(), [0, 0, 0, 0x52]),
            (SyncRequest::Start { is_last: true }.encode(), [0, 0, 0, 0x4c]),
            (SyncRequest::Exit.encode(), [0, 0, 0, 0x45]),
            (SyncReply::State(NtttcpState::Waiting).encode(), [0, 0, 0, 11]),
            (SyncReply::State(NtttcpState::Finished).encode(), [0, 0, 0, 13]),
            (SyncReply::Seconds(300).encode(), [0, 0, 1, 44]),
            (SyncReply::Started.encode(), [0, 0, 0, 0x52]),
            (SyncReply::Wait.encode(), [0, 0, 0, 0x57]),
            (SyncReply::Refused.encode(), [0, 0, 0, 0x45]),
        ] {
            assert_eq!(bytes, expected);
        }
    }

    #[test]
    fn time_follows_the_question_for_the_state() {
        let mut requests = SenderRequests::default();
        let read = [88, 88, 82, 82, 69, 88, 76, 76, 5].map(|number| requests.read(number));
        assert_eq!(
            read,
            [
                SyncRequest::State,
                SyncRequest::State,
                SyncRequest::Seconds(82),
                SyncRequest::Start { is_last: false },
                SyncRequest::Exit,
                SyncRequest::State,
                SyncRequest::Seconds(76),
                SyncRequest::Start { is_last: true },
                SyncRequest::Seconds(5),
            ]
        );
        let mistaken: Vec<u32> = (0..200).filter(|it| is_mistaken_for_request(*it)).collect();
        assert_eq!(mistaken, [69, 76, 82, 88]);
    }

    #[test]
    fn numbers_arrive_in_pieces() {
        let mut reader = NumberReader::default();
        let mut numbers = Vec::new();
        for byte in [0, 0, 0, 82, 0xff, 0xff, 0xff, 0xfe] {
            reader.room()[0] = byte;
            numbers.extend(reader.add(1));
        }
        assert_eq!(numbers, [82, -2]);
    }

    #[test]
    fn longer_time_counts() {
        for (own, proposed, awaits_several, expected) in [
            (60, 10, false, 60),
            (10, 60, false, 60),
            (0, 60, false, 0),
            (60, 0, false, 0),
            (60, -5, false, 60),
            (10, 60, true, 10),
        ] {
            assert_eq!(agree_on_seconds(own, proposed, awaits_several), expected);
        }
    }

    #[test]
    fn answers_are_read() {
        assert_eq!(check_state(12), Err(NtttcpProtocolError::Busy));
        assert!([0, 10, 11, 13].iter().all(|it| check_state(*it).is_ok()));
        assert_eq!(read_start(82), Ok(true));
        assert_eq!(read_start(87), Ok(false));
        assert_eq!(read_start(69), Err(NtttcpProtocolError::Refused));
        assert_eq!(read_seconds(-1, 0), Err(NtttcpProtocolError::NegativeSeconds(-1)));
        assert_eq!([0, 6].map(|answer| read_seconds(answer, 5)), [Ok(0), Ok(6)]);
        let refused = NtttcpProtocolError::NoMeasuredTime { agreed_s: 5, warm_up_s: 5 };
        assert_eq!(read_seconds(5, 5), Err(refused));
    }
}
