//! Conversations between two agents, which have no connection of their own: letters go over the pipes to the
//! coordinator, which hands them on and reads none.
//!
//! The agent that begins names a subject; the other one attends to it on a thread of its own, beside whatever it does
//! otherwise. A conversation is over when either end drops its [`Call`], or is lost.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Reply;
use super::agent::{Line, lock};

/// How soon it is noticed that everything is to end.
const LOOK: Duration = Duration::from_millis(50);

/// One letter, as it passes the coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letter {
    /// On the way to the coordinator whom it is for, on the way from it who wrote it.
    pub host: String,
    /// The number of the conversation, by whoever began it.
    pub number: u64,
    /// Whether that wrote the letter.
    pub is_callers: bool,
    /// What it says.
    pub content: Content,
}

/// What a letter says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// A conversation begins, about this.
    Begin(String),
    /// A message, in JSON.
    Message(String),
    /// It is over.
    Over,
}

impl Letter {
    /// What comes back where nobody is there any more.
    #[must_use]
    pub fn undelivered(self) -> Self {
        Self { is_callers: !self.is_callers, content: Content::Over, ..self }
    }
}

/// Why a conversation does not go on.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("{peer} does not take part")]
    Over { peer: String },
    #[error("{peer} did not answer within {seconds} s")]
    Late { peer: String, seconds: u64 },
    #[error("{peer} says what this program does not understand")]
    Foreign { peer: String, source: serde_json::Error },
    #[error("interrupted")]
    Interrupted,
}

/// By peer, number, and whether this end began.
type Key = (String, u64, bool);

/// The conversations of an agent.
#[derive(Debug, Default)]
pub(super) struct Calls {
    next: AtomicU64,
    open: Mutex<BTreeMap<Key, Open>>,
}

/// Where the letters of a conversation go, and what is set when it is over.
type Open = (Sender<String>, Arc<AtomicBool>);

/// One end of a conversation.
#[expect(missing_debug_implementations, reason = "a pipe has no text")]
pub struct Call {
    line: Arc<Line>,
    key: Key,
    subject: String,
    letters: Receiver<String>,
    over: Arc<AtomicBool>,
}

