//! mdtest's options: a letter, or a long name with two dashes. One row each.

use super::options::{MdtestOptions, MdtestOptionsError};
use crate::ior::units;
use crate::option::ValueKind::{Flag, Switch, Text};
use crate::option::words::{Apply, WordOptions};
use crate::option::{EmulatedTool, OptionSpec};

/// Option of mdtest.
pub(crate) type MdtestOption = OptionSpec<Apply<MdtestOptions>>;

const MDTEST: EmulatedTool = EmulatedTool {
    command: "mdtest",
    otherwise: "remove it, or run this test with mdtest itself; docs/mdtest.md lists the supported options",
};

/// Largest number of tasks.
const MAX_TASKS: u32 = 4096;
/// Largest number of iterations.
const MAX_ITERATIONS: u32 = 10_000;
const NO_GPU: &str = "memory of graphics cards is not used";
const NO_LOG: &str = "single operations are not logged";

pub(crate) const OPTIONS: &[MdtestOption] = &[
    text("--ranks --tasks", |o, text| {
        let few = parse_small(text)?;
        o.tasks = few;
        if (1..=MAX_TASKS).contains(&few) { Ok(()) } else { Err("it must be 1 to 4096 tasks") }
    }),
    text("-n", |o, text| parse_number(text).map(|it| o.items = it)),
    text("-I", |o, text| parse_number(text).map(|it| o.items_per_directory = it)),
    text("-z", |o, text| parse_small(text).map(|it| o.depth = it)),
    text("-b", |o, text| parse_small(text).map(|it| o.branching = it)),
    text("-d", |o, text| {
        let paths: Vec<String> =
            text.unwrap_or_default().split('@').map(str::to_owned).collect();
        let is_named = paths.iter().all(|path| !path.is_empty());
        o.paths = paths;
        if is_named { Ok(()) } else { Err("it must be a folder, or several separated by @") }
    }),
    switch("-C", |o, _| turn_on(&mut o.create)),
    switch("-T", |o, _| turn_on(&mut o.query)),
    switch("-E", |o, _| turn_on(&mut o.read)),
    switch("-U", |o, _| turn_on(&mut o.rename)),
    switch("-r", |o, _| turn_on(&mut o.remove)),
    switch("-D", |o, _| turn_on(&mut o.directories_only)),
    switch("-F", |o, _| turn_on(&mut o.files_only)),
    switch("-L", |o, _| turn_on(&mut o.leaf_only)),
    switch("-u", |o, _| turn_on(&mut o.unique_directory)),
    switch("-S", |o, _| turn_on(&mut o.shared_file)),
    switch("-k", |o, _| turn_on(&mut o.make_node)),
    switch("-c", |o, _| turn_on(&mut o.collective)),
    text("-w", |o, text| parse_number(text).map(|it| o.write_bytes = it)),
    text("-e", |o, text| parse_number(text).map(|it| o.read_bytes = it)),
    switch("-y", |o, _| turn_on(&mut o.sync_file)),
    switch("-Y", |o, _| turn_on(&mut o.call_sync)),
    switch("-X --verify-read", |o, _| turn_on(&mut o.verify_read)),
    switch("--verify-write", |o, _| turn_on(&mut o.verify_write)),
    text("-G", |o, text| {
        let seed = text.and_then(|text| text.parse().ok());
        seed.map(|it| o.data_seed = it).ok_or("it must be a whole number")
    }),
    text("-N", |o, text| parse_small(text).map(|it| o.shift = it)),
    switch("-R", |o, _| turn_on(&mut o.random)),
    text("--random-seed", |o, text| parse_small(text).map(|it| o.random_seed = it)),
    text("-i", |o, text| {
        o.iterations = parse_small(text)?;
        let is_possible = (1..=MAX_ITERATIONS).contains(&o.iterations);
        if is_possible { Ok(()) } else { Err("it must be 1 to 10,000 iterations") }
    }),
    text("-p", |o, text| parse_small(text).map(|it| o.delay_s = it)),
    text("-f", |o, text| parse_small(text).map(|it| o.first_tasks = it)),
    text("-l", |o, text| parse_small(text).map(|it| o.last_tasks = it)),
    text("-s", |o, text| {
        o.task_step = parse_small(text)?;
        if o.task_step > 0 { Ok(()) } else { Err("it must be above 0") }
    }),
    text("-W", |o, text| parse_small(text).map(|it| o.deadline_s = it)),
    text("-x", |o, text| {
        let file = text.filter(|file| !file.is_empty());
        o.status_file = file.map(str::to_owned);
        file.map(drop).ok_or("it must be a file")
    }),
    text("--saveRankPerformanceDetails", |o, text| {
        let file = text.filter(|file| !file.is_empty());
        o.rank_details_file = file.map(str::to_owned);
        file.map(drop).ok_or("it must be a file")
    }),
    switch("-P", |o, _| turn_on(&mut o.print_rate_and_time)),
    switch("-Z", |o, _| turn_on(&mut o.print_time)),
    switch("--print-all-procs", |o, _| turn_on(&mut o.print_all_tasks)),
    switch("--showRankStatistics", |o, _| turn_on(&mut o.print_task_statistics)),
    switch("-v", |o, _| {
        o.verbose = o.verbose.saturating_add(1);
        Ok(())
    }),
    text("-V", |o, text| parse_small(text).map(|it| o.verbose = it)),
    text("-a", |_, text| match text {
        Some(api) if api.eq_ignore_ascii_case("POSIX") => Ok(()),
        _ => Err("only POSIX is supported"),
    }),
    switch("--dryRun --dry-run", |o, _| turn_on(&mut o.dry_run)),
    switch("--target-on-root", |o, _| turn_on(&mut o.target_on_root)),
    text("--destroy-data", |o, text| {
        o.destroy_data.extend(text.map(str::to_owned));
        Ok(())
    }),
    OptionSpec::ignore("-t", Switch, "tasks do not change their working directory"),
    OptionSpec::ignore("--dataPacketType", Text, "data is random and incompressible"),
    OptionSpec::ignore("--warningAsErrors", Switch, "a failed operation always ends the test"),
    OptionSpec::reject("-B", Text, "all tasks begin and end a phase together", "")
        .unless(&["0"]),
    reject("-g", "directory layouts of Lustre are not set", "set them with `lfs setdirstripe`"),
    reject_value(
        "--run-cmd-before-phase --run-cmd-after-phase",
        "no commands are run",
        "run the phases one by one with -C, -T, -E and -r, and the command between them",
    ),
    reject_value(
        "--savePerOpDataCSV",
        NO_LOG,
        "`assay show` prints percentiles of all operations",
    ),
    reject_value("--allocateBufferOnGPU --GPUid", NO_GPU, ""),
    reject("--gpuDirect", NO_GPU, ""),
    reject(
        "--posix. --dummy. --mmap. --mpiio.",
        "files are opened as POSIX defines it, without flags",
        "",
    ),
];

