//! IOR's `summaryFormat=JSON`, with the same names and nesting.

use serde_json::{Map, Value, json};

use super::compile::{IorAccess, file_name};
use super::options::IorOptions;
use super::result::{AccessResult, IorTestResult, Moments, summarize};
use super::text::{IorRunInfo, describe_options};

const MIB: f64 = 1_048_576.0;

/// Renders the document.
pub fn document(run_info: &IorRunInfo, tests: &[IorTestResult], finished: &str) -> String {
    let (system, host) = &run_info.machine;
    let numbered = || tests.iter().enumerate();
    let summaries: Vec<Value> = numbered()
        .flat_map(|(number, test)| {
            let accesses = [IorAccess::Write, IorAccess::Read].into_iter();
            accesses.filter_map(move |access| summary_json(test, number, access))
        })
        .collect();
    let platform = format!("{host}({system})");
    let document = json!({
        "Version": run_info.version,
        "Began": run_info.began,
        "Command line": run_info.command,
        "Machine": format!("{system} {host}"),
        "tests": numbered().map(|(number, it)| test_json(it, number, &platform)).collect::<Vec<_>>(),
        "summary": summaries,
        "Finished": finished,
    });
    format!("{document:#}\n")
}

fn test_json(test: &IorTestResult, number: usize, platform: &str) -> Value {
    let options = &test.options;
    let mut shown = json!({
        "TestID": number,
        "StartTime": test.began,
        "Path": file_name(options, 0, 0),
        "Parameters": parameters(options, number, platform),
        "Options": options_json(options),
        "Results": test.results.iter().map(|it| result_json(options, it)).collect::<Vec<_>>(),
    });
    if options.verbose > 0 {
        shown["max"] = maximum(test);
    }
    if let Some(capacity) = test.capacity {
        shown["Capacity"] =
            format!("{:.1} GiB", capacity.bytes as f64 / 1_073_741_824.0).into();
        let used = 100.0 * (1.0 - capacity.free_bytes as f64 / capacity.bytes.max(1) as f64);
        shown["Used Capacity"] = format!("{used:.1}%").into();
        shown["Inodes"] = format!("{:.1} Mi", capacity.files as f64 / MIB).into();
        let used = 100.0 * (1.0 - capacity.free_files as f64 / capacity.files.max(1) as f64);
        shown["Used Inodes"] = format!("{used:.1}%").into();
    }
    shown
}

/// Returns the maximum bandwidths, which IOR adds with -v.
fn maximum(test: &IorTestResult) -> Value {
    let mut shown = Map::new();
    for (name, access) in [("write", IorAccess::Write), ("read", IorAccess::Read)] {
        if let Some(summary) = summarize(test, access) {
            let rate = summary.bytes_per_s.maximum;
            shown.insert(format!("{name}MiB"), (rate / MIB).into());
            shown.insert(format!("{name}MB"), (rate / 1e6).into());
        }
    }
    Value::Object(shown)
}

/// Converts the options to JSON; numbers and text have the same types as in IOR.
fn options_json(options: &IorOptions) -> Value {
    const NUMBERS: [&str; 10] = [
        "segments",
        "task offset",
        "reorder random seed",
        "nodes",
        "tasks",
        "clients per node",
        "repetitions",
        "stonewallingTime",
        "stoneWallingWearOut",
        "verbose",
    ];
    let entry = |(name, value): (&'static str, String)| {
        let number = value.parse::<i64>().ok().filter(|_| NUMBERS.contains(&name));
        (name.to_owned(), number.map_or_else(|| Value::from(value), Value::from))
    };
    Value::Object(describe_options(options).into_iter().map(entry).collect::<Map<_, _>>())
}

/// IOR's order of packet types. IOR's names for them are shifted by one; the output repeats that.
const PACKETS: [char; 4] = ['t', 'o', 'i', 'r'];

