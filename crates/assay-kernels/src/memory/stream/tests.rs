//! STREAM kernels on awkward sizes, and detection of wrong contents.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::pin;

fn prepare(elements: usize, threads: usize) -> Stream {
    let cpus = pin::allowed_cpus().unwrap().into_iter().cycle().take(threads).collect();
    let config = StreamConfig {
        cpus,
        bytes_per_array: elements * 8,
        source_cpus: vec![],
        source_node: None,
        huge_pages: false,
    };
    Stream::prepare(&config, &NEVER, &mut |_| {}).unwrap()
}

/// Sizes around every boundary: a line, a block, a page, two and eight walks, parts rounded to
/// pages.
const SIZES: [(usize, usize); 11] = [
    (8, 1),
    (31, 1),
    (64, 3),
    (641, 1),
    (1279, 1),
    (1281, 2),
    (4096 + 7, 1),
    (10_007, 3),
    (2 * 64 * 512 + 5, 2),
    (7 * 640 + 8 * 512 - 1, 1),
    (15 * 640 + 2 * 8 * 512 + 3, 1),
];

#[test]
fn every_kernel_computes_its_formula() {
    for (elements, threads) in SIZES {
        let mut stream = prepare(elements, threads);
        for operation in StreamOperation::ALL {
            for info in Stream::kernels(operation) {
                // Values that only this kernel can produce: the others ran before the refill.
                stream.fill(&NEVER).unwrap();
                for operation in
                    [StreamOperation::Copy, StreamOperation::Add, operation, operation]
                {
                    let kernel = find_or_first(operation, info);
                    let seconds = stream.repetition(operation, kernel).unwrap();
                    assert!(seconds >= 0.0);
                }
                let found = stream.verify(&NEVER);
                assert!(found.is_ok(), "{} {operation:?} {elements}: {found:?}", info.name);
            }
        }
    }
}

fn find_or_first(operation: StreamOperation, info: &KernelInfo) -> &'static str {
    let kernels = Stream::kernels(operation);
    kernels.iter().find(|kernel| *kernel == &info).unwrap_or(&kernels[0]).name
}

#[test]
fn usual_sequence_keeps_its_values() {
    let mut stream = prepare(1000, 2);
    for _ in 0..3000 {
        for operation in StreamOperation::ALL.into_iter().take(5) {
            let kernel = Stream::kernels(operation)[0].name;
            stream.repetition(operation, kernel).unwrap();
        }
    }
    stream.verify(&NEVER).unwrap();
}

#[test]
fn renews_growing_values_before_overflow() {
    let mut stream = prepare(100, 1);
    for _ in 0..4000 {
        for operation in [StreamOperation::Add, StreamOperation::Scale, StreamOperation::Triad]
        {
            stream.repetition(operation, "portable").unwrap();
        }
    }
    stream.verify(&NEVER).unwrap();
}

#[test]
fn detects_and_names_one_damaged_element() {
    let (elements, threads) = (10_007, 3);
    let mut stream = prepare(elements, threads);
    stream.repetition(StreamOperation::Copy, "portable").unwrap();
    for damaged_index in [0, 1, 3336, elements / 2, elements - 1] {
        for damaged_array in ['a', 'b', 'c'] {
            let before =
                std::mem::replace(element(&mut stream, damaged_array, damaged_index), 1e-9);
            match stream.verify(&NEVER) {
                Err(StreamError::WrongContents { array, index, expected, found }) => {
                    assert_eq!((array, index), (damaged_array, damaged_index));
                    assert_eq!((expected.to_bits(), found.to_bits()), {
                        (before.to_bits(), 1e-9_f64.to_bits())
                    });
                }
                other => panic!("{other:?}"),
            }
            *element(&mut stream, damaged_array, damaged_index) = before;
        }
    }
    for damage in [1.0 + 1e-14, 1.0 - 1e-14, -1.0, 0.0, f64::NAN, f64::INFINITY] {
        let before = *element(&mut stream, 'b', 5);
        *element(&mut stream, 'b', 5) = before * damage;
        assert!(stream.verify(&NEVER).is_err(), "{damage}");
        *element(&mut stream, 'b', 5) = before;
    }
    stream.verify(&NEVER).unwrap();
}

