//! Random job files: options of all groups, each with its probability.
//!
//! Draws text only. What fio itself does not end or does not do in a reproducible way is left out.

use std::fmt::Write as _;

/// Reproducible draws: splitmix64 (Steele, Lea, Flood 2014).
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn choose<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[(self.next() % list.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }
}

/// Options with their values, each given with the probability in percent.
const COMMON: &[(&str, u64, &[&str])] = &[
    ("size", 100, &["1m", "2m", "512k", "1000k"]),
    ("filesize", 15, &["2m", "4m"]),
    ("offset", 15, &["64k", "128k"]),
    ("io_size", 15, &["256k", "3m"]),
    ("loops", 15, &["2", "3"]),
    ("number_ios", 15, &["10", "100", "77"]),
    ("numjobs", 15, &["2", "3"]),
    ("offset_increment", 5, &["64k", "10%"]),
    ("rwmixread", 15, &["70", "10", "99"]),
    ("allrandrepeat", 10, &["1"]),
    ("nrfiles", 10, &["2", "3"]),
    (
        "file_service_type",
        10,
        &["random", "sequential", "roundrobin", "roundrobin:3", "random:2"],
    ),
    ("blockalign", 10, &["4k", "16k"]),
    ("end_fsync", 5, &["1"]),
    ("continue_on_error", 10, &["all", "io", "none"]),
    ("overwrite", 5, &["1"]),
    ("fallocate", 5, &["none", "keep"]),
    ("slat_percentiles", 5, &["1"]),
    ("lat_percentiles", 5, &["1"]),
    ("gtod_reduce", 3, &["0"]),
    ("description", 5, &["text"]),
    ("unified_rw_reporting", 8, &["mixed", "both", "none"]),
    ("buffer_pattern", 5, &["0xdeadbeef", "\"text\"-5"]),
    ("dedupe_percentage", 5, &["50"]),
    ("dedupe_working_set_percentage", 3, &["10"]),
    ("numa_mem_policy", 3, &["local", "default"]),
    ("prio", 5, &["4"]),
    ("prioclass", 5, &["2"]),
    ("nice", 3, &["1"]),
    ("exit_what", 3, &["all", "group"]),
];
/// Options of jobs on real files.
const OF_FILES: &[(&str, u64, &[&str])] = &[
    ("offset", 10, &["25%", "10%"]),
    ("offset_align", 10, &["4k", "64k"]),
    ("pre_read", 5, &["1"]),
    ("create_only", 2, &["1"]),
    ("file_append", 3, &["1"]),
];
/// Options whose effect depends on the times of completions if the engine queues I/O.
const OF_BLOCKING: &[(&str, u64, &[&str])] =
    &[("openfiles", 10, &["1", "2"]), ("nrfiles", 5, &["4"])];
/// Options on verification, of jobs that verify.
const OF_VERIFY: &[(&str, u64, &[&str])] = &[
    ("do_verify", 20, &["0", "1"]),
    ("verify_backlog", 25, &["8", "17"]),
    ("verify_backlog_batch", 15, &["4"]),
];
/// Options on the priorities of single I/O; the logs tell real time from all others.
const OF_PRIORITIES: &[(&str, u64, &[&str])] = &[
    ("cmdprio_percentage", 8, &["20", "70,30"]),
    ("cmdprio_bssplit", 5, &["4k/50:8k/30/1/2:16k/10/2/0", "4k/20,8k/60"]),
    ("cmdprio_class", 5, &["2", "1,3"]),
];
/// Options on batches, of jobs with a depth.
const OF_DEPTH: &[(&str, u64, &[&str])] = &[
    ("iodepth_batch", 30, &["1", "3", "4", "0", "100"]),
    ("iodepth_batch_complete_min", 30, &["1", "2", "0", "100"]),
    ("iodepth_batch_complete_max", 30, &["3", "16"]),
    ("iodepth_low", 30, &["1", "2", "100"]),
];
const OF_RANDOM: &[(&str, u64, &[&str])] = &[
    ("norandommap", 20, &["1"]),
    ("percentage_random", 20, &["50", "30,70", "0", "100,20"]),
    ("randseed", 10, &["1", "4711", "99999"]),
    ("random_generator", 20, &["tausworthe64", "tausworthe", "lfsr"]),
    (
        "random_distribution",
        20,
        &[
            "zipf:1.2",
            "zipf:0.8:0.5",
            "pareto",
            "pareto:0.4:0.1",
            "normal",
            "normal:10:0.2",
            "zoned:50/5:30/15:20/80",
            "zoned:100/",
            "zoned:60/10:40/",
            "zoned_abs:60/64k:40/32k",
        ],
    ),
    ("rw_sequencer", 10, &["identical", "sequential"]),
    ("bs_is_seq_rand", 10, &["1"]),
];
const SIZES: &[(&str, &[&str])] = &[
    ("bs", &["4k", "8k", "16k", "64k"]),
    ("bs", &["4k,8k", "16k,", ",8k", "4k,16k,8k", "8k,4k"]),
    ("bsrange", &["4k-16k", "1k-8k", "4k-16k,8k-32k"]),
    ("bssplit", &["4k/50:64k/50", "4k/10:8k/20:16k/70", "4k/60:8k/40,64k/100", "8k/:16k/"]),
];
const ENGINES: &[&str] = &["psync", "psync", "sync", "mmap", "libaio", "io_uring", "null"];

