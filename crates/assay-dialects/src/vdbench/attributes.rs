//! Typed parameter values with their range checks: percentages, sizes, ranges, flags.
//!
//! An invalid value adds a diagnostic and yields `None`.

use assay_model::workload::file_set::FileOperation;
use assay_model::workload::storage::{Verify, WriteSync};

use super::commands::{CommandLines, CommandOutput, LoopLimit};
use super::lines::Lines;
use super::statements::Parameter;
use super::values::{self, Number, ParameterValue, Scalar};

/// End of the message about a keyword without effect.
pub(super) const UNAPPLIED: &str = "has no effect in this definition";

/// Vdbench's default divisor: the mean distance of skewed access is the range divided by it.
pub(super) const SKEW_DIVISOR: f64 = 3.0;

/// Maximum number of threads on one target; a larger number is an error.
pub(super) const MAX_THREADS: u32 = 65_536;

/// Flags with which files are opened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OpenFlags {
    pub(super) direct: bool,
    pub(super) sync: WriteSync,
    pub(super) sync_at_end: bool,
}

/// Access pattern: how the next offset is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SeekPattern {
    /// Percentage of random offsets; 100 = all random, 0 = sequential.
    Percent(f64),
    /// Sequential, once to the end.
    Eof,
    /// Random, mostly near the start: the mean distance is the range divided by this.
    Skewed(f64),
}

/// Sizes of one I/O.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum TransferSizes {
    /// Bytes with their percentages.
    Shares(Vec<(u64, f64)>),
    /// Minimum, maximum and step, in bytes.
    Uniform(u64, u64, u64),
}

/// Parses a percentage from 0 to 100.
pub(super) fn parse_percent(lines: &mut Lines, parameter: &Parameter) -> Option<f64> {
    let value = values::parse_one_number(lines, parameter)?;
    if (0.0..=100.0).contains(&value) {
        return Some(value);
    }
    let message = format!(
        "`{}` must be a percentage from 0 to 100, not {value}",
        parameter.keyword.spelled
    );
    lines
        .report_error("V123", parameter.spot, message)
        .add_vdbench_behaviour("takes it as it is");
    None
}

/// Parses a number above zero.
pub(super) fn parse_positive(lines: &mut Lines, parameter: &Parameter) -> Option<f64> {
    let value = values::parse_one_number(lines, parameter)?;
    if value > 0.0 {
        return Some(value);
    }
    let message = format!("`{}` must be more than zero", parameter.keyword.spelled);
    lines.report_error("V123", parameter.spot, message);
    None
}

/// Parses the flags of `openflags=`.
pub(super) fn parse_open_flags(lines: &mut Lines, parameter: &Parameter) -> Option<OpenFlags> {
    let mut flags = OpenFlags { direct: false, sync: WriteSync::None, sync_at_end: false };
    for element in &parameter.elements {
        match element.text.to_ascii_lowercase().as_str() {
            "o_direct" | "directio" => flags.direct = true,
            "o_dsync" if flags.sync != WriteSync::All => flags.sync = WriteSync::Data,
            "o_dsync" => {}
            "o_sync" | "o_rsync" => flags.sync = WriteSync::All,
            "fsync" => flags.sync_at_end = true,
            "none" | "clear" => {}
            other if add_flag_bits(other, &mut flags) => {}
            other => {
                lines.report_error(
                        "V113",
                        element.spot,
                        format!("`{other}` is not a supported open flag"),
                    ).add_help(
                        "use o_direct, directio, o_sync, o_dsync, o_rsync, fsync or sums of 0x1000 \
                         (o_dsync), 0x4000 (o_direct) and 0x101000 (o_sync)",
                    );
                return None;
            }
        }
    }
    Some(flags)
}

/// Adds flags written as Linux's numbers on x86, which Vdbench passes on, like `0x4000`. Returns
/// whether all bits are supported.
fn add_flag_bits(text: &str, flags: &mut OpenFlags) -> bool {
    const DIRECT: u32 = 0x4000;
    const DATA_SYNC: u32 = 0x1000;
    const SYNC: u32 = 0x10_1000;
    let digits = text.strip_prefix("0x").unwrap_or_default();
    let Ok(bits) = u32::from_str_radix(digits, 16) else { return false };
    if bits & !(DIRECT | SYNC) != 0 {
        return false;
    }
    flags.direct |= bits & DIRECT != 0;
    match bits & SYNC {
        0 => {}
        DATA_SYNC if flags.sync != WriteSync::All => flags.sync = WriteSync::Data,
        DATA_SYNC => {}
        SYNC => flags.sync = WriteSync::All,
        _ => return false,
    }
    true
}

