//! News for open pages, as server-sent events: changed lists of runs, seconds of running ones.

use std::fmt::Write as _;
use std::io;
use std::net::TcpStream;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use assay_model::poisoned_lock::PoisonedLock as _;
use jiff::Timestamp;
use serde_json::json;

use super::response::{head, write_within};
use crate::site::SiteChange;

/// Interval after which a comment shows that the connection still works.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// Time in which a page has to take an event.
const EVENT_TIME: Duration = Duration::from_secs(5);

/// News of the site, shared by the watch and all open pages.
#[derive(Debug, Default)]
pub(super) struct LiveNews {
    state: Mutex<NewsState>,
    changed: Condvar,
}

/// Present state; a page gets its differences.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NewsState {
    /// Number of changes of the list of runs.
    revision: u64,
    /// Last change.
    change: SiteChange,
    /// Running runs with their texts, as JSON.
    running: String,
    /// Reason why the runs cannot be read, as JSON.
    problem: String,
    is_over: bool,
}

impl Default for NewsState {
    fn default() -> Self {
        Self {
            revision: 0,
            change: SiteChange::default(),
            running: "[]".to_owned(),
            problem: "\"\"".to_owned(),
            is_over: false,
        }
    }
}

impl LiveNews {
    fn lock(&self) -> MutexGuard<'_, NewsState> {
        // Every change below is complete before the lock is released.
        self.state.lock().even_if_poisoned()
    }

    fn update(&self, change: impl FnOnce(&mut NewsState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Announces a changed list of runs.
    pub(super) fn announce_change(&self, change: SiteChange) {
        self.update(|state| {
            // The pages of an earlier server have another revision.
            state.revision = match state.revision {
                0 => u64::try_from(Timestamp::now().as_second()).unwrap_or(1),
                known => known + 1,
            };
            state.change = change;
        });
    }

    /// Sets the texts of the runs that are being measured, by their identifiers.
    pub(super) fn set_running(&self, runs: &[(String, String)]) {
        let running = json!(runs).to_string();
        if self.lock().running != running {
            self.update(|state| state.running = running);
        }
    }

    /// Sets the notice that the runs cannot be read; empty if they can.
    pub(super) fn set_problem(&self, notice: &str) {
        let problem = json!(notice).to_string();
        if self.lock().problem != problem {
            self.update(|state| state.problem = problem);
        }
    }

    /// Ends the connections of all pages.
    pub(super) fn end(&self) {
        self.update(|state| state.is_over = true);
    }

    pub(super) fn revision(&self) -> u64 {
        self.lock().revision
    }

    /// Sends news to a page until it is closed. `revision` is the list that the page has.
    pub(super) fn send(&self, stream: &mut TcpStream, revision: u64) -> io::Result<()> {
        let mut sent = NewsState { revision, ..NewsState::default() };
        let mut text = head(200, "text/event-stream; charset=utf-8", "");
        text.push_str("\r\nretry: 2000\n\n");
        loop {
            let state = self.lock().clone();
            if state.is_over {
                return Ok(());
            }
            append_events(&mut text, &sent, &state);
            if text.is_empty() {
                text.push_str(":\n\n");
            }
            write_within(stream, text.as_bytes(), Instant::now() + EVENT_TIME)?;
            text.clear();
            sent = state;
            let waited =
                self.changed.wait_timeout_while(self.lock(), HEARTBEAT, |now| *now == sent);
            drop(waited);
        }
    }
}

/// Appends the events that lead from one state to another.
fn append_events(text: &mut String, sent: &NewsState, state: &NewsState) {
    if state.revision != sent.revision {
        let SiteChange { pieces, changed, .. } = &state.change;
        // Earlier changes are not kept: a page that missed some reads all again.
        let changed = match sent.revision + 1 == state.revision {
            true => changed.clone(),
            false => (0..*pieces).collect(),
        };
        let revision = state.revision;
        let data = json!({ "revision": revision, "pieces": pieces, "changed": changed });
        let _ = write!(text, "event: runs\ndata: {data}\n\n");
    }
    if state.running != sent.running {
        let _ = write!(text, "event: running\ndata: {}\n\n", state.running);
    }
    if state.problem != sent.problem {
        let _ = write!(text, "event: problem\ndata: {}\n\n", state.problem);
    }
}