/// Adds options, each with its probability.
fn draw_options(job: &mut String, draws: &mut Draws, options: &[(&str, u64, &[&str])]) {
    for (name, percent, values) in options {
        if draws.chance(*percent) {
            writeln!(job, "{name}={}", draws.choose(values)).unwrap();
        }
    }
}

/// Returns the job file of a seed.
pub(super) fn random_job(seed: u64) -> String {
    draw_job(&mut Draws(seed))
}

fn draw_job(draws: &mut Draws) -> String {
    if draws.chance(8) {
        return draw_call_job(draws);
    }
    if draws.chance(8) {
        return draw_check_job(draws);
    }
    let rw = draws.choose(&["read", "write", "rw", "randread", "randwrite", "randrw"]);
    let is_random = rw.starts_with("rand");
    let postfix = match is_random {
        true => draws.choose(&["", "", "", ":4"]),
        false => draws.choose(&["", "", "", ":4k", ":-8k", ":64k"]),
    };
    let mut job = format!("[a]\nwrite_lat_log=L\nlog_offset=1\nrw={rw}{postfix}\n");
    let (name, values) = SIZES[(draws.next() % SIZES.len() as u64) as usize];
    writeln!(job, "{name}={}", draws.choose(values)).unwrap();
    let is_unaligned = name == "bsrange" && draws.chance(20);
    if is_unaligned {
        job.push_str("bs_unaligned=1\n");
    }
    draw_options(&mut job, draws, COMMON);
    if is_random {
        draw_options(&mut job, draws, OF_RANDOM);
    }
    // Reads would check blocks that were never written.
    let verifies = rw.ends_with("write") && !is_unaligned && draws.chance(20);
    if verifies {
        let methods = ["crc32c", "md5", "xxhash", "pattern\nverify_pattern=0xdeadbeef"];
        writeln!(job, "verify={}", draws.choose(&methods)).unwrap();
        draw_options(&mut job, draws, OF_VERIFY);
    }
    if draws.chance(15) {
        draw_zones(&mut job, draws);
    }
    let engine = draws.choose(ENGINES);
    writeln!(job, "ioengine={engine}").unwrap();
    if matches!(engine, "psync" | "sync" | "mmap") && draws.chance(12) {
        draw_turns(&mut job, draws);
    }
    if engine != "null" {
        draw_options(&mut job, draws, OF_FILES);
    }
    if matches!(engine, "libaio" | "io_uring") {
        draw_options(&mut job, draws, OF_PRIORITIES);
    } else if matches!(engine, "psync" | "sync" | "mmap") {
        draw_options(&mut job, draws, OF_BLOCKING);
    }
    // Engines that queue sync after completions, whose times vary.
    if matches!(engine, "psync" | "sync" | "mmap") && draws.chance(5) {
        writeln!(job, "fsync={}", draws.choose(&["8", "1", "3"])).unwrap();
    } else if matches!(engine, "psync" | "sync") && draws.chance(6) {
        let calls = [
            "sync_file_range=write:3",
            "sync_file_range=wait_before,write,wait_after:8",
            "sync_file_range=write",
            "fdatasync=4",
        ];
        writeln!(job, "{}", draws.choose(&calls)).unwrap();
    }
    if matches!(engine, "libaio" | "io_uring" | "null") && draws.chance(60) {
        writeln!(job, "iodepth={}", draws.choose(&["4", "16"])).unwrap();
        draw_options(&mut job, draws, OF_DEPTH);
    }
    job
}

/// Adds zones, of one clone or of two.
fn draw_zones(job: &mut String, draws: &mut Draws) {
    // fio marks memory past the end of a map whose length is a multiple of 64 blocks.
    let odd = |draws: &mut Draws, most: u64| 4 * (2 * (draws.next() % most) + 1);
    let (zone, skip) = (odd(draws, 24), 4 * (draws.next() % 20));
    writeln!(job, "zonemode=strided\nzonesize={zone}k\nzoneskip={skip}k").unwrap();
    if draws.chance(50) {
        writeln!(job, "zonerange={}k", odd(draws, 40)).unwrap();
    }
    if draws.chance(30) {
        job.push_str("numjobs=2\n");
    }
}

