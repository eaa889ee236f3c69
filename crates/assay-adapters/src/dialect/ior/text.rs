//! The lines that IOR 4 prints for people, column by column, because scripts cut them by column.

use std::fmt::Write as _;

use assay_model::facts::Capacity;

use super::compile::Access;
use super::options::Options;
use super::result::{AccessResult, Moments, summary};
use super::units::readable;

/// What a report tells of the place and the time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Circumstances {
    /// `4.1.0+dev (assay 0.1.0)`.
    pub version: String,
    /// When it began: `Sat Nov 21 14:47:44 2026`.
    pub began: String,
    /// The command as it was typed.
    pub command: String,
    /// System and host: `Linux node1`.
    pub machine: (String, String),
    /// The file system below the test file, where it tells.
    pub capacity: Option<Capacity>,
}

const MIB: f64 = 1_048_576.0;

fn key(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key:<20}: {value}");
}

/// Everything before the first result.
#[must_use]
pub fn start(options: &Options, circumstances: &Circumstances) -> String {
    let (system, host) = &circumstances.machine;
    let mut text =
        format!("IOR-{}: MPI Coordinated Test of Parallel I/O\n", circumstances.version);
    key(&mut text, "Began", &circumstances.began);
    key(&mut text, "Command line", &circumstances.command);
    key(&mut text, "Machine", &format!("{system} {host}"));
    key(&mut text, "TestID", "0");
    key(&mut text, "StartTime", &circumstances.began);
    key(&mut text, "Path", &first_file(options));
    if let Some(capacity) = circumstances.capacity {
        key(&mut text, "FS", &filled(capacity));
    }
    text.push_str("\nOptions: \n");
    for (name, value) in described(options) {
        key(&mut text, name, &value);
    }
    text.push_str(
        "\nResults: \n\n\
         access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\
         ------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----\n",
    );
    text
}

/// The first file that is opened.
#[must_use]
pub fn first_file(options: &Options) -> String {
    match options.file_per_rank {
        true => format!("{}.00000000", options.test_file),
        false => options.test_file.clone(),
    }
}

fn filled(capacity: Capacity) -> String {
    let Capacity { bytes, free_bytes, files, free_files } = capacity;
    let used = |all: u64, free: u64| 100.0 * (1.0 - free as f64 / all.max(1) as f64);
    let (size, unit) = match bytes >> 40 {
        0 => (bytes as f64 / 1_073_741_824.0, "GiB"),
        _ => (bytes as f64 / 1_099_511_627_776.0, "TiB"),
    };
    format!(
        "{size:.1} {unit}   Used FS: {:.1}%   Inodes: {:.1} Mi   Used Inodes: {:.1}%",
        used(bytes, free_bytes),
        files as f64 / MIB,
        used(files, free_files)
    )
}

/// The options in IOR's words and order.
#[must_use]
pub fn described(options: &Options) -> Vec<(&'static str, String)> {
    let ranks = options.ranks.to_string();
    let mut list = vec![
        ("api", "POSIX".to_owned()),
        ("apiVersion", String::new()),
        ("test filename", options.test_file.clone()),
        ("access", access(options).to_owned()),
        ("type", "independent".to_owned()),
        ("segments", options.segments.to_string()),
        ("ordering in a file", if options.random { "random" } else { "sequential" }.to_owned()),
    ];
    match options.reorder {
        true => {
            list.push(("ordering inter file", "constant task offset".to_owned()));
            list.push(("task offset", options.reorder_offset.to_string()));
        }
        false => list.push(("ordering inter file", "no tasks offsets".to_owned())),
    }
    list.extend([
        ("nodes", "1".to_owned()),
        ("tasks", ranks.clone()),
        ("clients per node", ranks),
        ("memoryBuffer", "CPU".to_owned()),
        ("dataAccess", "CPU".to_owned()),
        ("GPUDirect", "0".to_owned()),
        ("repetitions", options.repetitions.to_string()),
        ("xfersize", readable(options.transfer_bytes)),
        ("blocksize", readable(options.block_bytes)),
        ("aggregate filesize", readable(options.aggregate_bytes())),
    ]);
    if options.deadline_s > 0 {
        list.push(("stonewallingTime", options.deadline_s.to_string()));
        list.push(("stoneWallingWearOut", "0".to_owned()));
    }
    if options.verbose > 0 {
        list.push(("verbose", options.verbose.to_string()));
    }
    list
}

