//! Tests of the order in which engines are tried, and of the reasons.

use super::*;

fn refused() -> Option<io::Error> {
    Some(io::Error::from_raw_os_error(libc::EPERM))
}

fn check(
    (direct, may_detour): (bool, bool),
    (uring, libaio): (Option<io::Error>, Option<io::Error>),
    expected: Option<Engine>,
) {
    let found = automatic(direct, may_detour, uring, || libaio);
    let of = match &found {
        Choice::Of(chosen) => Some(chosen.engine),
        Choice::Contest { .. } => None,
    };
    assert_eq!(of, expected, "{direct} {may_detour}: {found:?}");
}

#[test]
fn the_best_that_is_granted_is_taken() {
    for (target, refusals, expected) in [
        ((true, false), (None, None), Some(Engine::IoUring)),
        ((true, false), (refused(), None), Some(Engine::Libaio)),
        ((true, false), (refused(), refused()), Some(Engine::Threads)),
        ((true, true), (None, None), None),
        ((true, true), (None, refused()), Some(Engine::IoUring)),
        ((true, true), (refused(), None), Some(Engine::Libaio)),
        ((false, true), (None, None), Some(Engine::IoUring)),
        ((false, false), (refused(), None), Some(Engine::Threads)),
    ] {
        check(target, refusals, expected);
    }
}

#[test]
fn a_refusal_is_the_reason() {
    let found = automatic(true, false, refused(), || None);
    let Choice::Of(Chosen { reason, .. }) = found else { panic!("{found:?}") };
    let EngineReason::Refused { io_uring, libaio: None } = reason else { panic!("{reason:?}") };
    assert!(io_uring.contains("Operation not permitted"), "{io_uring}");
}