/// Adds files that take turns, few of them open at once.
fn draw_turns(job: &mut String, draws: &mut Draws) {
    let files = 2 + draws.next() % 6;
    writeln!(job, "nrfiles={files}").unwrap();
    if draws.chance(70) {
        writeln!(job, "openfiles={}", 1 + draws.next() % (files + 1)).unwrap();
    }
    if draws.chance(70) {
        let turns = draws.choose(&["roundrobin", "random", "sequential"]);
        writeln!(job, "file_service_type={turns}:{}", 1 + draws.next() % 12).unwrap();
    }
}

/// Options of jobs that verify the blocks of another one.
const OF_CHECKS: &[(&str, u64, &[&str])] = &[
    ("loops", 30, &["2", "3"]),
    ("io_size", 30, &["256k", "3m"]),
    ("number_ios", 20, &["10", "77"]),
    ("numjobs", 10, &["2"]),
    ("do_verify", 20, &["0", "1"]),
    ("verify_only", 10, &["1"]),
    ("verify_backlog", 25, &["8", "17"]),
    ("verify_backlog_batch", 15, &["4"]),
    ("invalidate", 10, &["0"]),
];

/// Draws a job that writes a file, and one that verifies it by reads.
fn draw_check_job(draws: &mut Draws) -> String {
    let block = draws.choose(&["4k", "8k", "16k"]);
    let size = draws.choose(&["512k", "1m", "2m"]);
    let rw = draws.choose(&["read", "read:16k", "randread", "randread:4"]);
    let mut job = format!(
        "[global]\nwrite_lat_log=L\nlog_offset=1\nfilename=x\nbs={block}\nsize={size}\nverify=md5\n\
         [w]\nrw=write\nioengine=psync\ndo_verify=0\n[r]\nstonewall\nrw={rw}\n"
    );
    draw_options(&mut job, draws, OF_CHECKS);
    if rw.starts_with("rand") {
        draw_options(&mut job, draws, OF_RANDOM);
    }
    let engine = draws.choose(&["psync", "sync", "mmap", "libaio", "io_uring"]);
    writeln!(job, "ioengine={engine}").unwrap();
    if matches!(engine, "libaio" | "io_uring") && draws.chance(70) {
        writeln!(job, "iodepth={}", draws.choose(&["4", "16"])).unwrap();
        draw_options(&mut job, draws, OF_DEPTH);
        if draws.chance(30) {
            job.push_str("time_based=1\nruntime=9\n");
        }
    }
    job
}

/// Options of jobs that make calls on files.
const OF_CALLS: &[(&str, u64, &[&str])] = &[
    ("openfiles", 40, &["1", "2"]),
    (
        "file_service_type",
        40,
        &["random", "sequential", "roundrobin", "roundrobin:3", "random:2"],
    ),
    ("number_ios", 20, &["3", "7"]),
    ("io_size", 15, &["32k"]),
    ("numjobs", 15, &["2"]),
    ("rwmixread", 15, &["70"]),
    ("unlink", 15, &["1"]),
    ("overwrite", 10, &["1"]),
    ("fallocate", 20, &["none"]),
    ("unified_rw_reporting", 10, &["mixed", "both"]),
    ("lat_percentiles", 10, &["1"]),
    ("disable_lat", 10, &["1"]),
];

/// Draws a job that makes calls on files instead of I/O.
fn draw_call_job(draws: &mut Draws) -> String {
    let rw = draws.choose(&["read", "write", "rw", "randread", "randwrite", "randrw"]);
    let engine = draws.choose(&["filecreate", "filestat", "filedelete"]);
    let files = [3, 5, 9][(draws.next() % 3) as usize];
    let block = [1, 4, 8][(draws.next() % 3) as usize];
    // fio never ends a job whose files are no multiple of its I/O.
    let size = block * [1, 2, 5][(draws.next() % 3) as usize];
    let mut job = format!(
        "[a]\nwrite_lat_log=L\nlog_offset=1\nrw={rw}\nioengine={engine}\nnrfiles={files}\n\
         bs={block}k\nfilesize={size}k\n"
    );
    if draws.chance(25) {
        writeln!(job, "size={}k", size * files).unwrap();
    }
    draw_options(&mut job, draws, OF_CALLS);
    match engine {
        "filestat" => {
            draw_options(&mut job, draws, &[("stat_type", 60, &["stat", "lstat", "statx"])]);
        }
        "filecreate" => draw_options(&mut job, draws, &[("create_on_open", 20, &["1"])]),
        _ => {}
    }
    if engine != "filedelete" {
        draw_options(&mut job, draws, &[("loops", 30, &["2", "3"])]);
    }
    job
}