/// Parses sizes of one I/O: a single size, sizes with percentages, or minimum, maximum and step.
pub(super) fn parse_sizes(lines: &mut Lines, parameter: &Parameter) -> Option<TransferSizes> {
    let numbers = values::parse_numbers(lines, parameter)?;
    let sizes = match numbers[..] {
        [size] => TransferSizes::Shares(vec![(size.value as u64, 100.0)]),
        [min, max, step] => TransferSizes::Uniform(
            min.value as u64,
            max.value as u64,
            (step.value as u64).max(512),
        ),
        _ if numbers.len().is_multiple_of(2) => parse_size_shares(lines, parameter, &numbers)?,
        _ => {
            let message = "a distribution of sizes is (size,percent,size,percent,…)";
            lines.report_error("V155", parameter.spot, message).add_vdbench_behaviour("stops");
            return None;
        }
    };
    let is_sector_multiple = |bytes: u64| bytes > 0 && bytes.is_multiple_of(512);
    let (are_multiples, is_ordered) = match &sizes {
        TransferSizes::Shares(shares) => {
            (shares.iter().all(|(bytes, _)| is_sector_multiple(*bytes)), true)
        }
        TransferSizes::Uniform(min, max, step) => (
            is_sector_multiple(*min) && is_sector_multiple(*max) && is_sector_multiple(*step),
            min <= max,
        ),
    };
    if !are_multiples || !is_ordered {
        let message = if are_multiples {
            "the minimum size is above the maximum"
        } else {
            "a size is not a multiple of 512"
        };
        let is_single = numbers.len() == 1;
        let vdbench_action = if is_single { "takes it for a file" } else { "stops" };
        lines
            .report_error("V154", parameter.spot, message)
            .advise("sectors have 512 bytes", vdbench_action);
        return None;
    }
    Some(sizes)
}

fn parse_size_shares(
    lines: &mut Lines,
    parameter: &Parameter,
    numbers: &[Number],
) -> Option<TransferSizes> {
    let shares: Vec<(u64, f64)> =
        numbers.chunks(2).map(|pair| (pair[0].value as u64, pair[1].value)).collect();
    let total: f64 = shares.iter().map(|(_, percent)| percent).sum();
    // Vdbench's tolerance, which permits rounded thirds.
    if (total - 100.0).abs() > 0.5 || shares.iter().any(|(_, percent)| *percent < 0.0) {
        let message = format!("the percentages of `xfersize` add up to {total}, not 100");
        lines.report_error("V155", parameter.spot, message).add_vdbench_behaviour("stops");
        return None;
    }
    Some(TransferSizes::Shares(shares))
}

/// Parses a value of `seekpct`.
pub(super) fn parse_seek(
    lines: &mut Lines,
    parameter: &Parameter,
    parsed: &ParameterValue,
) -> Option<SeekPattern> {
    let word = match &parsed.value {
        // Vdbench represents `eof` by -1.
        Scalar::Number(number) if (-1.0..0.0).contains(&number.value) => {
            return Some(SeekPattern::Eof);
        }
        Scalar::Number(number) if (0.0..=100.0).contains(&number.value) => {
            return Some(SeekPattern::Percent(number.value));
        }
        Scalar::Number(_) => parsed.text.as_str(),
        Scalar::Word(word) => word.as_str(),
    };
    match word {
        "eof" => return Some(SeekPattern::Eof),
        "seqnz" => {
            let message = "`seekpct=seqnz` of later Vdbench versions is not supported";
            lines.report_error("V114", parameter.spot, message).advise(
                "use seekpct=sequential with range=, or a percentage",
                "stops, up to 5.04.06",
            );
        }
        word if word.len() >= 2 && "poisson".starts_with(word) => {
            return Some(SeekPattern::Skewed(SKEW_DIVISOR));
        }
        word if word.starts_with("rand") => return Some(SeekPattern::Percent(100.0)),
        word if word.starts_with("seq") => return Some(SeekPattern::Percent(0.0)),
        other => {
            let message = format!("`{other}` is not a seek percentage");
            lines
                .report_error("V123", parameter.spot, message)
                .advise("use random, sequential, eof or 0 to 100", "stops");
        }
    }
    None
}

