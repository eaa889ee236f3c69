//! Lines and names of logs, of outcomes that are known.

use super::*;

#[test]
fn times_fall_into_fios_classes() {
    // Bounds of a log that fio 3.33 wrote: 64 classes for every power of two from 64 on.
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
        assert_eq!(class(ns), expected, "{ns}");
    }
}
