//! Console output of ntttcp: `name :value` of Linux, tables of Windows.

use super::{
    FileContents, LineSpan, MAX_MEASUREMENTS, NtttcpResult, ToolError, check_limit, measure,
    mixed_lines, parse_non_negative, parse_positive,
};

const MEG: f64 = 1_048_576.0;

pub(in super::super) fn is_ntttcp_console(text: &str) -> bool {
    let has = |mark: &str| text.contains(mark);
    has("NTTTCP for Linux")
        || (has("#####  Totals:  #####") && (has("Bytes(MEG)") || has("total bytes")))
}

/// Run that is being read.
#[derive(Default)]
struct OpenRun<'t> {
    lines: Option<LineSpan>,
    result: NtttcpResult,
    message: Option<&'t str>,
    is_ended: bool,
    /// Heading of the last table of Windows.
    heading: &'t str,
    /// Columns of the last table of Windows: their offsets and lengths.
    columns: Vec<(usize, usize)>,
    unused: Vec<String>,
    threads: u64,
    /// Whether the totals are those of Linux, which end with the throughput.
    is_linux: bool,
    damage: Option<ToolError>,
    packets_sent: f64,
}

/// Maximum number of names that are left out of one run.
const MAX_UNUSED: usize = 40;

/// Reads every run of a file.
pub(in super::super) fn read_ntttcp_console(text: &str) -> Result<FileContents, ToolError> {
    let mut contents = FileContents::default();
    let mut run = OpenRun::default();
    for (at, line) in text.lines().enumerate() {
        let begins = line.contains("NTTTCP for Linux")
            || line.contains("Copyright Version")
            || (run.is_ended && line.contains("threads created"));
        if begins && run.is_ended {
            finish_run(std::mem::take(&mut run), &mut contents);
            check_limit(contents.measurements.len() + 1, ("runs", MAX_MEASUREMENTS))?;
        }
        if !line.trim().is_empty() {
            let first = run.lines.as_ref().map_or(at + 1, |it| *it.start());
            run.lines = Some(first..=at + 1);
        }
        if let Err(error) = read_line(line, &mut run) {
            contents.add_part(Some(at + 1..=at + 1), "ntttcp run", Err(error));
        }
    }
    finish_run(run, &mut contents);
    Ok(contents)
}

fn finish_run(mut run: OpenRun<'_>, contents: &mut FileContents) {
    let Some(lines) = run.lines.clone() else { return };
    if !run.unused.is_empty() {
        let what = run.unused.join(", ");
        contents.leave_out(Some(lines.clone()), what, "assay has no figure for them");
    }
    let truncated = |missing: &str| Err(ToolError::Truncated { missing: missing.to_owned() });
    let measured = match (run.damage, run.result.bytes, run.message) {
        (Some(damage), ..) => Err(damage),
        (None, None, Some(message)) => Err(ToolError::ProcessFailed {
            how: "ntttcp reported".to_owned(),
            last_words: message.to_owned(),
        }),
        (None, None, None) => truncated("the totals are missing"),
        (None, Some(_), _) => {
            run.result.broke_off = run.is_linux && run.result.printed_bit_per_s.is_none();
            measure(run.result)
        }
    };
    contents.add_part(Some(lines), "ntttcp run", measured);
}

fn read_line<'t>(line: &'t str, run: &mut OpenRun<'t>) -> Result<(), ToolError> {
    let trimmed = line.trim();
    if let Some((_, version)) = trimmed.split_once("NTTTCP for Linux ") {
        run.result.version = Some(version.trim().to_owned());
    } else if let Some((_, message)) = trimmed.split_once("ERROR: ") {
        run.message = Some(message);
    }
    read_role(trimmed, run);
    if trimmed.contains('=') && trimmed.bytes().all(|it| it == b'=' || it == b' ') {
        run.columns = list_columns(line);
        return Ok(());
    }
    if !run.columns.is_empty() && !trimmed.is_empty() {
        return read_windows_row(line, run);
    }
    if !trimmed.is_empty() {
        run.heading = line;
    }
    match trimmed.rsplit_once("INFO:").map_or(trimmed, |it| it.1).split_once(':') {
        Some((name, value)) => read_linux_value(name.trim(), value.trim(), run),
        None => Ok(()),
    }
}

