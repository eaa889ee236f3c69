//! IOR's options with all their spellings: a letter, a long name with two dashes, and the name in
//! scripts and `-O`, whose case IOR ignores. One row each.

use super::options::{IorFormat, IorOptions};
use super::units;
use crate::option::ValueKind::{Flag, Switch, Text};
use crate::option::words::Apply;
use crate::option::{EmulatedTool, OptionSpec};

/// Option of IOR.
pub(crate) type IorOption = OptionSpec<ApplyIor>;

type ApplyIor = Apply<IorOptions>;

pub(super) const IOR: EmulatedTool = EmulatedTool {
    command: "ior",
    otherwise: "remove it, or run this test with IOR itself; docs/ior.md lists the supported options",
};

/// Maximum repetitions of a switch; more have no further effect.
const MAX_SWITCH_COUNT: u32 = 9;
const NO_GPU: &str = "memory of graphics cards is not used";
const NO_MPI_IO: &str =
    "there are no shared file pointers, strided types and file views without MPI-IO";
const NO_HINTS: &str = "there are no MPI hints";
const NO_HDF5: &str = "there are no data sets, alignment and files of HDF5";
const NO_MEMORY: &str = "no memory is reserved";
const USE_DIRECT: &str = "--posix.odirect or useO_DIRECT=1 avoids the page cache";

pub(crate) const OPTIONS: &[IorOption] = &[
    switch("-B --posix.odirect useO_DIRECT", |o, text| turn(&mut o.direct, text)),
    switch("-C reorderTasks reorderTasksConstant", |o, text| turn(&mut o.reorder, text)),
    switch("-e fsync", |o, text| turn(&mut o.fsync, text)),
    switch("-E useExistingTestFile", |o, text| turn(&mut o.use_existing, text)),
    switch("-F filePerProc", |o, text| turn(&mut o.file_per_rank, text)),
    switch("-k keepFile", |o, text| turn(&mut o.keep, text)),
    switch("-K keepFileWithError", |o, text| turn(&mut o.keep_with_error, text)),
    switch("-m multiFile", |o, text| turn(&mut o.multi_file, text)),
    switch("-r readFile", |o, text| turn(&mut o.read, text)),
    switch("-R checkRead", |o, text| turn(&mut o.check_read, text)),
    switch("-u uniqueDir", |o, text| turn(&mut o.unique_dir, text)),
    switch("-w writeFile", |o, text| turn(&mut o.write, text)),
    switch("-W checkWrite", |o, text| turn(&mut o.check_write, text)),
    switch("-Y fsyncPerWrite", |o, text| turn(&mut o.fsync_per_write, text)),
    switch("-v verbose", |o, text| count(&mut o.verbose, text)),
    switch("-z randomOffset", |o, text| count(&mut o.random, text)),
    switch("-Z reorderTasksRandom", |o, text| count(&mut o.reorder_random, text)),
    switch("--dryRun --dry-run", |o, text| turn(&mut o.dry_run, text)),
    switch("--target-on-root", |o, text| turn(&mut o.target_on_root, text)),
    text("-A refNum", |o, text| parse_number(text).map(|it| o.ref_num = it)),
    text("-b blockSize", |o, text| parse_positive(text).map(|it| o.block_bytes = it)),
    text("-t transferSize", |o, text| parse_positive(text).map(|it| o.transfer_bytes = it)),
    text("-s segmentCount", |o, text| parse_positive(text).map(|it| o.segments = it)),
    text("-i repetitions", |o, text| {
        let number = parse_positive(text)?;
        let few = Some(number).filter(|it| *it <= 100_000);
        few.map(|it| o.repetitions = it as u32)
            .ok_or("at most 100,000 repetitions are supported")
    }),
    text("-N --ranks numTasks", |o, text| {
        let number = parse_positive(text)?;
        let few = Some(number).filter(|it| *it <= 4096);
        few.map(|it| o.ranks = it as u32).ok_or("at most 4096 ranks are supported")
    }),
    text("-d interTestDelay", |o, text| {
        // IOR reads the digits before the point.
        let whole = text.and_then(|text| text.split('.').next());
        parse_small(whole).map(|it| o.delay_s = it)
    }),
    text("-D deadlineForStonewalling", |o, text| parse_small(text).map(|it| o.deadline_s = it)),
    text("-T maxTimeDuration", |o, text| parse_small(text).map(|it| o.max_minutes = it)),
    text("-Q taskPerNodeOffset", |o, text| parse_small(text).map(|it| o.reorder_offset = it)),
    text("-G --random-offset-seed setTimeStampSignature", |o, text| {
        let negative = text.and_then(|text| text.parse::<i64>().ok()).filter(|it| *it < 0);
        let seed = negative.map_or_else(|| parse_number(text), |it| Ok(it.cast_unsigned()));
        seed.map(|it| o.signature = it)
    }),
    text("-X reorderTasksRandomSeed", |o, text| {
        let seed = text.and_then(|text| text.parse().ok());
        seed.map(|it| o.reorder_seed = it).ok_or("it must be a whole number")
    }),
    text("-a api", |_, text| match text {
        Some(api) if api.eq_ignore_ascii_case("POSIX") => Ok(()),
        _ => Err("only POSIX is supported"),
    }),
    text("-o testFile", |o, text| {
        let file = text.filter(|file| !file.is_empty() && !file.contains('@'));
        file.map(|it| it.clone_into(&mut o.test_file)).ok_or("it must be one file")
    }),
    text("-l --dataPacketType dataPacketType", |o, text| {
        let first = text.and_then(|text| text.chars().next()).filter(|it| "toir".contains(*it));
        first
            .map(|it| o.packet = it)
            .ok_or("it must be offset, incompressible, timestamp or random")
    }),
    text("--randomPrefill", |o, text| {
        let bytes = text.and_then(units::parse_size);
        bytes.map(|it| o.prefill_bytes = it).ok_or("it must be a size like 2m")
    }),
    text("--destroy-data", |o, text| {
        o.destroy_data.extend(text.map(str::to_owned));
        Ok(())
    }),
    text("summaryFormat", |o, text| {
        o.format = match text.unwrap_or_default().to_ascii_lowercase().as_str() {
            "default" => IorFormat::Text,
            "json" => IorFormat::Json,
            "csv" => IorFormat::Csv,
            _ => return Err("it must be default, JSON or CSV"),
        };
        Ok(())
    }),
    text("summaryFile", |o, text| parse_file(text).map(|it| o.summary_file = Some(it))),
    text("saveRankPerformanceDetailsCSV", |o, text| {
        parse_file(text).map(|it| o.rank_details_file = Some(it))
    }),
    text("stoneWallingStatusFile", |o, text| {
        parse_file(text).map(|it| o.status_file = Some(it))
    }),
    text("stoneWallingWearOut", |o, text| {
        o.wear_out = match text {
            Some("0") => false,
            Some("1") => true,
            _ => return Err("it must be 0 or 1"),
        };
        Ok(())
    }),
    text("stoneWallingWearOutIterations", |o, text| {
        let transfers = text.and_then(|text| text.parse().ok());
        transfers.map(|it| o.wear_out_transfers = it).ok_or("it must be a number of transfers")
    }),
    OptionSpec::ignore(
        "-g intraTestBarriers",
        Switch,
        "all ranks begin and end a phase together",
    ),
    OptionSpec::ignore("-q quitOnError", Switch, "damaged data always fails the test"),
    OptionSpec::ignore("-x singleXferAttempt", Switch, "a short transfer is an error"),
    OptionSpec::ignore("-j outlierThreshold", Text, "all times are reported"),
    OptionSpec::ignore("--warningAsErrors warningAsErrors", Switch, "there are no warnings"),
    reject("-c --collective collective", "POSIX I/O is never collective", ""),
    reject("-f", "a script needs a separate option", "write `-f FILE`"),
    reject("-H -U", NO_HINTS, ""),
    reject("-I -J -n", NO_HDF5, ""),
    reject("-M memoryPerNode memoryPerTask", NO_MEMORY, USE_DIRECT),
    reject("-p", "space is not preallocated; files are written in full", ""),
    reject("-P -S -V", NO_MPI_IO, ""),
    reject("-y dualMount", "there is one mount point", ""),
    reject("--posix.rangelocks", "range locks have no effect between ranks of one process", ""),
    reject("--dummy. --mpiio. --mmap.", "only POSIX is supported", ""),
    reject("allocateBufferOnGPU GPUDirect GPUid", NO_GPU, ""),
    reject("debug", "debugging output is not supported", ""),
    reject("interIODelay", "transfers follow each other at once", ""),
    reject("minTimeDuration", "a repetition is done once", ""),
    reject("numNodes numTasksOnNode0", "ranks are threads of one host", ""),
    reject("platform", "the platform is this machine", ""),
    reject("savePerOpDataCSV", "single transfers are not logged", ""),
    reject("summaryAlways", "there is one summary after all tests", ""),
];