/// Parses `range=(low,high)` unchanged: percentages, or bytes above 100.
pub(super) fn parse_range(lines: &mut Lines, parameter: &Parameter) -> Option<(f64, f64)> {
    let (low, high) = parse_pair(lines, parameter)?;
    if high <= low || low < 0.0 {
        let message = format!("the range from {low} to {high} is empty");
        lines.report_error("V153", parameter.spot, message).add_vdbench_behaviour("stops");
        return None;
    }
    if low <= 100.0 && (100.0..=200.0).contains(&high) && high > 100.0 {
        let message = "a range that wraps around the end is not supported";
        let help = "use two workloads with a range each";
        lines.report_error("V114", parameter.spot, message).advise(help, "carries it out");
        return None;
    }
    Some((low, high))
}

/// Parses `hotband=(low,high)`: the percentages that limit skewed access.
pub(super) fn parse_hot_band(lines: &mut Lines, parameter: &Parameter) -> Option<(f64, f64)> {
    let band = parse_range(lines, parameter)?;
    let is_reported =
        lines.diagnostics.iter().any(|diagnostic| diagnostic.message.starts_with("`hotband`"));
    if !is_reported {
        let message = "`hotband` uses an exponential distribution here, with a third of the band as its mean";
        let help = "compare only results of assay: cache hit rates depend on the distribution";
        lines
            .report_warning("V114", parameter.spot, message)
            .advise(help, "draws from a table of its own");
    }
    Some(band)
}

/// Parses `stride=(minimum,maximum)` in bytes.
pub(super) fn parse_strides(lines: &mut Lines, parameter: &Parameter) -> Option<(u64, u64)> {
    let (minimum, maximum) = parse_pair(lines, parameter)?;
    if minimum < 0.0 || maximum < minimum {
        let message =
            format!("the gaps from {minimum} to {maximum} bytes are not a valid range");
        lines
            .report_error("V153", parameter.spot, message)
            .advise("write stride=(minimum,maximum)", "stops");
        return None;
    }
    let (minimum, maximum) = (minimum as u64, maximum as u64);
    check_sector_multiple(lines, parameter, minimum);
    Some((minimum, maximum))
}

/// Parses `startcmd=` and `endcmd=`: commands and the destination of their output.
pub(super) fn parse_commands(parameter: &Parameter) -> Option<CommandLines> {
    let mut commands = CommandLines { lines: Vec::new(), output: CommandOutput::Console };
    for element in &parameter.elements {
        match element.text.to_ascii_lowercase().as_str() {
            // assay has one process; Vdbench's master and slave are the same here.
            "master" | "slave" => {}
            word if !element.is_quoted && word.starts_with("cons") => {
                commands.output = CommandOutput::Console;
            }
            word if !element.is_quoted && word.starts_with("sum") => {
                commands.output = CommandOutput::Summary;
            }
            word if !element.is_quoted && word.starts_with("log") => {
                commands.output = CommandOutput::Log;
            }
            _ => commands.lines.push(element.text.clone()),
        }
    }
    (!commands.lines.is_empty()).then_some(commands)
}

/// Parses `validate=`: every word but `no` enables verification.
pub(super) fn parse_verify(lines: &mut Lines, parameter: &Parameter) -> Verify {
    const KNOWN: [(&str, Verify); 6] = [
        ("no", Verify::Off),
        ("yes", Verify::OnRead),
        ("read_after_write", Verify::AfterWrite),
        // assay always implies these: it reads no block before writing it, its stamps identify the
        // write, and it ignores blocks without a stamp.
        ("no_preread", Verify::OnRead),
        ("time", Verify::OnRead),
        ("ignore_zero_reads", Verify::OnRead),
    ];
    let mut verify = Verify::Off;
    for element in &parameter.elements {
        let word = element.text.to_ascii_lowercase();
        let value = KNOWN.iter().find(|(name, _)| !word.is_empty() && name.starts_with(&word));
        match value {
            Some((_, Verify::Off)) => return Verify::Off,
            Some((_, Verify::AfterWrite)) => verify = Verify::AfterWrite,
            Some(_) if verify == Verify::AfterWrite => {}
            Some((_, mode)) => verify = *mode,
            None => {
                let message = format!("`{}` is not a value of `validate`", element.text);
                lines.report_error("V120", element.spot, message).advise(
                    "use yes, no, read_after_write, no_preread, time or ignore_zero_reads",
                    "stops",
                );
            }
        }
    }
    verify
}

