//! Selection of the engine: the one requested, or the best that the kernel supports.
//!
//! Tests support by setting an engine up, never by version numbers; the kernel's error becomes the
//! reason.

use std::io;

use assay_model::engine_reason::EngineReason;
use assay_model::workload::storage::{EngineChoice, StorageWorkload};

use super::engine::{EngineSetup, Libaio, StorageEngine, Uring};
use super::target::OpenedTarget;

/// Engine that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EngineKind {
    /// `io_uring`, driven by interrupts.
    IoUring,
    /// `io_uring` with a polled device.
    IoUringPolled,
    /// `io_submit`.
    Libaio,
    /// Blocking calls.
    Threads,
    /// No I/O.
    Null,
}

impl EngineKind {
    /// Returns the engine's name in results.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::IoUringPolled => "io_uring-polled",
            Self::Libaio => "libaio",
            Self::Threads => "threads",
            Self::Null => "null",
        }
    }
}

/// Selected engine and the reason.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChosenEngine {
    pub(super) engine: EngineKind,
    /// Reason for the result.
    pub(super) reason: EngineReason,
}

/// Result of the selection: an engine, or two that must be compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum EngineSelection {
    /// Selected engine.
    Decided(ChosenEngine),
    /// Two engines of which a comparison selects the faster.
    Compare {
        /// Both, with the preferred one at equal rates first.
        engines: [EngineKind; 2],
    },
}

/// Selects the engine for a workload and its targets.
pub(super) fn select_engine(
    workload: &StorageWorkload,
    opened: &[OpenedTarget],
) -> EngineSelection {
    let of = |engine| {
        EngineSelection::Decided(ChosenEngine { engine, reason: EngineReason::AskedFor })
    };
    match workload.engine {
        EngineChoice::IoUring => of(EngineKind::IoUring),
        EngineChoice::IoUringPolled => of(EngineKind::IoUringPolled),
        EngineChoice::Libaio => of(EngineKind::Libaio),
        EngineChoice::Threads => of(EngineKind::Threads),
        EngineChoice::Null => of(EngineKind::Null),
        EngineChoice::Auto => {
            let direct = workload.targets.iter().all(|target| target.direct);
            let may_detour = opened.iter().any(|target| target.may_fall_back);
            select_automatically(direct, may_detour, refusal::<Uring>(), refusal::<Libaio>)
        }
    }
}

/// Selects in the order `io_uring`, `io_submit`, threads. `io_submit` blocks with the page cache,
/// so it is skipped for buffered I/O. If `io_uring` may fall back to kernel threads, as on NFS, a
/// comparison decides.
fn select_automatically(
    direct: bool,
    may_detour: bool,
    uring_refused: Option<io::Error>,
    libaio_refused: impl FnOnce() -> Option<io::Error>,
) -> EngineSelection {
    let of = |engine, reason| EngineSelection::Decided(ChosenEngine { engine, reason });
    let Some(refused) = uring_refused else {
        return match direct && may_detour {
            false => of(EngineKind::IoUring, EngineReason::Best),
            true if libaio_refused().is_some() => {
                of(EngineKind::IoUring, EngineReason::BestOfRefused)
            }
            true => {
                EngineSelection::Compare { engines: [EngineKind::IoUring, EngineKind::Libaio] }
            }
        };
    };
    if !direct {
        let io_uring = refused.to_string();
        return of(EngineKind::Threads, EngineReason::RefusedAndBuffered { io_uring });
    }
    let (io_uring, libaio) = (refused.to_string(), libaio_refused());
    let engine = if libaio.is_none() { EngineKind::Libaio } else { EngineKind::Threads };
    of(engine, EngineReason::Refused { io_uring, libaio: libaio.map(|it| it.to_string()) })
}

/// Returns the kernel's reason for refusing this engine, if it does.
fn refusal<E: StorageEngine>() -> Option<io::Error> {
    let nothing = EngineSetup {
        files: &[],
        slab: (std::ptr::null_mut(), 0),
        slots: 1,
        is_remote: false,
        mappings: &[],
        callers: &[],
    };
    E::set_up(nothing).err()
}

#[cfg(test)]
mod tests;
