//! `assay fio` beside the real fio on jobs that each show one rule of fio.

use std::process::Command;

use super::{compare, trace};
use crate::program::World;

/// Fails unless both programs do the same; each job writes the log of its I/O.
fn assert_same(test: &str, jobs: &[&str]) {
    for options in jobs {
        let job = format!("[a]\nwrite_lat_log=L\nlog_offset=1\n{options}");
        let there = World::in_memory();
        let Some((expected, complaint)) = trace(&Command::new("fio"), &there, &job) else {
            return eprintln!("SKIPPED {test}: fio is not installed");
        };
        assert!(expected.succeeded, "{job}{complaint}");
        assert_eq!(compare(&job, &expected, &complaint), Some(Ok(())));
    }
}

#[test]
fn short_passes_are_read_back_one_by_one() {
    assert_same(
        "short_passes_are_read_back_one_by_one",
        &[
            "rw=write:64k\nbs=4k,8k\nblockalign=16k\nsize=512k\nverify=crc32c\nioengine=psync\n",
            "rw=write:64k\nbs=8k\nsize=512k\nverify=crc32c\nioengine=libaio\niodepth=4\n",
            "rw=write:-8k\nbs=64k\nsize=512k\nverify=crc32c\nioengine=psync\n",
            "rw=randwrite:4\nbs=64k\nsize=1m\nverify=pattern\nverify_pattern=0xfeed\nioengine=psync\n",
            "rw=write\nbs=64k\nsize=1000k\nio_size=2000k\nverify=md5\nioengine=psync\n",
            "rw=write\nbs=8k\nsize=1m\nverify=md5\nioengine=psync\nzonemode=strided\n\
             zonesize=68k\nzonerange=132k\nzoneskip=44k\n",
            "rw=write:64k\nbs=8k\nsize=1m\nverify=md5\nioengine=psync\nzonemode=strided\n\
             zonesize=68k\nzoneskip=44k\n",
            // Blocks that were written again are read back once.
            "rw=write:-8k\nbs=64k\nsize=512k\nverify=md5\nnumber_ios=10\nzonemode=strided\n\
             zonesize=76k\nzoneskip=72k\nzonerange=156k\nioengine=psync\n",
        ],
    );
}

#[test]
fn another_pass_needs_room_for_the_largest_io_of_all_directions() {
    assert_same(
        "another_pass_needs_room_for_the_largest_io_of_all_directions",
        &[
            "rw=randread\nbs=4k,64k\nsize=1000k\noffset=64k\nio_size=3m\nzonemode=strided\n\
             zonesize=12k\nzoneskip=48k\nzonerange=260k\nioengine=psync\n",
            "rw=read\nbs=4k,4k,64k\nsize=1000k\nio_size=2040k\nioengine=psync\n",
        ],
    );
}

#[test]
fn syncs_at_the_ends_of_passes_count() {
    assert_same(
        "syncs_at_the_ends_of_passes_count",
        &[
            "rw=randwrite\nbs=8k\nsize=1000k\nloops=3\nfsync=1\nioengine=psync\n",
            // The last block is left out, so that no byte limit ends the job before its sync.
            "rw=randwrite\nbs=64k\nsize=1000k\nfsync=1\nioengine=psync\n",
            "rw=randwrite\nbs=64k\nsize=1000k\nfsync=5\nnrfiles=2\nioengine=sync\n",
            "rw=write\nbs=8k\nsize=1000k\nloops=2\nfdatasync=5\nioengine=psync\n",
            "rw=randrw\nbs=8k\nsize=1000k\nloops=3\nfsync=3\nioengine=psync\n",
            "rw=write:8k\nbs=8k\nsize=1000k\nio_size=3m\nfsync=1\nioengine=mmap\n",
            // A sync ends what the failed attempt at the end of a pass left in its place.
            "rw=randrw:2\nbs=64k,16k\nsize=512k\nio_size=2000k\nloops=3\nnumber_ios=77\nfsync=8\n\
             ioengine=psync\n",
        ],
    );
}