/// Reads which end printed the output, and the number of its connections.
fn read_role(line: &str, run: &mut OpenRun<'_>) {
    let number = |text: &str| {
        let words = text.split_whitespace().rev();
        words.take(1).find_map(|word| word.parse::<u64>().ok())
    };
    if let Some((before, _)) = line.split_once(" connections tested") {
        run.result.streams = number(before);
        run.result.is_sender = Some(true);
    } else if line.contains(" connections created in ") || line.contains("receiver exited") {
        run.result.is_sender = Some(true);
    } else if line.contains("threads created") {
        // Only a sender prints its connections, before or after this line.
        run.result.is_sender.get_or_insert(false);
    } else if line.contains("sender side was interrupted") {
        run.result.is_sender = Some(false);
    }
    if line.contains("UDP") {
        run.result.is_udp = true;
    }
}

/// Reads `total bytes :8395223504` and its neighbours.
fn read_linux_value(name: &str, value: &str, run: &mut OpenRun<'_>) -> Result<(), ToolError> {
    match name {
        "test duration" => {
            let number = value.split_whitespace().next().unwrap_or_default();
            run.result.seconds = Some(parse_positive("the test duration", number)?);
        }
        "total bytes" => {
            run.result.bytes = Some(parse_non_negative("the total bytes", value)?);
            (run.is_ended, run.is_linux) = (true, true);
        }
        "throughput" => run.result.printed_bit_per_s = parse_rate(value)?,
        "retrans segs" => {
            run.result.retransmits = Some(parse_non_negative("retrans segs", value)?);
        }
        "cpu cores" | "cpu speed" | "user" | "system" | "idle" | "iowait" | "softirq"
        | "cycles/byte" | "cpu busy (all)" | "average rtt" | "pkts/interrupt"
            if run.unused.len() < MAX_UNUSED =>
        {
            run.unused.push(name.to_owned());
        }
        _ => {}
    }
    Ok(())
}

/// Parses `33.53Gbps`; the prefixes are decimal.
fn parse_rate(text: &str) -> Result<Option<f64>, ToolError> {
    let units = [("Tbps", 1e12), ("Gbps", 1e9), ("Mbps", 1e6), ("Kbps", 1e3), ("bps", 1.0)];
    let found =
        units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let Some((number, factor)) = found else { return Ok(None) };
    Ok(Some(parse_non_negative("the throughput", number)? * factor))
}

/// Lists the columns that a line of `====` underlines.
fn list_columns(line: &str) -> Vec<(usize, usize)> {
    let mut columns: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in line.bytes().enumerate() {
        match columns.last_mut() {
            Some((start, length)) if byte == b'=' && *start + *length == at => *length += 1,
            Some(_) | None if byte == b'=' => columns.push((at, 1)),
            Some(_) | None => {}
        }
    }
    columns
}

/// Reads a row of a Windows table by its heading.
fn read_windows_row<'t>(line: &'t str, run: &mut OpenRun<'t>) -> Result<(), ToolError> {
    let columns = std::mem::take(&mut run.columns);
    let name_of = |(start, length): &(usize, usize)| {
        run.heading
            .get(*start..(start + length).min(run.heading.len()))
            .unwrap_or_default()
            .trim()
    };
    let names: Vec<String> = columns.iter().map(|it| name_of(it).to_owned()).collect();
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != names.len() || names.iter().all(String::is_empty) {
        // Further rows are not read, so that their number is unknown.
        if names.first().is_some_and(|name| name == "Thread") && !line.starts_with('#') {
            run.result.streams = None;
        }
        return Ok(());
    }
    if names.first().is_some_and(|name| name == "Thread") {
        if words.first().and_then(|it| it.parse().ok()) != Some(run.threads) {
            run.damage.get_or_insert(mixed_lines("the threads are not in order"));
        }
        run.threads += 1;
        run.result.streams = Some(run.threads);
        // Further threads follow below the same heading.
        run.columns = columns;
        return Ok(());
    }
    for (name, word) in names.iter().zip(words) {
        let number = || parse_non_negative(name, word);
        match name.as_str() {
            "Bytes(MEG)" => {
                run.result.bytes = Some(number()? * MEG);
                run.is_ended = true;
            }
            "realtime(s)" => run.result.seconds = Some(number()?),
            "Throughput(MB/s)" => run.result.printed_bit_per_s = Some(number()? * MEG * 8.0),
            "Retransmits" => run.result.retransmits = Some(number()?),
            "Errors" => run.result.errors = number()?,
            "Packets Sent" => run.packets_sent = number()?,
            // The end that receives the data sends acknowledgements, which are fewer.
            "Packets Received" => run.result.is_sender = Some(run.packets_sent > number()?),
            _ if run.unused.len() < MAX_UNUSED => run.unused.push(name.clone()),
            _ => {}
        }
    }
    Ok(())
}