/// The request to stop leaves unknown contents, which the next check replaces.
#[test]
fn interrupted_fill_is_repeated() {
    let stop = AtomicBool::new(true);
    let mut stream = prepare(10_007, 3);
    stream.repetition(StreamOperation::Copy, "portable").unwrap();
    assert!(matches!(stream.verify(&stop), Err(StreamError::Cancelled)));
    assert!(matches!(stream.fill(&stop), Err(StreamError::Cancelled)));
    assert!(matches!(stream.restore(&stop), Err(StreamError::Cancelled)));
    stream.verify(&NEVER).unwrap();
    stream.repetition(StreamOperation::Read, "portable").unwrap();
}

#[test]
fn detects_two_exchanged_lines() {
    let mut stream = prepare(4096, 1);
    let part = &mut stream.arrays.parts()[0];
    let (one, other) = part.a.split_at_mut(2048);
    one[..8].swap_with_slice(&mut other[..8]);
    assert!(stream.verify(&NEVER).is_err());
}

#[test]
fn detects_read_that_misses_a_line() {
    let mut stream = prepare(1_000_000, 2);
    for info in Stream::kernels(StreamOperation::Read) {
        stream.repetition(StreamOperation::Read, info.name).unwrap();
    }
    for index in 700_000..700_008 {
        *element(&mut stream, 'a', index) = 0.0;
    }
    for info in Stream::kernels(StreamOperation::Read) {
        let result = stream.repetition(StreamOperation::Read, info.name);
        assert!(matches!(result, Err(StreamError::WrongSum { thread: 1, .. })), "{result:?}");
    }
}

fn element(stream: &mut Stream, array: char, index: usize) -> &mut f64 {
    let part = stream.arrays.parts().into_iter().rfind(|part| part.first <= index).unwrap();
    let elements = match array {
        'a' => part.a,
        'b' => part.b,
        _ => part.c,
    };
    &mut elements[index - part.first]
}

#[test]
fn finds_kernels_by_name_and_operation() {
    let mut stream = prepare(1000, 1);
    for name in ["", "avx1024", "Portable"] {
        let error = stream.repetition(StreamOperation::Copy, name).unwrap_err();
        assert!(error.to_string().contains("copy"), "{error}");
    }
    for operation in StreamOperation::ALL {
        let names: Vec<_> = Stream::kernels(operation).iter().map(|info| info.name).collect();
        assert!(names.contains(&"portable"));
        let best = stream.pick_best(operation, 0.01, &NEVER).unwrap();
        assert!(names.contains(&best.name));
        // Kernel selection must not affect the contents of a measurement.
        stream.repetition(operation, best.name).unwrap();
        let chosen = Stream::kernels(operation).into_iter().find(|it| it.name == best.name);
        assert!(operation != StreamOperation::Read || !chosen.unwrap().non_temporal);
    }
    stream.verify(&NEVER).unwrap();
}

/// On a busy machine each pass waits for a CPU: without time, only the first pass of the first
/// comparison runs, after its estimate.
#[test]
fn kernel_selection_ends_with_its_time() {
    let mut stream = prepare(1000, 1);
    for operation in StreamOperation::ALL {
        stream.restore(&NEVER).unwrap();
        let all = Stream::kernels(operation);
        let best = stream.pick_best(operation, 0.0, &NEVER).unwrap();
        // One pass shows nothing of the other kernels.
        let expected = KernelChoice { name: all[0].name, is_within_noise: false };
        assert_eq!(best, expected);
        assert_eq!(stream.windows_walked, 2);
    }
}

