//! Which engine: the one requested, or the best that the kernel grants.
//!
//! Asks the kernel by setting an engine up, and never by version numbers; what it says is kept as the
//! reason.

use std::io;

use assay_model::engine_choice::EngineReason;
use assay_model::workload::storage::{EngineChoice, StorageWorkload};

use super::engine::{Libaio, Setup, StorageEngine, Uring};
use super::target::Opened;

/// An engine at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    /// Rings.
    IoUring,
    /// Rings, and a device that is polled.
    IoUringPolled,
    /// `io_submit`.
    Libaio,
    /// Blocking calls.
    Threads,
    /// None.
    Null,
}

impl Engine {
    /// Its name in results.
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

/// An engine and why.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chosen {
    /// Which.
    pub(super) engine: Engine,
    /// Why, for the result.
    pub(super) reason: EngineReason,
}

/// What can be chosen: an engine, or two between which only a contest decides.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Choice {
    /// This.
    Of(Chosen),
    /// Either, as it turns out.
    Contest {
        /// Both, the one to prefer at equal rates first.
        engines: [Engine; 2],
    },
}

/// Chooses for a workload and its targets.
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

/// The order is rings, `io_submit`, threads; with the page cache `io_submit` blocks, so it is passed
/// over. Where rings may take a detour over kernel threads, as on NFS, a contest decides.
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

/// Why the kernel does not give this engine, if it does not.
fn refusal<E: StorageEngine>() -> Option<io::Error> {
    let nothing =
        Setup { files: &[], slab: (std::ptr::null_mut(), 0), slots: 1, is_far: false };
    E::set_up(nothing).err()
}

#[cfg(test)]
mod tests;
