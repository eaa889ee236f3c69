//! IOR 4's human-readable output, with its exact columns, because scripts cut lines by column.

use std::fmt::Write as _;

use assay_model::facts::FileSystemCapacity;
use serde::{Deserialize, Serialize};

use super::compile::{IorAccess, file_name};
use super::options::IorOptions;
use super::result::{AccessResult, IorTestResult, Moments, Stonewall, summarize};
use super::units::format_size;

/// Version, time and machine of a run, for its report.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct IorRunInfo {
    /// `4.1.0+dev (assay 0.1.0)`.
    pub version: String,
    /// Start time: `Sat Nov 21 14:47:44 2026`.
    pub began: String,
    /// Command as typed.
    pub command: String,
    /// System and host: `Linux node1`.
    pub machine: (String, String),
}

const MIB: f64 = 1_048_576.0;

fn push_key(text: &mut String, key: &str, value: &str) {
    let _ = writeln!(text, "{key:<20}: {value}");
}

/// Renders the header before all tests.
pub fn render_head(run_info: &IorRunInfo) -> String {
    let (system, host) = &run_info.machine;
    let mut text = format!("IOR-{}: MPI Coordinated Test of Parallel I/O\n", run_info.version);
    push_key(&mut text, "Began", &run_info.began);
    push_key(&mut text, "Command line", &run_info.command);
    push_key(&mut text, "Machine", &format!("{system} {host}"));
    text
}

/// Renders a test up to its first result; `number` counts tests from 0.
pub fn render_start(test: &IorTestResult, number: usize) -> String {
    let mut text = String::new();
    push_key(&mut text, "TestID", &number.to_string());
    push_key(&mut text, "StartTime", &test.began);
    push_key(&mut text, "Path", &file_name(&test.options, 0, 0));
    if let Some(capacity) = test.capacity {
        push_key(&mut text, "FS", &format_capacity(capacity));
    }
    text.push_str("\nOptions: \n");
    for (name, value) in describe_options(&test.options) {
        push_key(&mut text, name, &value);
    }
    text.push_str(
        "\nResults: \n\n\
         access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter\n\
         ------    ---------  ----       ----------  ---------- ---------  --------   --------   --------   --------   ----\n",
    );
    text
}

pub(crate) fn format_capacity(capacity: FileSystemCapacity) -> String {
    let FileSystemCapacity { bytes, free_bytes, files, free_files } = capacity;
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

/// Lists the options with IOR's names and in IOR's order.
pub fn describe_options(options: &IorOptions) -> Vec<(&'static str, String)> {
    let mut list = vec![
        ("api", "POSIX".to_owned()),
        ("apiVersion", String::new()),
        ("test filename", options.test_file.clone()),
        ("access", access(options).to_owned()),
        ("type", "independent".to_owned()),
        ("segments", options.segments.to_string()),
        (
            "ordering in a file",
            if options.random > 0 { "random" } else { "sequential" }.to_owned(),
        ),
    ];
    let offset = || ("task offset", options.reorder_offset.to_string());
    match (options.reorder, options.reorder_random) {
        (false, 0) => list.push(("ordering inter file", "no tasks offsets".to_owned())),
        (true, _) => {
            list.extend([("ordering inter file", "constant task offset".to_owned()), offset()]);
        }
        (false, 1) => list.extend([
            ("ordering inter file", "random task offset".to_owned()),
            offset(),
            ("reorder random seed", options.reorder_seed.to_string()),
        ]),
        // IOR does not print the order in this case.
        (false, _) => {}
    }
    list.extend([
        ("nodes", options.nodes().to_string()),
        ("tasks", options.ranks.to_string()),
        ("clients per node", options.tasks_per_node().to_string()),
        ("memoryBuffer", "CPU".to_owned()),
        ("dataAccess", "CPU".to_owned()),
        ("GPUDirect", "0".to_owned()),
        ("repetitions", options.repetitions.to_string()),
        ("xfersize", format_size(options.transfer_bytes)),
        ("blocksize", format_size(options.block_bytes)),
        ("aggregate filesize", format_size(options.aggregate_bytes())),
    ]);
    if options.verbose > 0 {
        list.push(("verbose", options.verbose.to_string()));
    }
    if options.deadline_s > 0 {
        list.push(("stonewallingTime", options.deadline_s.to_string()));
        list.push(("stoneWallingWearOut", u8::from(options.wear_out).to_string()));
    }
    list
}

const fn access(options: &IorOptions) -> &'static str {
    if options.file_per_rank { "file-per-process" } else { "single-shared-file" }
}

/// Returns the line that IOR prints at a deadline with wear-out.
fn stonewall_line(options: &IorOptions, wall: Stonewall) -> String {
    let gib = |transfers: u64| (transfers * options.transfer_bytes) as f64 / 1_073_741_824.0;
    let Stonewall { minimum, maximum: most, all, elapsed_s } = wall;
    format!(
        "stonewalling pairs accessed min: {minimum} max: {most} -- min data: {:.1} GiB mean data: {:.1} GiB \
         time: {elapsed_s:.1}s\n",
        gib(minimum),
        gib(all / u64::from(options.ranks.max(1)))
    )
}