/// A mark of a failed attempt stays with its unit of I/O, which an engine that queues uses later.
#[test]
fn marks_of_failed_attempts_are_used_in_turn() {
    let job = "rw=randwrite:4\nbs=16k\nsize=1000k\nio_size=3m\nloops=3\nnumber_ios=100\n\
               random_generator=tausworthe64\n";
    let options = [
        "ioengine=psync\n",
        "ioengine=libaio\niodepth=2\n",
        "ioengine=io_uring\niodepth=4\n",
        "ioengine=libaio\niodepth=16\niodepth_batch=4\niodepth_batch_complete_min=3\n",
        "ioengine=null\niodepth=4\n",
        "ioengine=libaio\niodepth=8\niodepth_low=2\n",
        "ioengine=libaio\niodepth=16\npercentage_random=70\nnrfiles=2\n",
        "ioengine=libaio\niodepth=4\nnrfiles=3\n",
    ];
    let jobs = options.map(|options| format!("{job}{options}"));
    let jobs: Vec<&str> = jobs.iter().map(String::as_str).collect();
    assert_same("marks_of_failed_attempts_are_used_in_turn", &jobs);
}

#[test]
fn files_that_are_created_when_opened_are_as_long_as_in_fio() {
    let job = "[a]\nfilename=x\nrw=write\nsize=300k\nbs=32k\ncreate_on_open=1\n";
    let bytes = |world: &World, mut command: Command| {
        let path = world.write("job.fio", job);
        command.arg(path).current_dir(world.path("")).output().ok()?;
        Some(std::fs::metadata(world.path("x")).unwrap().len())
    };
    let (there, here) = (World::in_memory(), World::in_memory());
    let Some(expected) = bytes(&there, Command::new("fio")) else {
        return eprintln!(
            "SKIPPED files_that_are_created_when_opened_are_as_long_as_in_fio: fio is not installed"
        );
    };
    let found = bytes(&here, here.command(&["fio", "--no-store"]));
    assert_eq!((found, expected), (Some(expected), 9 << 15));
}

/// The clones of a job are numbered from the last one on, which decides their draws and logs.
#[test]
fn clones_have_the_order_of_fio() {
    assert_same(
        "clones_have_the_order_of_fio",
        &[
            "rw=randread\nsize=256k\nnumjobs=3\noffset_increment=64k\nioengine=psync\n",
            "rw=randwrite\nsize=256k\nnumjobs=4\nbs=4k,8k\nioengine=libaio\niodepth=4\n",
            "rw=randrw\nfilename=x:y\nsize=256k\nnumjobs=3\nbsrange=4k-16k\nioengine=null\n",
        ],
    );
}

#[test]
fn appended_files_are_as_in_fio() {
    let job = "[a]\nfilename=x\nrw=write\nsize=64k\n\
               [b]\nstonewall\nfilename=x\nrw=write\nsize=32k\nfile_append=1\n\
               write_lat_log=L\nlog_offset=1\n";
    let (there, here) = (World::in_memory(), World::in_memory());
    let Some((expected, _)) = trace(&Command::new("fio"), &there, job) else {
        eprintln!("SKIPPED appended_files_are_as_in_fio: fio is not installed");
        return;
    };
    let (found, message) = trace(&here.command(&["fio", "--no-store"]), &here, job).unwrap();
    assert_eq!(found, expected, "{job}{message}");
    assert!(found.succeeded && !found.ios.is_empty(), "{job}{message}");
}

#[test]
fn pairs_of_trims_and_writes_are_those_of_fio() {
    for rw in ["trimwrite", "randtrimwrite"] {
        for options in [
            "ioengine=null\n",
            "ioengine=null\nbsrange=512/25:4k:25\nnorandommap=1\n",
            "ioengine=null\nbs=8k,8k,8k\nloops=2\n",
            "ioengine=null\nnumber_ios=9\n",
            "ioengine=null\nbssplit=4k/50:8k/50\nio_size=96k\n",
        ] {
            let job =
                format!("[a]\nwrite_lat_log=L\nlog_offset=1\nsize=256k\nrw={rw}\n{options}");
            let (there, here) = (World::in_memory(), World::in_memory());
            let Some((expected, _)) = trace(&Command::new("fio"), &there, &job) else {
                eprintln!(
                    "SKIPPED pairs_of_trims_and_writes_are_those_of_fio: fio is not installed"
                );
                return;
            };
            let (found, message) =
                trace(&here.command(&["fio", "--no-store"]), &here, &job).unwrap();
            assert_eq!(found, expected, "{job}{message}");
            assert!(found.succeeded && !found.ios.is_empty(), "{job}{message}");
        }
    }
}