impl WordOptions for MdtestOptions {
    const TOOL: EmulatedTool = MDTEST;
    const NAME: &'static str = "mdtest";
    const ROWS: &'static [MdtestOption] = OPTIONS;
    type Error = MdtestOptionsError;

    fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

const fn switch(names: &'static str, apply: Apply<MdtestOptions>) -> MdtestOption {
    OptionSpec::implement(names, Switch, apply)
}

const fn text(names: &'static str, apply: Apply<MdtestOptions>) -> MdtestOption {
    OptionSpec::implement(names, Text, apply)
}

const fn reject(names: &'static str, why: &'static str, instead: &'static str) -> MdtestOption {
    OptionSpec::reject(names, Flag, why, instead)
}

const fn reject_value(
    names: &'static str,
    why: &'static str,
    instead: &'static str,
) -> MdtestOption {
    OptionSpec::reject(names, Text, why, instead)
}

const fn turn_on(place: &mut bool) -> Result<(), &'static str> {
    *place = true;
    Ok(())
}

fn parse_number(text: Option<&str>) -> Result<u64, &'static str> {
    text.and_then(units::parse_size).ok_or("it must be a number like 1000, or 4k")
}

fn parse_small(text: Option<&str>) -> Result<u32, &'static str> {
    u32::try_from(parse_number(text)?).map_err(|_| "it must be below 2^32")
}
