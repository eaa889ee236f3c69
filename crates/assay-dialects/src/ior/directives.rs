//! Directives: options by their long names, in `-O` and in scripts.

use super::options::{IorFormat, IorOptions, IorOptionsError};
use assay_model::spelling::nearest_word;

/// Directives with a value that also have a letter; IOR ignores the case of the names.
const VALUES: &[(&str, char)] = &[
    ("api", 'a'),
    ("blockSize", 'b'),
    ("dataPacketType", 'l'),
    ("deadlineForStonewalling", 'D'),
    ("interTestDelay", 'd'),
    ("maxTimeDuration", 'T'),
    ("numTasks", 'N'),
    ("outlierThreshold", 'j'),
    ("refNum", 'A'),
    ("reorderTasksRandomSeed", 'X'),
    ("repetitions", 'i'),
    ("segmentCount", 's'),
    ("setTimeStampSignature", 'G'),
    ("taskPerNodeOffset", 'Q'),
    ("testFile", 'o'),
    ("transferSize", 't'),
];
/// Switches with a letter; a value of 1 or more turns them on.
const SWITCHES: &[(&str, char)] = &[
    ("checkRead", 'R'),
    ("checkWrite", 'W'),
    ("filePerProc", 'F'),
    ("fsync", 'e'),
    ("fsyncPerWrite", 'Y'),
    ("intraTestBarriers", 'g'),
    ("keepFile", 'k'),
    ("keepFileWithError", 'K'),
    ("multiFile", 'm'),
    ("quitOnError", 'q'),
    ("randomOffset", 'z'),
    ("readFile", 'r'),
    ("reorderTasks", 'C'),
    ("reorderTasksConstant", 'C'),
    ("reorderTasksRandom", 'Z'),
    ("singleXferAttempt", 'x'),
    ("uniqueDir", 'u'),
    ("useExistingTestFile", 'E'),
    ("useO_DIRECT", 'B'),
    ("verbose", 'v'),
    ("writeFile", 'w'),
];
/// Implemented directives without a letter.
const OTHERS: &[&str] = &[
    "stoneWallingStatusFile",
    "stoneWallingWearOut",
    "stoneWallingWearOutIterations",
    "summaryFile",
    "summaryFormat",
];
/// Rejected directives with the reason; the value 0 is accepted.
const REJECTED: &[(&str, &str)] = &[
    ("allocateBufferOnGPU", "memory of graphics cards is not used"),
    ("collective", "POSIX I/O is never collective"),
    ("debug", "debugging output is not supported"),
    ("dualMount", "there is one mount point"),
    ("GPUDirect", "memory of graphics cards is not used"),
    ("GPUid", "memory of graphics cards is not used"),
    ("interIODelay", "transfers follow each other at once"),
    ("memoryPerNode", "no memory is reserved; useO_DIRECT=1 avoids the page cache"),
    ("memoryPerTask", "no memory is reserved; useO_DIRECT=1 avoids the page cache"),
    ("minTimeDuration", "a repetition is done once"),
    ("numNodes", "ranks are threads of one host"),
    ("numTasksOnNode0", "ranks are threads of one host"),
    ("platform", "the platform is this machine"),
    ("savePerOpDataCSV", "single transfers are not logged"),
    ("saveRankPerformanceDetailsCSV", "details of ranks are not written"),
    ("summaryAlways", "there is one summary after all tests"),
    ("warningAsErrors", "there are no warnings"),
];

/// Applies `name=value`.
pub(super) fn apply(options: &mut IorOptions, text: &str) -> Result<(), IorOptionsError> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let (name, value) = (name.trim(), value.trim());
    if name.is_empty() {
        let why = "it must be NAME=VALUE, like blockSize=4m";
        return Err(IorOptionsError::InvalidValue {
            name: "-O".into(),
            value: text.to_owned(),
            why,
        });
    }
    let is = |known: &str| known.eq_ignore_ascii_case(name);
    if let Some((_, letter)) = VALUES.iter().find(|(known, _)| is(known)) {
        return options.apply_value(*letter, value);
    }
    if let Some((_, letter)) = SWITCHES.iter().find(|(known, _)| is(known)) {
        return apply_switch(options, *letter, name, value);
    }
    let Some(other) = OTHERS.iter().find(|known| is(known)) else {
        return match REJECTED.iter().find(|(known, _)| is(known)) {
            Some(_) if value == "0" => Ok(()),
            Some((_, why)) => Err(IorOptionsError::Unsupported { name: text.to_owned(), why }),
            None => {
                let all = VALUES.iter().chain(SWITCHES).map(|(known, _)| *known);
                let near = nearest_word(name, all.chain(OTHERS.iter().copied()));
                Err(IorOptionsError::UnknownOption { name: name.to_owned(), near })
            }
        };
    };
    apply_without_letter(options, other, value)
}

/// Sets a switch: `1` = given once, `2` = given twice, `0` = off.
fn apply_switch(
    options: &mut IorOptions,
    letter: char,
    name: &str,
    value: &str,
) -> Result<(), IorOptionsError> {
    let Ok(times) = value.parse::<u32>().map(|times| times.min(MAX_SWITCH_COUNT)) else {
        let (name, value) = (name.to_owned(), value.to_owned());
        return Err(IorOptionsError::InvalidValue { name, value, why: "it must be 0 or 1" });
    };
    match letter {
        'z' => options.random = times,
        'Z' => options.reorder_random = times,
        'v' => options.verbose = times,
        _ if times > 0 => options.apply_switch(letter),
        'B' => options.direct = false,
        'C' => options.reorder = false,
        'e' => options.fsync = false,
        'E' => options.use_existing = false,
        'F' => options.file_per_rank = false,
        'k' => options.keep = false,
        'K' => options.keep_with_error = false,
        'm' => options.multi_file = false,
        'r' => options.read = false,
        'R' => options.check_read = false,
        'u' => options.unique_dir = false,
        'w' => options.write = false,
        'W' => options.check_write = false,
        'Y' => options.fsync_per_write = false,
        // All others have no effect.
        _ => {}
    }
    Ok(())
}

/// Maximum repetitions of a switch; more have no further effect.
const MAX_SWITCH_COUNT: u32 = 9;

fn apply_without_letter(
    options: &mut IorOptions,
    name: &str,
    value: &str,
) -> Result<(), IorOptionsError> {
    let refuse = |why| {
        let (name, value) = (name.to_owned(), value.to_owned());
        Err(IorOptionsError::InvalidValue { name, value, why })
    };
    match (name, value.to_ascii_lowercase().as_str()) {
        ("summaryFormat", "default") => options.format = IorFormat::Text,
        ("summaryFormat", "json") => options.format = IorFormat::Json,
        ("summaryFormat", "csv") => options.format = IorFormat::Csv,
        ("summaryFormat", _) => return refuse("it must be default, JSON or CSV"),
        ("summaryFile" | "stoneWallingStatusFile", "") => return refuse("it must be a file"),
        ("summaryFile", _) => options.summary_file = Some(value.to_owned()),
        ("stoneWallingStatusFile", _) => options.status_file = Some(value.to_owned()),
        ("stoneWallingWearOut", "0") => options.wear_out = false,
        ("stoneWallingWearOut", "1") => options.wear_out = true,
        ("stoneWallingWearOut", _) => return refuse("it must be 0 or 1"),
        (_, number) => match number.parse() {
            Ok(transfers) => options.wear_out_transfers = transfers,
            Err(_) => return refuse("it must be a number of transfers"),
        },
    }
    Ok(())
}
