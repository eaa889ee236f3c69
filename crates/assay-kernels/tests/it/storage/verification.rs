//! Tests that verification finds all damage, and reports none in valid data.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::FileExt;

use super::*;

const SECTOR: u64 = 512;

fn damage_sector(file: &File, nth: u64) -> u64 {
    // Primes keep the offsets apart and off the beginnings of blocks.
    let offset = (nth * 157 + 3) * SECTOR;
    let mut sector = [0; SECTOR as usize];
    file.read_exact_at(&mut sector, offset).unwrap();
    match nth % 5 {
        0 => sector[(nth * 37 % SECTOR) as usize] ^= 1 << (nth % 8),
        1 => sector.fill(0),
        2 => sector[SECTOR as usize / 2..].fill(0xAA),
        3 => file.read_exact_at(&mut sector, offset + SECTOR).unwrap(),
        _ => sector.reverse(),
    }
    file.write_all_at(&sector, offset).unwrap();
    offset
}

#[test]
fn finds_all_damaged_sectors() {
    let folder = Folder::new();
    for (engine, bytes, direct) in [
        (EngineChoice::IoUring, 4096, true),
        (EngineChoice::Threads, 1 << 16, false),
        (EngineChoice::Auto, 512 * 3, false),
    ] {
        let mut target = target(&folder.file(&format!("verified-{bytes}")), 12 * MIB);
        lay_out(&target, Verify::OnRead);
        target.direct = direct;
        let mut reading =
            workload(vec![target.clone()], stream(sequential(AtEnd::Stop), bytes, 1.0), None);
        reading.engine = engine;
        reading.data.verify = Verify::OnRead;
        let sound = run(&reading).unwrap();
        assert_eq!((sound.error_count, sound.errors.as_slice()), (0, &[][..]), "{engine:?}");
        let file = File::options().read(true).write(true).open(&target.path).unwrap();
        let injected: BTreeSet<u64> = (0..100).map(|nth| damage_sector(&file, nth)).collect();
        let found = run(&reading).unwrap();
        let located: BTreeSet<u64> = found.errors.iter().map(|error| error.offset).collect();
        assert_eq!(found.error_count, 100, "{engine:?}: {:?}", found.errors.first());
        assert_eq!(located, injected, "{engine:?}");
        assert!(found.errors.iter().all(|error| error.reason.starts_with("wrong data: ")));
    }
}

#[test]
fn concurrent_reads_and_writes_show_no_damage() {
    let folder = Folder::new();
    for (verify, engine, pattern) in [
        (Verify::OnRead, EngineChoice::Auto, AccessPattern::Random),
        (Verify::AfterWrite, EngineChoice::Threads, AccessPattern::Random),
        (Verify::OnRead, EngineChoice::Auto, sequential(AtEnd::Wrap)),
    ] {
        // Few blocks and many I/O: the same block is drawn several times at once.
        let target = target(&folder.file("busy"), 64 * 4096);
        let mut stream = stream(pattern, 4096, 0.5);
        (stream.threads, stream.in_flight_per_target) = (2, 16);
        stream.sizes.push(SizeShare {
            min_bytes: 8192,
            max_bytes: 16_384,
            step_bytes: 4096,
            share: 1.0,
        });
        let mut busy = workload(vec![target], stream, Some(0.3));
        busy.data.verify = verify;
        busy.engine = engine;
        lay_out(&busy.targets[0], Verify::Off);
        let outcome = run(&busy).unwrap();
        assert_eq!(
            outcome.error_count,
            0,
            "{verify:?} {engine:?}: {:?}",
            outcome.errors.first()
        );
        assert!(count(&outcome) > 100, "{verify:?} {engine:?}: {}", count(&outcome));
    }
}

#[test]
fn finds_lost_writes() {
    let folder = Folder::new();
    let path = folder.file("lost");
    let target = target(&path, MIB);
    lay_out(&target, Verify::OnRead);
    let before = fs::read(&path).unwrap();
    let mut mixed = stream(sequential(AtEnd::Wrap), 4096, 0.0);
    // A single I/O at a time, so that the loss does not occur in the middle of it.
    mixed.in_flight_per_target = 1;
    let mut phase = workload(vec![target], mixed, Some(0.5));
    phase.data.verify = Verify::AfterWrite;
    let stop = AtomicBool::new(false);
    let file = File::options().write(true).open(&path).unwrap();
    // The old contents, each valid in itself, are restored repeatedly.
    let outcome = std::thread::scope(|scope| {
        let forgetting = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                file.write_all_at(&before, 0).unwrap();
            }
        });
        let outcome = run(&phase).unwrap();
        stop.store(true, Ordering::Relaxed);
        forgetting.join().unwrap();
        outcome
    });
    let stale =
        outcome.errors.iter().filter(|it| it.reason.contains("older than the last write"));
    assert!(stale.count() > 0, "{:?}", outcome.errors.first());
}
