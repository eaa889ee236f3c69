//! Tests of log lines and log names for known outcomes.

use super::*;

#[test]
fn latencies_fall_into_fio_classes() {
    // Bounds from a log of fio 3.33: 64 classes for every power of two from 64 on.
    for (ns, expected) in [
        (0, 0),
        (1, 1),
        (127, 127),
        (128, 128),
        (129, 128),
        (130, 129),
        (255, 191),
        (256, 192),
        (4096, 7 * 64),
        (u64::MAX, CLASSES - 1),
    ] {
        assert_eq!(latency_class(ns), expected, "{ns}");
    }
}