/// Parses `loop=`: a number of passes, or a duration with the suffix `s`, `m` or `h`.
pub(super) fn parse_loop_limit(lines: &mut Lines, parameter: &Parameter) -> Option<LoopLimit> {
    let word = values::parse_one_word(lines, parameter)?;
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let duration = units.iter().find_map(|(unit, s)| Some((word.strip_suffix(unit)?, *s)));
    let number = duration.map_or(word.as_str(), |(number, _)| number);
    let limit = number.parse::<u64>().ok().filter(|number| *number > 0);
    let limit = limit.and_then(|number| match duration {
        Some((_, unit_s)) => number.checked_mul(unit_s).map(LoopLimit::Seconds),
        None => Some(LoopLimit::Times(number)),
    });
    if limit.is_none() {
        let message = format!("`{word}` is not a value of `loop`");
        lines.report_error("V123", parameter.spot, message).advise(
            "use loop=3 for three passes, or loop=30s, loop=30m, loop=2h for a duration",
            "stops",
        );
    }
    limit
}

/// Parses exactly two numbers.
pub(super) fn parse_pair(lines: &mut Lines, parameter: &Parameter) -> Option<(f64, f64)> {
    let numbers = values::parse_numbers(lines, parameter)?;
    if let [a, b] = numbers[..] {
        return Some((a.value, b.value));
    }
    let message = format!("`{0}` takes two values: {0}=(a,b)", parameter.keyword.spelled);
    lines.report_error("V120", parameter.spot, message).add_vdbench_behaviour("stops");
    None
}

/// Parses a number, or `(number,divisor)`.
pub(super) fn parse_divided(lines: &mut Lines, parameter: &Parameter) -> Option<f64> {
    let numbers = values::parse_numbers(lines, parameter)?;
    match numbers[..] {
        [dividend] if dividend.value > 0.0 => Some(dividend.value),
        [dividend, divisor] if dividend.value > 0.0 && divisor.value >= 1.0 => {
            Some(dividend.value / divisor.value)
        }
        _ => {
            let spelled = parameter.keyword.spelled;
            let message = format!("`{spelled}` must be a number or (number,divisor)");
            lines.report_error("V123", parameter.spot, message).add_vdbench_behaviour("stops");
            None
        }
    }
}

pub(super) fn check_sector_multiple(lines: &mut Lines, parameter: &Parameter, bytes: u64) {
    if !bytes.is_multiple_of(512) {
        let message = format!("`{}` is not a multiple of 512", parameter.keyword.spelled);
        lines.report_error("V154", parameter.spot, message).add_vdbench_behaviour("stops");
    }
}

/// Parses the name of a file operation.
pub(super) fn parse_operation(
    lines: &mut Lines,
    parameter: &Parameter,
    word: &str,
) -> Option<FileOperation> {
    let lower = word.to_ascii_lowercase();
    let operation = FileOperation::ALL.into_iter().find(|operation| operation.name() == lower);
    if operation.is_none() {
        let names = FileOperation::ALL.map(FileOperation::name).join(", ");
        let is_vdbench_operation = matches!(lower.as_str(), "copy" | "move");
        let message = if is_vdbench_operation {
            format!("the operation `{lower}` is not supported")
        } else {
            format!("`{word}` is not an operation")
        };
        let code = if is_vdbench_operation { "V114" } else { "V113" };
        lines
            .report_error(code, parameter.spot, message)
            .add_help(format!("use one of {names}"));
    }
    operation
}

/// Reports a keyword that the table supports, but its definition does not apply.
pub(super) fn report_unapplied(lines: &mut Lines, parameter: &Parameter) {
    let spelled = parameter.keyword.spelled;
    let message = format!("`{spelled}` {UNAPPLIED}");
    lines.report_error("V114", parameter.spot, message).add_help("leave it out");
}