/// A kernel that loses one of five rounds may have been chosen by noise; fewer rounds do not show it.
#[test]
fn choice_within_noise_loses_a_round() {
    for (ratios, expected) in [
        (&[1.0; 5][..], false),
        (&[1.0, 1.0, 1.01, 1.0, 1.0], true),
        (&[1.0, 1.01], false),
        (&[], false),
    ] {
        assert_eq!(loses_a_round(ratios), expected, "{ratios:?}");
    }
}

#[test]
fn counts_bytes_as_stream() {
    let counts = StreamOperation::ALL.map(|operation| bytes_moved(operation, 100));
    assert_eq!(counts, [200, 200, 300, 300, 100, 100]);

    let mut stream = prepare(100_003, 3);
    for (operation, arrays) in StreamOperation::ALL.into_iter().zip([2, 2, 3, 3, 1, 1]) {
        let seconds = stream.repetition(operation, "portable").unwrap();
        let counted = stream.rate(operation, 0..3) * seconds;
        assert!((counted - f64::from(arrays * 100_003 * 8)).abs() < 1.0, "{counted}");
    }
}

#[test]
fn rejects_impossible_configurations() {
    let cpus = vec![pin::allowed_cpus().unwrap()[0]];
    let prepare = |cpus, bytes_per_array| {
        let (source_cpus, source_node) = (vec![], None);
        let config =
            StreamConfig { cpus, bytes_per_array, source_cpus, source_node, huge_pages: true };
        Stream::prepare(&config, &NEVER, &mut |_| {})
    };
    assert!(matches!(prepare(vec![], 4096), Err(StreamError::StartTeam(_))));
    assert!(matches!(prepare(vec![8191], 4096), Err(StreamError::StartTeam(_))));
    assert!(matches!(prepare(cpus.clone(), 0), Err(StreamError::DivideArray { .. })));
    assert!(matches!(prepare(cpus, 1 << 60), Err(StreamError::MapArray(_))));
}

/// Touching arrays of gigabytes takes seconds, so cancellation must end it early.
#[test]
fn cancellation_ends_preparation() {
    let config = StreamConfig {
        cpus: vec![pin::allowed_cpus().unwrap()[0]],
        bytes_per_array: 1 << 20,
        source_cpus: vec![],
        source_node: None,
        huge_pages: false,
    };
    let cancelled = Stream::prepare(&config, &AtomicBool::new(true), &mut |_| {});
    assert!(matches!(cancelled, Err(StreamError::Cancelled)));
}

#[test]
fn copies_from_source_placed_by_other_cpus() {
    let cpus = pin::allowed_cpus().unwrap();
    let (ours, theirs) = (vec![cpus[0]], vec![*cpus.last().unwrap()]);
    let config = StreamConfig {
        cpus: ours,
        bytes_per_array: 1 << 20,
        source_cpus: theirs,
        source_node: None,
        huge_pages: false,
    };
    let mut stream = Stream::prepare(&config, &NEVER, &mut |_| {}).unwrap();
    let kernel = Stream::kernels(StreamOperation::Copy)[0].name;
    stream.repetition(StreamOperation::Copy, kernel).unwrap();
    stream.verify(&NEVER).unwrap();
    stream.arrays.parts()[0].c[77] += 1.0;
    assert!(matches!(
        stream.verify(&NEVER),
        Err(StreamError::WrongContents { array: 'c', .. })
    ));
}

#[test]
fn rejects_source_on_missing_node() {
    let config = StreamConfig {
        cpus: vec![pin::allowed_cpus().unwrap()[0]],
        bytes_per_array: 1 << 20,
        source_cpus: vec![],
        source_node: Some(MemoryNode { node: 1023, cpu: None }),
        huge_pages: false,
    };
    let refused = Stream::prepare(&config, &NEVER, &mut |_| {});
    assert!(matches!(refused, Err(StreamError::PlaceSource(_))), "{refused:?}");
}
