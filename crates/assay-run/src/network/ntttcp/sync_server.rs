//! Synchronisation of a receiver with its senders.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use assay_dialects::wire::ntttcp::{
    NtttcpState, NumberReader, SenderRequests, SyncNumber, SyncReply, SyncRequest,
    agree_on_seconds,
};

/// Senders at the same time; the oldest that does not take part gives way to a new one.
const MAX_SENDERS: usize = 64;
/// Senders of one test.
const MAX_PARTICIPANTS: usize = 8;
/// Requests of one sender before the others have their turn.
const REQUESTS_PER_TURN: usize = 8;

/// Connections of senders, and the agreed time.
pub(super) struct SyncServer {
    listener: TcpListener,
    senders: Vec<SyncSender>,
    state: NtttcpState,
    /// Own seconds: of the whole test, or with several senders of the measured time.
    own_s: SyncNumber,
    agreed_s: SyncNumber,
    awaits_several: bool,
}

struct SyncSender {
    stream: TcpStream,
    reader: NumberReader,
    requests: SenderRequests,
    /// Whether it asked to start the present test.
    takes_part: bool,
    is_closed: bool,
}

/// Demand of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncDemand {
    /// All senders are there: call [`SyncServer::start`].
    Start,
    /// A sender ends the running test.
    Exit,
}

impl SyncServer {
    pub(super) fn new(listener: TcpListener, own_s: u32, awaits_several: bool) -> Self {
        let own_s = SyncNumber::try_from(own_s).unwrap_or(SyncNumber::MAX);
        Self {
            listener,
            senders: Vec::new(),
            state: NtttcpState::Waiting,
            own_s,
            agreed_s: own_s,
            awaits_several,
        }
    }

    /// Returns the agreed seconds of the test; 0 = until interrupted.
    pub(super) fn agreed_s(&self) -> u32 {
        u32::try_from(self.agreed_s).unwrap_or(0)
    }

    /// Whether a sender is connected.
    pub(super) fn has_senders(&self) -> bool {
        !self.senders.is_empty()
    }

    /// Answers everything that has arrived; returns at the first demand.
    pub(super) fn serve(&mut self) -> Option<SyncDemand> {
        self.accept();
        let mut number = 0;
        while number < self.senders.len() {
            for _ in 0..REQUESTS_PER_TURN {
                match self.senders[number].receive() {
                    Ok(Some(request)) => match self.answer(number, request) {
                        Ok(Some(demand)) => return Some(demand),
                        Ok(None) => {}
                        Err(_) => self.senders[number].is_closed = true,
                    },
                    Ok(None) => break,
                    Err(_) => {
                        self.senders[number].is_closed = true;
                        break;
                    }
                }
            }
            number += 1;
        }
        self.senders.retain(|it| !it.is_closed);
        None
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_err() || stream.set_nodelay(true).is_err() {
                continue;
            }
            if self.senders.len() >= MAX_SENDERS {
                let Some(oldest) = self.senders.iter().position(|it| !it.takes_part) else {
                    continue;
                };
                self.senders.remove(oldest);
            }
            self.senders.push(SyncSender::new(stream));
        }
    }

    fn answer(
        &mut self,
        number: usize,
        request: SyncRequest,
    ) -> io::Result<Option<SyncDemand>> {
        let is_running = self.state == NtttcpState::Running;
        let (reply, demand) = match request {
            SyncRequest::State => (SyncReply::State(self.state), None),
            // A running test keeps its length.
            SyncRequest::Seconds(_) if is_running => (SyncReply::Seconds(self.agreed_s), None),
            SyncRequest::Seconds(proposed) => {
                self.agreed_s = agree_on_seconds(self.own_s, proposed, self.awaits_several);
                (SyncReply::Seconds(self.agreed_s), None)
            }
            SyncRequest::Start { is_last } => return self.admit(number, is_last),
            SyncRequest::Exit => {
                let ends = is_running && self.senders[number].takes_part;
                if ends {
                    self.state = NtttcpState::Finished;
                }
                (SyncReply::State(self.state), ends.then_some(SyncDemand::Exit))
            }
        };
        self.senders[number].send(reply)?;
        Ok(demand)
    }

    /// Lets a sender take part. The answer that starts the test follows in [`Self::start`].
    fn admit(&mut self, number: usize, is_last: bool) -> io::Result<Option<SyncDemand>> {
        let participants = self.senders.iter().filter(|it| it.takes_part).count();
        let room = if is_last { MAX_PARTICIPANTS } else { MAX_PARTICIPANTS - 1 };
        let is_refused = self.state == NtttcpState::Running
            || (self.awaits_several && participants >= room)
            || (!self.awaits_several && is_last);
        if is_refused {
            self.senders[number].send(SyncReply::Refused)?;
            return Ok(None);
        }
        self.senders[number].takes_part = true;
        if self.awaits_several && !is_last {
            self.senders[number].send(SyncReply::Wait)?;
            return Ok(None);
        }
        Ok(Some(SyncDemand::Start))
    }

    /// Starts the test with all senders that take part.
    pub(super) fn start(&mut self) {
        self.state = NtttcpState::Running;
        for sender in self.senders.iter_mut().filter(|it| it.takes_part) {
            sender.is_closed |= sender.send(SyncReply::Started).is_err();
        }
    }

    /// Ends the test.
    pub(super) fn finish(&mut self) {
        self.state = NtttcpState::Finished;
        self.agreed_s = self.own_s;
        self.senders.iter_mut().for_each(|it| it.takes_part = false);
    }
}

impl SyncSender {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            reader: NumberReader::default(),
            requests: SenderRequests::default(),
            takes_part: false,
            is_closed: false,
        }
    }

    /// Returns the next request; `None` if none has arrived.
    fn receive(&mut self) -> io::Result<Option<SyncRequest>> {
        loop {
            match self.stream.read(self.reader.room()) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => {
                    if let Some(number) = self.reader.add(bytes) {
                        return Ok(Some(self.requests.read(number)));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Sends a reply. Four bytes fit in the socket of a sender that reads its answers.
    fn send(&mut self, reply: SyncReply) -> io::Result<()> {
        self.stream.write_all(&reply.encode())
    }
}
