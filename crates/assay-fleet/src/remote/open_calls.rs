//! Conversations that an agent takes part in.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

/// Peer, number, and whether this end is the caller.
pub(super) type CallKey = (String, u64, bool);

/// Conversations of an agent.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    pub(super) next_number: AtomicU64,
    pub(super) by_key: Mutex<BTreeMap<CallKey, OpenCall>>,
}

/// Channel for the messages of a conversation, and the flag for its end.
type OpenCall = (Sender<String>, Arc<AtomicBool>);