const fn switch(names: &'static str, apply: ApplyIor) -> IorOption {
    OptionSpec::implement(names, Switch, apply)
}

const fn text(names: &'static str, apply: ApplyIor) -> IorOption {
    OptionSpec::implement(names, Text, apply)
}

/// Creates the row of rejected options; 0 turns a directive off.
const fn reject(names: &'static str, why: &'static str, instead: &'static str) -> IorOption {
    OptionSpec::reject(names, Flag, why, instead).unless(&["0"])
}

/// Parses the value of a switch: the number of times that it is given.
pub(super) fn parse_count(text: &str) -> Result<u32, &'static str> {
    text.parse::<u32>()
        .map(|times| times.min(MAX_SWITCH_COUNT))
        .map_err(|_| "it must be 0 or 1")
}

fn turn(place: &mut bool, text: Option<&str>) -> Result<(), &'static str> {
    *place = text.map_or(Ok(1), parse_count)? > 0;
    Ok(())
}

fn count(place: &mut u32, text: Option<&str>) -> Result<(), &'static str> {
    *place = text.map_or(Ok(*place + 1), parse_count)?;
    Ok(())
}

fn parse_number(text: Option<&str>) -> Result<u64, &'static str> {
    let number = text.and_then(units::parse_size);
    number.ok_or("it must be a number, or a size like 4k, 1m or 2g")
}

fn parse_positive(text: Option<&str>) -> Result<u64, &'static str> {
    match parse_number(text)? {
        0 => Err("it must be above 0"),
        number => Ok(number),
    }
}

/// Parses a number; takes larger ones as the largest of 32 bits.
fn parse_small(text: Option<&str>) -> Result<u32, &'static str> {
    parse_number(text).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

fn parse_file(text: Option<&str>) -> Result<String, &'static str> {
    text.filter(|file| !file.is_empty()).map(str::to_owned).ok_or("it must be a file")
}
