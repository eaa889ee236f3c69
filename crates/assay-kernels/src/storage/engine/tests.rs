//! Tests that every engine moves the same bytes, reports errors, and respects its waits.

use std::fs::File;
use std::io::{Seek, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::mapping::{Mapping, PageAdvice};

use super::*;

const BLOCK: usize = 4096;
const SLOTS: u32 = 4;

fn file() -> File {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let (id, nth) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(format!("assay-engine-{id}-{nth}"));
    let mut file =
        File::options().read(true).write(true).create(true).truncate(true).open(&path).unwrap();
    // The open descriptor suffices.
    let _ = std::fs::remove_file(path);
    for block in 0..8_u8 {
        file.write_all(&[block; BLOCK]).unwrap();
    }
    file.rewind().unwrap();
    file
}

fn exchange_until_done<E: StorageEngine>(engine: &mut E, count: usize) -> Vec<IoCompletion> {
    let mut done = Vec::new();
    while done.len() < count {
        engine.exchange(4, Wait::AtMost { ns: 1_000_000_000 }, &mut done).unwrap();
    }
    done.sort_by_key(|it| it.slot);
    done
}

fn check<E: StorageEngine>(maps_files: bool) {
    let file = file();
    let files = [TargetDescriptors { read: file.as_raw_fd(), write: file.as_raw_fd() }];
    let mut slab = Mapping::new(BLOCK * SLOTS as usize, PageAdvice::Default).unwrap();
    slab.as_mut_slice::<u8>().fill(99);
    let mappings: Vec<_> = maps_files
        .then(|| Some(Arc::new(MappedFile::new(&file).unwrap())))
        .into_iter()
        .collect();
    let setup = EngineSetup {
        files: &files,
        slab: (slab.as_ptr(), slab.len_bytes()),
        slots: SLOTS,
        is_remote: false,
        mappings: &mappings,
        callers: &[],
    };
    let mut engine = match E::set_up(setup) {
        Ok(engine) => engine,
        Err(error) => {
            eprintln!(
                "SKIPPED every_engine_moves_the_same_bytes: {} is refused: {error}",
                E::NAME
            );
            return;
        }
    };
    let request = |slot: u32, action, block: u64| IoRequest {
        slot,
        action,
        file: 0,
        bytes: BLOCK as u32,
        offset: block * BLOCK as u64,
        priority: 0,
        memory: slab.as_ptr().wrapping_add(slot as usize * BLOCK),
    };
    let mut none = Vec::new();
    engine.exchange(4, Wait::AtMost { ns: 1_000_000 }, &mut none).unwrap();
    engine.exchange(4, Wait::No, &mut none).unwrap();
    assert_eq!(none, [], "{}", E::NAME);
    // Slot 0 writes its current contents, 1 and 2 read, 3 reads beyond the end.
    engine.queue(request(0, IoAction::Write, 7));
    engine.queue(request(1, IoAction::Read, 1));
    engine.queue(request(2, IoAction::Read, 2));
    engine.queue(request(3, IoAction::Read, 100));
    let done = |slot, result| IoCompletion { slot, result };
    let block = BLOCK as i32;
    let expected = [done(0, block), done(1, block), done(2, block), done(3, 0)];
    assert_eq!(exchange_until_done(&mut engine, 4), expected, "{}", E::NAME);
    engine.queue(request(0, IoAction::Sync, 0));
    engine.queue(request(3, IoAction::Read, 7));
    let after = exchange_until_done(&mut engine, 2);
    assert!(after[0].result == 0 || after[0].result == -libc::EINVAL, "{}: fsync", E::NAME);
    assert_eq!(after[1], done(3, block));
    let memory = slab.as_slice::<u8>();
    for (slot, value) in [(1, 1), (2, 2), (3, 99)] {
        let part = &memory[slot * BLOCK..(slot + 1) * BLOCK];
        assert!(part.iter().all(|&byte| byte == value), "{}: slot {slot}", E::NAME);
    }
}

#[test]
fn every_engine_moves_the_same_bytes() {
    check::<Uring>(false);
    check::<Libaio>(false);
    check::<Threads>(false);
    check::<Threads>(true);
}

#[test]
fn submits_at_most_the_requested_number() {
    fn pieces<E: StorageEngine>() {
        let file = file();
        let files = [TargetDescriptors { read: file.as_raw_fd(), write: file.as_raw_fd() }];
        let slab = Mapping::new(BLOCK * SLOTS as usize, PageAdvice::Default).unwrap();
        let setup = EngineSetup {
            files: &files,
            slab: (slab.as_ptr(), slab.len_bytes()),
            slots: SLOTS,
            is_remote: false,
            mappings: &[],
            callers: &[],
        };
        let Ok(mut engine) = E::set_up(setup) else { return };
        for slot in 0..SLOTS {
            engine.queue(IoRequest {
                slot,
                action: IoAction::Read,
                file: 0,
                bytes: BLOCK as u32,
                offset: 0,
                priority: 0,
                memory: slab.as_ptr().wrapping_add(slot as usize * BLOCK),
            });
        }
        let mut done = Vec::new();
        for (most, left) in [(0, 4), (1, 3), (2, 1), (9, 0)] {
            let still = engine.exchange(most, Wait::No, &mut done).unwrap();
            assert_eq!(still, left, "{}: {most} at most", E::NAME);
        }
        done.extend(exchange_until_done(&mut engine, SLOTS as usize - done.len()));
        assert!(done.iter().all(|it| it.result == BLOCK as i32), "{}: {done:?}", E::NAME);
    }
    pieces::<Uring>();
    pieces::<Libaio>();
}

#[test]
fn errors_are_completions() {
    fn refused<E: StorageEngine>() {
        let read_only = File::open("/dev/null").unwrap();
        let files =
            [TargetDescriptors { read: read_only.as_raw_fd(), write: read_only.as_raw_fd() }];
        let slab = Mapping::new(BLOCK, PageAdvice::Default).unwrap();
        let setup = EngineSetup {
            files: &files,
            slab: (slab.as_ptr(), BLOCK),
            slots: 1,
            is_remote: false,
            mappings: &[],
            callers: &[],
        };
        let Ok(mut engine) = E::set_up(setup) else { return };
        engine.queue(IoRequest {
            slot: 0,
            action: IoAction::Write,
            file: 0,
            bytes: BLOCK as u32,
            offset: 0,
            priority: 0,
            memory: slab.as_ptr(),
        });
        let expected = [IoCompletion { slot: 0, result: -libc::EBADF }];
        assert_eq!(exchange_until_done(&mut engine, 1), expected, "{}", E::NAME);
    }
    refused::<Uring>();
    refused::<Libaio>();
    refused::<Threads>();
}

#[test]
fn mapping_of_a_read_only_file_is_not_written() {
    let path = std::env::temp_dir().join(format!("assay-mapped-{}", std::process::id()));
    std::fs::write(&path, [7; BLOCK]).unwrap();
    let file = File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let files = [TargetDescriptors { read: file.as_raw_fd(), write: file.as_raw_fd() }];
    let slab = Mapping::new(BLOCK, PageAdvice::Default).unwrap();
    let setup = EngineSetup {
        files: &files,
        slab: (slab.as_ptr(), BLOCK),
        slots: 1,
        is_remote: false,
        mappings: &[Some(Arc::new(MappedFile::new(&file).unwrap()))],
        callers: &[],
    };
    let mut engine = Threads::set_up(setup).unwrap();
    for (action, offset, result) in [
        (IoAction::Write, 0, -libc::EBADF),
        (IoAction::Read, 0, BLOCK as i32),
        (IoAction::Read, 4000, 96),
        (IoAction::Read, u64::MAX, 0),
    ] {
        let (bytes, memory) = (BLOCK as u32, slab.as_ptr());
        engine.queue(IoRequest {
            slot: 0,
            action,
            file: 0,
            bytes,
            offset,
            priority: 0,
            memory,
        });
        let expected = [IoCompletion { slot: 0, result }];
        assert_eq!(exchange_until_done(&mut engine, 1), expected, "{action:?} {offset}");
    }
}
