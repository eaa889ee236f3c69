//! Conversations between two agents. Their messages travel through the coordinator, which relays
//! them unread.
//!
//! The caller names a subject; the other agent handles it on a separate thread. A conversation is
//! over when either end drops its [`Call`] or is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use assay_model::poisoned_lock::PoisonedLock as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::AgentReply;
use super::coordinator_link::CoordinatorLink;
use super::open_calls::CallKey;

/// Interval of checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Message between agents as the coordinator relays it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayedMessage {
    /// The receiver while the message travels to the coordinator, the sender when it comes from
    /// there.
    pub host: String,
    /// Number of the conversation, assigned by the caller.
    pub number: u64,
    /// Whether the caller sent the message.
    pub is_callers: bool,
    /// Start, message or end.
    pub content: MessageContent,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MessageContent {
    /// Start of a conversation with this subject.
    Begin(String),
    /// Message in JSON.
    Message(String),
    /// End of the conversation.
    Over,
}

impl RelayedMessage {
    /// Creates the reply to a message whose receiver is gone: the end of the conversation.
    #[must_use]
    pub fn into_hang_up(self) -> Self {
        Self { is_callers: !self.is_callers, content: MessageContent::Over, ..self }
    }
}

/// Reason why a conversation cannot continue.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("{peer} has ended the conversation")]
    Over { peer: String },
    #[error("{peer} did not answer within {seconds} s")]
    Timeout { peer: String, seconds: u64 },
    #[error("{peer} sent a malformed message")]
    Malformed { peer: String, source: serde_json::Error },
    #[error("interrupted")]
    Interrupted,
}

/// End of a conversation with another agent.
#[expect(missing_debug_implementations, reason = "a pipe has no text")]
pub struct Call {
    link: Arc<CoordinatorLink>,
    key: CallKey,
    subject: String,
    messages: Receiver<String>,
    peer_gone: Arc<AtomicBool>,
}

impl Call {
    /// Returns the host at the other end.
    pub fn peer(&self) -> &str {
        &self.key.0
    }

    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Returns the flag that is set when the other end is gone.
    pub const fn peer_gone(&self) -> &Arc<AtomicBool> {
        &self.peer_gone
    }

    /// Sends a message to the other end. The other end may hang up before this function returns:
    /// that is the usual reply to a last message, not a failure.
    ///
    /// # Errors
    /// [`CallError::Over`].
    pub fn send(&self, message: &impl Serialize) -> Result<(), CallError> {
        let text =
            serde_json::to_string(message).map_err(|source| self.malformed_error(source))?;
        let is_sent = !self.is_over() && self.send_content(MessageContent::Message(text));
        if is_sent { Ok(()) } else { Err(self.over_error()) }
    }

    /// Waits for the next message of the other end.
    pub fn receive<T: DeserializeOwned>(&self, timeout: Duration) -> Result<T, CallError> {
        // A timeout beyond the range of the clock means no timeout.
        let deadline = Instant::now().checked_add(timeout);
        loop {
            match self.messages.recv_timeout(POLL_INTERVAL) {
                Ok(text) => {
                    return serde_json::from_str(&text)
                        .map_err(|source| self.malformed_error(source));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.over_error()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.link.cancel().load(Ordering::Relaxed) {
                return Err(CallError::Interrupted);
            }
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                let (peer, seconds) = (self.peer().to_owned(), timeout.as_secs());
                return Err(CallError::Timeout { peer, seconds });
            }
        }
    }

    fn is_over(&self) -> bool {
        self.peer_gone.load(Ordering::Relaxed)
    }

    fn over_error(&self) -> CallError {
        CallError::Over { peer: self.peer().to_owned() }
    }

    fn malformed_error(&self, source: serde_json::Error) -> CallError {
        CallError::Malformed { peer: self.peer().to_owned(), source }
    }

    fn send_content(&self, content: MessageContent) -> bool {
        let (host, number, is_callers) = self.key.clone();
        self.link.send(&AgentReply::Letter(RelayedMessage {
            host,
            number,
            is_callers,
            content,
        }))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.link.calls.by_key.lock().even_if_poisoned().remove(&self.key);
        if !self.is_over() {
            self.send_content(MessageContent::Over);
        }
    }
}

impl CoordinatorLink {
    /// Begins a conversation with another host of the run.
    pub fn call(self: &Arc<Self>, peer: &str, subject: &str) -> Call {
        let number = self.calls.next_number.fetch_add(1, Ordering::Relaxed);
        let call = self.open_call((peer.to_owned(), number, true), subject.to_owned());
        call.send_content(MessageContent::Begin(subject.to_owned()));
        call
    }

