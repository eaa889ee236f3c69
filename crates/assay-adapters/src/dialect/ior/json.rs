//! IOR's `summaryFormat=JSON`: the same names and nesting.

use serde_json::{Map, Value, json};

use super::compile::Access;
use super::options::Options;
use super::result::{AccessResult, Moments, summary};
use super::text::{Circumstances, described, first_file};

const MIB: f64 = 1_048_576.0;

/// The document.
#[must_use]
pub fn document(
    options: &Options,
    circumstances: &Circumstances,
    results: &[AccessResult],
    finished: &str,
) -> String {
    let (system, host) = &circumstances.machine;
    let summaries = [Access::Write, Access::Read].into_iter();
    let summaries: Vec<Value> =
        summaries.filter_map(|access| one_summary(options, results, access)).collect();
    let mut test = json!({
        "TestID": 0,
        "StartTime": circumstances.began,
        "Path": first_file(options),
        "Parameters": parameters(options, &format!("{host}({system})")),
        "Options": shown_options(options),
        "Results": results.iter().map(|it| one_result(options, it)).collect::<Vec<_>>(),
    });
    if let Some(capacity) = circumstances.capacity {
        test["Capacity"] = format!("{:.1} GiB", capacity.bytes as f64 / 1_073_741_824.0).into();
        let used = 100.0 * (1.0 - capacity.free_bytes as f64 / capacity.bytes.max(1) as f64);
        test["Used Capacity"] = format!("{used:.1}%").into();
        test["Inodes"] = format!("{:.1} Mi", capacity.files as f64 / MIB).into();
        let used = 100.0 * (1.0 - capacity.free_files as f64 / capacity.files.max(1) as f64);
        test["Used Inodes"] = format!("{used:.1}%").into();
    }
    let document = json!({
        "Version": circumstances.version,
        "Began": circumstances.began,
        "Command line": circumstances.command,
        "Machine": format!("{system} {host}"),
        "tests": [test],
        "summary": summaries,
        "Finished": finished,
    });
    format!("{document:#}\n")
}

/// Numbers are numbers and the rest is text, as IOR has it.
fn shown_options(options: &Options) -> Value {
    const NUMBERS: [&str; 9] = [
        "segments",
        "task offset",
        "nodes",
        "tasks",
        "clients per node",
        "repetitions",
        "stonewallingTime",
        "stoneWallingWearOut",
        "verbose",
    ];
    let entry = |(name, value): (&'static str, String)| {
        let number = value.parse::<u64>().ok().filter(|_| NUMBERS.contains(&name));
        (name.to_owned(), number.map_or_else(|| Value::from(value), Value::from))
    };
    Value::Object(described(options).into_iter().map(entry).collect::<Map<_, _>>())
}

fn parameters(options: &Options, platform: &str) -> Value {
    let texts = [
        ("api", "POSIX"),
        ("platform", platform),
        ("testFileName", options.test_file.as_str()),
        ("options", "(null)"),
        ("data packet type", "g"),
    ];
    let numbers = [
        ("testID", 0),
        ("refnum", options.ref_num),
        ("deadlineForStonewall", u64::from(options.deadline_s)),
        ("stoneWallingWearOut", 0),
        ("maxTimeDuration", u64::from(options.most_minutes)),
        ("outlierThreshold", 0),
        ("dryRun", 0),
        ("nodes", 1),
        ("memoryPerTask", 0),
        ("memoryPerNode", 0),
        ("tasksPerNode", u64::from(options.ranks)),
        ("repetitions", u64::from(options.repetitions)),
        ("multiFile", 0),
        ("interTestDelay", u64::from(options.delay_s)),
        ("fsync", u64::from(options.fsync)),
        ("fsyncperwrite", u64::from(options.fsync_per_write)),
        ("useExistingTestFile", u64::from(options.use_existing)),
        ("uniqueDir", 0),
        ("singleXferAttempt", 0),
        ("readFile", u64::from(options.read)),
        ("writeFile", u64::from(options.write)),
        ("filePerProc", u64::from(options.file_per_rank)),
        ("reorderTasks", u64::from(options.reorder)),
        ("reorderTasksRandom", 0),
        ("reorderTasksRandomSeed", 0),
        ("randomOffset", u64::from(options.random)),
        ("checkWrite", u64::from(options.check_write)),
        ("checkRead", u64::from(options.check_read)),
        ("dataPacketType", 0),
        ("keepFile", u64::from(options.keep)),
        ("keepFileWithError", 0),
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
    Value::Object(texts.chain(numbers).collect())
}

fn one_result(options: &Options, result: &AccessResult) -> Value {
    json!({
        "access": if result.access == Access::Write { "write" } else { "read" },
        "bwMiB": result.bytes_per_s() / MIB,
        "blockKiB": options.block_bytes as f64 / 1024.0,
        "xferKiB": options.transfer_bytes as f64 / 1024.0,
        "iops": result.transfers_per_s(),
        "latency": result.latency_s,
        // Below zero is what IOR has for a time that was not taken.
        "openTime": -1.0,
        "wrRdTime": result.elapsed_s,
        "closeTime": -1.0,
        "totalTime": result.elapsed_s,
    })
}

fn one_summary(options: &Options, results: &[AccessResult], access: Access) -> Option<Value> {
    let summary = summary(results, access)?;
    let Moments { greatest, least, mean, deviation } = summary.bytes_per_s;
    let transfers = summary.transfers_per_s;
    let done = results.iter().filter(|it| it.access == access).count();
    Some(json!({
        "operation": if access == Access::Write { "write" } else { "read" },
        "API": "POSIX",
        "TestID": 0,
        "ReferenceNumber": options.ref_num,
        "segmentCount": options.segments,
        "blockSize": options.block_bytes,
        "transferSize": options.transfer_bytes,
        "numTasks": options.ranks,
        "tasksPerNode": options.ranks,
        "repetitions": done,
        "filePerProc": u8::from(options.file_per_rank),
        "reorderTasks": u8::from(options.reorder),
        "taskPerNodeOffset": options.reorder_offset,
        "reorderTasksRandom": 0,
        "reorderTasksRandomSeed": 0,
        "bwMaxMIB": greatest / MIB,
        "bwMinMIB": least / MIB,
        "bwMeanMIB": mean / MIB,
        "bwStdMIB": deviation / MIB,
        "OPsMax": transfers.greatest,
        "OPsMin": transfers.least,
        "OPsMean": transfers.mean,
        "OPsSD": transfers.deviation,
        "MeanTime": summary.mean_s,
        "xsizeMiB": summary.bytes as f64 / MIB,
    }))
}
