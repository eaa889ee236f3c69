//! Selection of the engine: the one requested, or the best that the kernel supports.
//!
//! Tests support by setting an engine up, never by version numbers; the kernel's error becomes the
//! reason.

use std::io;

use assay_model::engine_choice::EngineReason;
use assay_model::workload::storage::{EngineChoice, StorageWorkload};

use super::engine::{Libaio, Setup, StorageEngine, Uring};
use super::target::Opened;

/// Engine that can be selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
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

impl Engine {
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
pub(super) struct Chosen {
    pub(super) engine: Engine,
    /// Reason for the result.
    pub(super) reason: EngineReason,
}

/// Result of the selection: an engine, or two that must be compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Choice {
    /// Selected engine.
    Of(Chosen),
    /// Two engines of which a comparison selects the faster.
    Contest {
        /// Both, with the preferred one at equal rates first.
        engines: [Engine; 2],
    },
}

/// Selects the engine for a workload and its targets.
pub(super) fn choose(workload: &StorageWorkload, opened: &[Opened]) -> Choice {
    let of = |engine| Choice::Of(Chosen { engine, reason: EngineReason::AskedFor });
    match workload.engine {
        EngineChoice::IoUring => of(Engine::IoUring),
        EngineChoice::IoUringPolled => of(Engine::IoUringPolled),
        EngineChoice::Libaio => of(Engine::Libaio),
        EngineChoice::Threads => of(Engine::Threads),
        EngineChoice::Null => of(Engine::Null),
        EngineChoice::Auto => {
            let direct = workload.targets.iter().all(|target| target.direct);
            let may_detour = opened.iter().any(|target| target.may_detour);
            automatic(direct, may_detour, refusal::<Uring>(), refusal::<Libaio>)
        }
    }
}

/// Selects in the order `io_uring`, `io_submit`, threads. `io_submit` blocks with the page cache,
/// so it is skipped for buffered I/O. If `io_uring` may fall back to kernel threads, as on NFS, a
/// comparison decides.
fn automatic(
    direct: bool,
    may_detour: bool,
    uring_refused: Option<io::Error>,
    libaio_refused: impl FnOnce() -> Option<io::Error>,
) -> Choice {
    let of = |engine, reason| Choice::Of(Chosen { engine, reason });
    let Some(refused) = uring_refused else {
        return match direct && may_detour {
            false => of(Engine::IoUring, EngineReason::Best),
            true if libaio_refused().is_some() => {
                of(Engine::IoUring, EngineReason::BestOfRefused)
            }
            true => Choice::Contest { engines: [Engine::IoUring, Engine::Libaio] },
        };
    };
    if !direct {
        let io_uring = refused.to_string();
        return of(Engine::Threads, EngineReason::RefusedAndBuffered { io_uring });
    }
    let (io_uring, libaio) = (refused.to_string(), libaio_refused());
    let engine = if libaio.is_none() { Engine::Libaio } else { Engine::Threads };
    of(engine, EngineReason::Refused { io_uring, libaio: libaio.map(|it| it.to_string()) })
}

/// Returns the kernel's reason for refusing this engine, if it does.
fn refusal<E: StorageEngine>() -> Option<io::Error> {
    let nothing =
        Setup { files: &[], slab: (std::ptr::null_mut(), 0), slots: 1, is_far: false };
    E::set_up(nothing).err()
}

#[cfg(test)]
mod tests;
