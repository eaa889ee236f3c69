//! Tests of the order in which engines are tried, and of the reasons.

use super::*;

fn refused() -> Option<io::Error> {
    Some(io::Error::from_raw_os_error(libc::EPERM))
}

fn check(
    (direct, may_detour): (bool, bool),
    (uring, libaio): (Option<io::Error>, Option<io::Error>),
    expected: Option<EngineKind>,
) {
    let found = select_automatically(direct, may_detour, uring, || libaio);
    let of = match &found {
        EngineSelection::Decided(chosen) => Some(chosen.engine),
        EngineSelection::Compare { .. } => None,
    };
    assert_eq!(of, expected, "{direct} {may_detour}: {found:?}");
}

#[test]
fn selects_the_best_supported_engine() {
    for (target, refusals, expected) in [
        ((true, false), (None, None), Some(EngineKind::IoUring)),
        ((true, false), (refused(), None), Some(EngineKind::Libaio)),
        ((true, false), (refused(), refused()), Some(EngineKind::Threads)),
        ((true, true), (None, None), None),
        ((true, true), (None, refused()), Some(EngineKind::IoUring)),
        ((true, true), (refused(), None), Some(EngineKind::Libaio)),
        ((false, true), (None, None), Some(EngineKind::IoUring)),
        ((false, false), (refused(), None), Some(EngineKind::Threads)),
    ] {
        check(target, refusals, expected);
    }
}

#[test]
fn refusal_becomes_the_reason() {
    let found = select_automatically(true, false, refused(), || None);
    let EngineSelection::Decided(ChosenEngine { reason, .. }) = found else {
        panic!("{found:?}")
    };
    let EngineReason::Refused { io_uring, libaio: None } = reason else { panic!("{reason:?}") };
    assert!(io_uring.contains("Operation not permitted"), "{io_uring}");
}