fn parameters(options: &IorOptions, number: usize, platform: &str) -> Value {
    let packet = PACKETS.iter().position(|it| *it == options.packet).unwrap_or(0);
    let texts = [
        ("api", "POSIX"),
        ("platform", platform),
        ("testFileName", options.test_file.as_str()),
        ("options", "(null)"),
        ("data packet type", ["g", "t", "o", "i"][packet]),
    ];
    let numbers = [
        ("testID", number as u64),
        ("refnum", options.ref_num),
        ("deadlineForStonewall", u64::from(options.deadline_s)),
        ("stoneWallingWearOut", u64::from(options.wear_out)),
        ("maxTimeDuration", u64::from(options.max_minutes)),
        ("outlierThreshold", 0),
        ("dryRun", 0),
        ("nodes", u64::from(options.nodes())),
        ("memoryPerTask", 0),
        ("memoryPerNode", 0),
        ("tasksPerNode", u64::from(options.tasks_per_node())),
        ("repetitions", u64::from(options.repetitions)),
        ("multiFile", u64::from(options.multi_file)),
        ("interTestDelay", u64::from(options.delay_s)),
        ("fsync", u64::from(options.fsync)),
        ("fsyncperwrite", u64::from(options.fsync_per_write)),
        ("useExistingTestFile", u64::from(options.use_existing)),
        ("uniqueDir", u64::from(options.unique_dir)),
        ("singleXferAttempt", 0),
        ("readFile", u64::from(options.read)),
        ("writeFile", u64::from(options.write)),
        ("filePerProc", u64::from(options.file_per_rank)),
        ("reorderTasks", u64::from(options.reorder)),
        ("reorderTasksRandom", u64::from(options.reorder_random)),
        ("randomOffset", u64::from(options.random)),
        ("checkWrite", u64::from(options.check_write)),
        ("checkRead", u64::from(options.check_read)),
        ("dataPacketType", packet as u64),
        ("keepFile", u64::from(options.keep)),
        ("keepFileWithError", u64::from(options.keep_with_error)),
        ("warningAsErrors", 0),
        ("verbose", u64::from(options.verbose)),
        ("setTimeStampSignature/incompressibleSeed", options.signature),
        ("collective", 0),
        ("segmentCount", options.segments),
        ("transferSize", options.transfer_bytes),
        ("blockSize", options.block_bytes),
    ];
    let texts = texts.into_iter().map(|(name, text)| (name.to_owned(), Value::from(text)));
    let numbers =
        numbers.into_iter().map(|(name, number)| (name.to_owned(), Value::from(number)));
    let seed = ("reorderTasksRandomSeed".to_owned(), Value::from(options.reorder_seed));
    Value::Object(texts.chain(numbers).chain([seed]).collect())
}

fn result_json(options: &IorOptions, result: &AccessResult) -> Value {
    json!({
        "access": if result.access == IorAccess::Write { "write" } else { "read" },
        "bwMiB": result.bytes_per_s() / MIB,
        "blockKiB": options.block_bytes as f64 / 1024.0,
        "xferKiB": options.transfer_bytes as f64 / 1024.0,
        "iops": result.transfers_per_s(),
        "latency": result.latency_s,
        "openTime": result.open_s,
        "wrRdTime": result.elapsed_s,
        "closeTime": result.close_s,
        "totalTime": result.total_s(),
    })
}

fn summary_json(test: &IorTestResult, number: usize, access: IorAccess) -> Option<Value> {
    let summary = summarize(test, access)?;
    let IorTestResult { options, results, .. } = test;
    let Moments { maximum, minimum, mean, deviation } = summary.bytes_per_s;
    let transfers = summary.transfers_per_s;
    let done = results.iter().filter(|it| it.access == access).count();
    let mut shown = json!({
        "operation": if access == IorAccess::Write { "write" } else { "read" },
        "API": "POSIX",
        "TestID": number,
        "ReferenceNumber": options.ref_num,
        "segmentCount": options.segments,
        "blockSize": options.block_bytes,
        "transferSize": options.transfer_bytes,
        "numTasks": options.ranks,
        "tasksPerNode": options.tasks_per_node(),
        "repetitions": done,
        "filePerProc": u8::from(options.file_per_rank),
        "reorderTasks": u8::from(options.reorder),
        "taskPerNodeOffset": options.reorder_offset,
        "reorderTasksRandom": options.reorder_random,
        "reorderTasksRandomSeed": options.reorder_seed,
        "bwMaxMIB": maximum / MIB,
        "bwMinMIB": minimum / MIB,
        "bwMeanMIB": mean / MIB,
        "bwStdMIB": deviation / MIB,
        "OPsMax": transfers.maximum,
        "OPsMin": transfers.minimum,
        "OPsMean": transfers.mean,
        "OPsSD": transfers.deviation,
        "MeanTime": summary.mean_s,
        "xsizeMiB": summary.bytes as f64 / MIB,
    });
    if let Some((seconds, bytes_per_s)) = summary.stonewall {
        shown["StoneWallTime"] = seconds.into();
        shown["StoneWallbwMeanMIB"] = (bytes_per_s / MIB).into();
    }
    Some(shown)
}