impl Call {
    /// The host at the other end.
    #[must_use]
    pub fn peer(&self) -> &str {
        &self.key.0
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Set when the other end is gone.
    #[must_use]
    pub const fn over(&self) -> &Arc<AtomicBool> {
        &self.over
    }

    /// Says something to the other end. That it hangs up on hearing it is no failure: of a last word that is the answer,
    /// and it may be here before this returns.
    ///
    /// # Errors
    /// [`CallError::Over`].
    pub fn say(&self, message: &impl Serialize) -> Result<(), CallError> {
        let text = serde_json::to_string(message).map_err(|source| self.foreign(source))?;
        let is_said = !self.is_over() && self.put(Content::Message(text));
        if is_said { Ok(()) } else { Err(self.ended()) }
    }

    /// Waits for what the other end says next.
    ///
    /// # Errors
    /// [`CallError`].
    pub fn hear<T: DeserializeOwned>(&self, within: Duration) -> Result<T, CallError> {
        // Beyond what the clock can show there is no end.
        let end = Instant::now().checked_add(within);
        loop {
            match self.letters.recv_timeout(LOOK) {
                Ok(text) => {
                    return serde_json::from_str(&text).map_err(|source| self.foreign(source));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.line.cancel().load(Ordering::Relaxed) {
                return Err(CallError::Interrupted);
            }
            if end.is_some_and(|end| Instant::now() > end) {
                let (peer, seconds) = (self.peer().to_owned(), within.as_secs());
                return Err(CallError::Late { peer, seconds });
            }
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn ended(&self) -> CallError {
        CallError::Over { peer: self.peer().to_owned() }
    }

    fn foreign(&self, source: serde_json::Error) -> CallError {
        CallError::Foreign { peer: self.peer().to_owned(), source }
    }

    fn put(&self, content: Content) -> bool {
        let (host, number, is_callers) = self.key.clone();
        self.line.say(&Reply::Letter(Letter { host, number, is_callers, content }))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        lock(&self.line.calls.open).remove(&self.key);
        if !self.is_over() {
            self.put(Content::Over);
        }
    }
}

impl Line {
    /// Begins a conversation with another host of the run.
    #[must_use]
    pub fn call(self: &Arc<Self>, peer: &str, subject: &str) -> Call {
        let number = self.calls.next.fetch_add(1, Ordering::Relaxed);
        let call = self.open_call((peer.to_owned(), number, true), subject.to_owned());
        call.put(Content::Begin(subject.to_owned()));
        call
    }

    fn open_call(self: &Arc<Self>, key: Key, subject: String) -> Call {
        let (sender, letters) = mpsc::channel();
        let over = Arc::new(AtomicBool::new(false));
        lock(&self.calls.open).insert(key.clone(), (sender, Arc::clone(&over)));
        Call { line: Arc::clone(self), key, subject, letters, over }
    }

    /// Hands a letter to its conversation, or has somebody attend to a new one.
    pub(super) fn deliver(
        self: &Arc<Self>,
        letter: Letter,
        attend: &Arc<impl Fn(Call) + Send + Sync + 'static>,
    ) {
        let key = (letter.host, letter.number, !letter.is_callers);
        match letter.content {
            Content::Begin(subject) => {
                let (call, attend) = (self.open_call(key, subject), Arc::clone(attend));
                // Without a thread the call is dropped, which tells the other end.
                drop(thread::Builder::new().spawn(move || attend(call)));
            }
            Content::Message(text) => {
                if let Some((letters, _)) = lock(&self.calls.open).get(&key) {
                    drop(letters.send(text));
                }
            }
            Content::Over => {
                if let Some((_, over)) = lock(&self.calls.open).remove(&key) {
                    over.store(true, Ordering::Relaxed);
                }
            }
        }
    }

    /// A host has left the run, and with it all that was talked about.
    pub(super) fn is_gone(&self, host: &str) {
        lock(&self.calls.open).retain(|key, (_, over)| {
            let stays = key.0 != host;
            over.fetch_or(!stays, Ordering::Relaxed);
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, PipeWriter, Write};

    use super::super::Request;
    use super::super::agent::serve;
    use super::super::frame;
    use super::*;

    /// The way to the other end, which hangs up on the first message, before that is through.
    struct Hasty {
        letters: Option<PipeWriter>,
        over: Arc<Mutex<Option<Arc<AtomicBool>>>>,
    }

    impl Write for Hasty {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if String::from_utf8_lossy(bytes).contains("\"message\"")
                && let Some(mut letters) = self.letters.take()
            {
                frame::write(&mut letters, &letter(Content::Over)).unwrap();
                let over = lock(&self.over).clone().unwrap();
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

    fn letter(content: Content) -> Request {
        Request::Letter(Letter { host: "n2".to_owned(), number: 0, is_callers: true, content })
    }

    #[test]
    fn a_last_word_is_said_though_the_other_end_hangs_up_on_it_at_once() {
        let (input, mut letters) = io::pipe().unwrap();
        frame::write(&mut letters, &letter(Content::Begin("a subject".to_owned()))).unwrap();
        let over = Arc::new(Mutex::new(None));
        let output = Hasty { letters: Some(letters), over: Arc::clone(&over) };
        let (told, said) = mpsc::channel();
        let attend = move |call: Call| {
            *lock(&over) = Some(Arc::clone(call.over()));
            told.send(["last", "too late"].map(|word| call.say(&word).is_ok())).unwrap();
        };
        serve(input, output, (|| 0, Duration::MAX), |_, _| {}, attend).unwrap();
        assert_eq!(said.recv().unwrap(), [true, false]);
    }
}