    fn open_call(self: &Arc<Self>, key: CallKey, subject: String) -> Call {
        let (sender, messages) = mpsc::channel();
        let over = Arc::new(AtomicBool::new(false));
        self.calls
            .by_key
            .lock()
            .even_if_poisoned()
            .insert(key.clone(), (sender, Arc::clone(&over)));
        Call { link: Arc::clone(self), key, subject, messages, peer_gone: over }
    }

    /// Delivers a message to its conversation, or starts a thread with `handle_call` for a new one.
    pub(super) fn deliver(
        self: &Arc<Self>,
        message: RelayedMessage,
        handle_call: &Arc<impl Fn(Call) + Send + Sync + 'static>,
    ) {
        let key = (message.host, message.number, !message.is_callers);
        match message.content {
            MessageContent::Begin(subject) => {
                let call = self.open_call(key, subject);
                let handle_call = Arc::clone(handle_call);
                // Without a thread the call is dropped, which notifies the other end.
                drop(thread::Builder::new().spawn(move || handle_call(call)));
            }
            MessageContent::Message(text) => {
                if let Some((sender, _)) = self.calls.by_key.lock().even_if_poisoned().get(&key)
                {
                    drop(sender.send(text));
                }
            }
            MessageContent::Over => {
                if let Some((_, over)) =
                    self.calls.by_key.lock().even_if_poisoned().remove(&key)
                {
                    over.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// Ends all conversations with a host that has left the run.
    pub(super) fn end_calls_with(&self, host: &str) {
        self.calls.by_key.lock().even_if_poisoned().retain(|key, (_, over)| {
            let stays = key.0 != host;
            over.fetch_or(!stays, Ordering::Relaxed);
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, PipeWriter, Write};

    use super::super::AgentRequest;
    use super::super::agent::serve;
    use super::super::frame;
    use std::sync::Mutex;

    use super::*;

    /// Output pipe of an agent. Its peer hangs up on the first message, before the write returns.
    struct HangUpWriter {
        peer: Option<PipeWriter>,
        over: Arc<Mutex<Option<Arc<AtomicBool>>>>,
    }

    impl Write for HangUpWriter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if String::from_utf8_lossy(bytes).contains("\"message\"")
                && let Some(mut peer) = self.peer.take()
            {
                frame::write(&mut peer, &message_from_peer(MessageContent::Over)).unwrap();
                let over = self.over.lock().even_if_poisoned().clone().unwrap();
                while !over.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn message_from_peer(content: MessageContent) -> AgentRequest {
        AgentRequest::Letter(RelayedMessage {
            host: "n2".to_owned(),
            number: 0,
            is_callers: true,
            content,
        })
    }

    #[test]
    fn last_message_is_sent_although_peer_hangs_up() {
        let (input, mut peer) = io::pipe().unwrap();
        frame::write(
            &mut peer,
            &message_from_peer(MessageContent::Begin("a subject".to_owned())),
        )
        .unwrap();
        let over = Arc::new(Mutex::new(None));
        let output = HangUpWriter { peer: Some(peer), over: Arc::clone(&over) };
        let (sender, receiver) = mpsc::channel();
        let handle_call = move |call: Call| {
            *over.lock().even_if_poisoned() = Some(Arc::clone(call.peer_gone()));
            sender.send(["last", "too late"].map(|text| call.send(&text).is_ok())).unwrap();
        };
        serve(input, output, (|| 0, Duration::MAX), |_, _| {}, handle_call).unwrap();
        assert_eq!(receiver.recv().unwrap(), [true, false]);
    }
}