/// Renders the line of one result.
pub fn render_result(options: &IorOptions, result: &AccessResult) -> String {
    let name = if result.access == IorAccess::Write { "write" } else { "read" };
    let widths = [11, 11, 12, 11, 11, 11, 11, 11, 11];
    let mut line = result.stonewall.map_or_else(String::new, |it| stonewall_line(options, it));
    let _ = write!(line, "{name:<10}");
    for (value, width) in columns(options, result).into_iter().zip(widths) {
        let _ = write!(line, "{:<width$}", format_number(value));
    }
    let _ = writeln!(line, "{:<4}", result.repetition);
    line
}

/// Returns the numbers of a result in column order.
fn columns(options: &IorOptions, result: &AccessResult) -> [f64; 9] {
    [
        result.bytes_per_s() / MIB,
        result.transfers_per_s(),
        result.latency_s,
        options.block_bytes as f64 / 1024.0,
        options.transfer_bytes as f64 / 1024.0,
        result.open_s,
        result.elapsed_s,
        result.close_s,
        result.total_s(),
    ]
}

/// Formats with six decimals below 1, two below 3600, none above.
fn format_number(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.6}"),
        ..3600.0 => format!("{value:.2}"),
        _ => format!("{value:.0}"),
    }
}

/// Renders the lines after the results of one test, which scripts for IOR 3 expect.
pub fn render_maximum(test: &IorTestResult) -> String {
    let mut text = String::new();
    for (name, access) in [("Max Write: ", IorAccess::Write), ("Max Read:  ", IorAccess::Read)]
    {
        if let Some(summary) = summarize(test, access) {
            let rate = summary.bytes_per_s.maximum;
            let (mib, mb) = (rate / MIB, rate / 1e6);
            let _ = writeln!(text, "{name}{mib:.2} MiB/sec ({mb:.2} MB/sec)");
        }
    }
    text
}

/// Renders the text after the last test.
pub fn render_end(tests: &[IorTestResult], finished: &str) -> String {
    let mut text = "\nSummary of all tests:\n\
         Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev   Max(OPs)   Min(OPs)  Mean(OPs)     StdDev    Mean(s) \
         Stonewall(s) Stonewall(MiB) Test# #Tasks tPN reps fPP reord reordoff reordrand seed segcnt   blksiz    xsize \
         aggs(MiB)   API RefNum\n"
        .to_owned();
    for (number, test) in tests.iter().enumerate() {
        for access in [IorAccess::Write, IorAccess::Read] {
            summary_line(&mut text, test, number, access);
        }
    }
    push_key(&mut text, "Finished", finished);
    text
}

/// Renders the whole output.
pub fn document(run_info: &IorRunInfo, tests: &[IorTestResult], finished: &str) -> String {
    let mut text = render_head(run_info);
    for (number, test) in tests.iter().enumerate() {
        text.push_str(&render_start(test, number));
        let results = test.results.iter().map(|it| render_result(&test.options, it));
        text.extend(results);
        text.push_str(&render_maximum(test));
    }
    text + &render_end(tests, finished)
}

fn summary_line(text: &mut String, test: &IorTestResult, number: usize, access: IorAccess) {
    let Some(summary) = summarize(test, access) else { return };
    let options = &test.options;
    let name = if access == IorAccess::Write { "write" } else { "read" };
    let done = test.results.iter().filter(|it| it.access == access).count();
    let _ = write!(text, "{name:<9} {}", moments(summary.bytes_per_s, MIB));
    let _ = write!(text, "{}", moments(summary.transfers_per_s, 1.0));
    let _ = match summary.stonewall {
        None => write!(text, "{:10.5} {:>10} {:>13} ", summary.mean_s, "NA", "NA"),
        Some((seconds, bytes_per_s)) => {
            write!(text, "{:10.5} {seconds:10.2} {:13.2} ", summary.mean_s, bytes_per_s / MIB)
        }
    };
    let _ = writeln!(
        text,
        "{number:5} {:6} {:3} {done:4} {:3} {:5} {:8} {:9} {:4} {:6} {:8} {:8} {:9.1} {:3} {:6}",
        options.ranks,
        options.tasks_per_node(),
        u32::from(options.file_per_rank),
        u32::from(options.reorder),
        options.reorder_offset,
        options.reorder_random,
        options.reorder_seed,
        options.segments,
        options.block_bytes,
        options.transfer_bytes,
        summary.bytes as f64 / MIB,
        "POSIX",
        options.ref_num
    );
}

fn moments(moments: Moments, unit: f64) -> String {
    let Moments { maximum, minimum, mean, deviation } = moments;
    let mut text = String::new();
    for value in [maximum, minimum, mean, deviation] {
        let _ = write!(text, "{:10.2} ", value / unit);
    }
    text
}

/// Renders one line per result, for `summaryFormat=CSV`.
pub fn csv(tests: &[IorTestResult]) -> String {
    let mut text =
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),\
                    total(s),numTasks,iter\n"
            .to_owned();
    for (options, result) in
        tests.iter().flat_map(|it| it.results.iter().map(|r| (&it.options, r)))
    {
        let name = if result.access == IorAccess::Write { "write" } else { "read" };
        text.push_str(name);
        for number in columns(options, result) {
            let _ = write!(text, ",{number:.4}");
        }
        let _ = writeln!(text, ",{},{}", options.ranks, result.repetition);
    }
    text
}
