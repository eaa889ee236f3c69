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
    /// Seconds agreed with the sender that starts the test.
    agreed_s: SyncNumber,
    awaits_several: bool,
}

struct SyncSender {
    stream: TcpStream,
    reader: NumberReader,
    requests: SenderRequests,
    /// Seconds agreed with this sender.
    agreed_s: SyncNumber,
    /// Whether it asked to start the present test.
    takes_part: bool,
    is_closed: bool,
}

/// Demand of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncDemand {
    /// All senders are there: call [`SyncServer::start`].
    Start,
    /// A sender ends the running test, or all of its senders are gone.
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
        let is_abandoned =
            self.state == NtttcpState::Running && !self.senders.iter().any(|it| it.takes_part);
        is_abandoned.then(|| {
            self.state = NtttcpState::Finished;
            SyncDemand::Exit
        })
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
            self.senders.push(SyncSender::new(stream, self.own_s));
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
                let agreed_s = agree_on_seconds(self.own_s, proposed, self.awaits_several);
                self.senders[number].agreed_s = agreed_s;
                (SyncReply::Seconds(agreed_s), None)
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
        self.agreed_s = self.senders[number].agreed_s;
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
        for sender in &mut self.senders {
            (sender.takes_part, sender.agreed_s) = (false, self.own_s);
        }
    }
}

impl SyncSender {
    fn new(stream: TcpStream, agreed_s: SyncNumber) -> Self {
        Self {
            stream,
            reader: NumberReader::default(),
            requests: SenderRequests::default(),
            agreed_s,
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

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn serve_until(server: &mut SyncServer, expected: SyncDemand) {
        for _ in 0..2000 {
            if server.serve() == Some(expected) {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("no sender demanded it");
    }

    fn connect(listener: &TcpListener, numbers: &[SyncRequest]) -> TcpStream {
        let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        for number in numbers {
            stream.write_all(&number.encode()).unwrap();
        }
        stream
    }

    fn listen() -> (TcpListener, SyncServer) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let server = SyncServer::new(listener.try_clone().unwrap(), 5, false);
        (listener, server)
    }

    #[test]
    fn test_ends_when_its_senders_are_gone() {
        let (listener, mut server) = listen();
        let requests = [
            SyncRequest::State,
            SyncRequest::Seconds(i32::MAX),
            SyncRequest::Start { is_last: false },
        ];
        let sender = connect(&listener, &requests);
        serve_until(&mut server, SyncDemand::Start);
        server.start();
        let _other = connect(&listener, &[SyncRequest::State, SyncRequest::Exit]);
        assert_eq!(server.serve(), None);
        drop(sender);
        serve_until(&mut server, SyncDemand::Exit);
        assert_eq!(server.serve(), None, "it ends once");
    }

    #[test]
    fn time_of_the_starting_sender_counts() {
        let (listener, mut server) = listen();
        let first = [SyncRequest::State, SyncRequest::Seconds(9)];
        let mut starting = connect(&listener, &first);
        let mut answers = [0; 8];
        while server.senders.is_empty() || server.senders[0].agreed_s != 9 {
            assert_eq!(server.serve(), None);
        }
        starting.read_exact(&mut answers).unwrap();
        let mut other = connect(&listener, &[SyncRequest::State, SyncRequest::Seconds(0)]);
        while server.senders.len() < 2 || server.senders[1].agreed_s != 0 {
            assert_eq!(server.serve(), None);
        }
        other.read_exact(&mut answers).unwrap();
        starting.write_all(&SyncRequest::Start { is_last: false }.encode()).unwrap();
        serve_until(&mut server, SyncDemand::Start);
        assert_eq!(server.agreed_s(), 9);
    }
}