const fn access(options: &Options) -> &'static str {
    if options.file_per_rank { "file-per-process" } else { "single-shared-file" }
}

/// The line of one result.
#[must_use]
pub fn result(options: &Options, result: &AccessResult) -> String {
    let name = if result.access == Access::Write { "write" } else { "read" };
    let columns = [
        Some(result.bytes_per_s() / MIB),
        Some(result.transfers_per_s()),
        Some(result.latency_s),
        Some(options.block_bytes as f64 / 1024.0),
        Some(options.transfer_bytes as f64 / 1024.0),
        // Files are opened before the clock starts and closed after it stops.
        None,
        Some(result.elapsed_s),
        None,
        Some(result.elapsed_s),
    ];
    let widths = [11, 11, 12, 11, 11, 11, 11, 11, 11];
    let mut line = format!("{name:<10}");
    for (value, width) in columns.into_iter().zip(widths) {
        let _ = write!(line, "{:<width$}", number(value));
    }
    let _ = writeln!(line, "{:<4}", result.repetition);
    line
}

/// With six digits behind the point below 1, with two below 3600, with none above.
fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value < 1.0 => format!("{value:.6}"),
        Some(value) if value < 3600.0 => format!("{value:.2}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Everything behind the last result.
#[must_use]
pub fn end(options: &Options, results: &[AccessResult], finished: &str) -> String {
    let mut text = String::new();
    for (name, access) in [("Max Write: ", Access::Write), ("Max Read:  ", Access::Read)] {
        if let Some(summary) = summary(results, access) {
            let rate = summary.bytes_per_s.greatest;
            let (mib, mb) = (rate / MIB, rate / 1e6);
            let _ = writeln!(text, "{name}{mib:.2} MiB/sec ({mb:.2} MB/sec)");
        }
    }
    text.push_str(
        "\nSummary of all tests:\n\
         Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) \
         Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize \
         aggs(MiB)   API RefNum\n",
    );
    for (name, access) in [("write", Access::Write), ("read", Access::Read)] {
        let Some(summary) = summary(results, access) else { continue };
        let done = results.iter().filter(|it| it.access == access).count();
        let _ = write!(text, "{name:<9} {}", moments(summary.bytes_per_s, MIB));
        let _ = write!(text, "{}", moments(summary.transfers_per_s, 1.0));
        let _ = writeln!(
            text,
            "{:10.5}         NA            NA {:5} {:6} {:3} {done:4} {:3} {:5} {:8} {:9} {:4} \
             {:6} {:8} {:8} {:9.1} {:3} {:6}",
            summary.mean_s,
            0,
            options.ranks,
            options.ranks,
            u32::from(options.file_per_rank),
            u32::from(options.reorder),
            options.reorder_offset,
            0,
            0,
            options.segments,
            options.block_bytes,
            options.transfer_bytes,
            summary.bytes as f64 / MIB,
            "POSIX",
            options.ref_num
        );
    }
    key(&mut text, "Finished", finished);
    text
}

fn moments(of: Moments, by: f64) -> String {
    let Moments { greatest, least, mean, deviation } = of;
    let mut text = String::new();
    for value in [greatest, least, mean, deviation] {
        let _ = write!(text, "{:10.2} ", value / by);
    }
    text
}

/// A line per result, for `summaryFormat=CSV`.
#[must_use]
pub fn csv(options: &Options, results: &[AccessResult]) -> String {
    let mut text =
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),\
                    total(s),numTasks,iter\n"
            .to_owned();
    for result in results {
        let _ = writeln!(
            text,
            "{},{:.4},{:.4},{:.4},{:.4},{:.4},,{:.4},,{:.4},{},{}",
            if result.access == Access::Write { "write" } else { "read" },
            result.bytes_per_s() / MIB,
            result.transfers_per_s(),
            result.latency_s,
            options.block_bytes as f64 / 1024.0,
            options.transfer_bytes as f64 / 1024.0,
            result.elapsed_s,
            result.elapsed_s,
            options.ranks,
            result.repetition
        );
    }
    text
}
