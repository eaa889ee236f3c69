//! qperf's lines: rows by verbosity, units and alignment, as qperf 0.4.11 prints them (`qperf.c`).

use assay_run::network::qperf_record::{QperfCounts, QperfEnd, QperfEnds, QperfFigures};
use serde::{Deserialize, Serialize};

use crate::options::network::qperf_parameters::{QperfParameter, QperfParameters};

/// Options that apply to the figures of all tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct QperfUnits {
    /// Rates in bits.
    pub(super) bits: bool,
    /// The smallest unit everywhere.
    pub(super) unify_units: bool,
    /// Figures by node instead of sender and receiver.
    pub(super) unify_nodes: bool,
}

/// Row before alignment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: String,
    data: String,
    unit: Option<&'static str>,
    /// Value in parentheses.
    exact: Option<String>,
}

/// Verbosity of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Always,
    /// Verbosity of one kind, at this level.
    At(VerboseKind, u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VerboseKind {
    Statistics,
    Times,
    Used,
}

const STATISTICS: Shown = Shown::At(VerboseKind::Statistics, 1);
const MORE_STATISTICS: Shown = Shown::At(VerboseKind::Statistics, 2);
const TIMES: Shown = Shown::At(VerboseKind::Times, 1);
const MORE_TIMES: Shown = Shown::At(VerboseKind::Times, 2);
const USED: Shown = Shown::At(VerboseKind::Used, 1);

const TIME_UNITS: &[&str] = &["ns", "us", "ms", "sec"];
const COST_UNITS: &[&str] = &["ns/GB", "us/GB", "ms/GB", "sec/GB"];
const RATE_UNITS: &[&str] = &["/sec", "K/sec", "M/sec", "G/sec", "T/sec"];
const BYTE_RATE_UNITS: &[&str] = &["bytes/sec", "KB/sec", "MB/sec", "GB/sec", "TB/sec"];
const BIT_RATE_UNITS: &[&str] = &["bits/sec", "Kb/sec", "Mb/sec", "Gb/sec", "Tb/sec"];
const SIZE_UNITS: &[&str] = &["bytes", "KB", "MB", "GB", "TB"];
const BINARY_UNITS: &[&str] = &["KiB", "MiB", "GiB", "TiB"];
const COUNT_UNITS: &[&str] = &["", "thousand", "million", "billion", "trillion"];

/// Rows of one test.
struct QperfRows<'a> {
    parameters: &'a QperfParameters,
    units: QperfUnits,
    rows: Vec<Row>,
}

/// Formats the lines of a test, without its name. `is_udp` separates what was sent and received.
pub(super) fn format_rows(
    figures: &QperfFigures,
    parameters: &QperfParameters,
    units: QperfUnits,
    is_udp: bool,
) -> String {
    let mut rows = QperfRows { parameters, units, rows: vec![] };
    match figures {
        QperfFigures::Configuration { here, there } => {
            for (end, texts) in [("loc", here), ("rem", there)] {
                for (name, text) in ["node", "cpu", "os", "qperf"].iter().zip(texts) {
                    rows.push(&format!("{end}_{name}"), text.clone(), None);
                }
            }
        }
        QperfFigures::Latency { half_s, ends, .. } => {
            rows.add_time(Shown::Always, "latency", *half_s);
            if let Some(ends) = ends {
                rows.add_rate("msg_rate", message_rate(ends));
                rows.add_ends(ends);
            }
        }
        QperfFigures::Bandwidth { sent_bytes, received_bytes, elapsed_s, ends, .. } => {
            let rate = |bytes: u64| bytes as f64 / elapsed_s;
            if is_udp || received_bytes.is_none() {
                rows.add_bandwidth("send_bw", rate(*sent_bytes));
            }
            if let Some(bytes) = received_bytes {
                rows.add_bandwidth(if is_udp { "recv_bw" } else { "bw" }, rate(*bytes));
            }
            if let Some(ends) = ends {
                rows.add_rate("msg_rate", message_rate(ends));
                rows.add_ends(ends);
            }
        }
    }
    rows.render()
}

/// Returns the messages received per second; the far end counts those sent by this one.
fn message_rate(ends: &QperfEnds) -> f64 {
    let (here, there) = (&ends.here, &ends.there);
    let per_s = |messages: u64, seconds: f64| match seconds {
        seconds if seconds > 0.0 => messages as f64 / seconds,
        _ => 0.0,
    };
    match (here.received.messages, there.received.messages) {
        (ours, 0) => per_s(ours, there.elapsed_s),
        (0, theirs) => per_s(theirs, here.elapsed_s),
        (ours, theirs) => per_s(ours + theirs, (here.elapsed_s + there.elapsed_s) / 2.0),
    }
}

impl QperfRows<'_> {
    fn shows(&self, shown: Shown, value: f64) -> bool {
        let Shown::At(kind, level) = shown else { return true };
        let [statistics, times, used] = self.parameters.verbosity;
        let own = match kind {
            VerboseKind::Statistics => statistics,
            VerboseKind::Times => times,
            VerboseKind::Used => used,
        };
        value > 0.0 && own >= level
    }

    fn push(&mut self, name: &str, data: String, unit: Option<&'static str>) {
        self.rows.push(Row { name: name.to_owned(), data, unit, exact: None });
    }

    /// Adds a value in the unit in which it is below 1000.
    fn add_scaled(&mut self, name: &str, value: f64, units: &'static [&'static str]) {
        let (mut value, mut at) = (value, 0);
        while !self.units.unify_units && value >= 1000.0 && at + 1 < units.len() {
            value /= 1000.0;
            at += 1;
        }
        let data = self.format_number(value);
        self.push(name, data, Some(units[at]));
    }

    fn add_time(&mut self, shown: Shown, name: &str, seconds: f64) {
        if self.shows(shown, seconds) {
            self.add_scaled(name, seconds * 1e9, TIME_UNITS);
        }
    }

    fn add_cost(&mut self, name: &str, seconds_per_gb: f64) {
        if self.shows(TIMES, seconds_per_gb) {
            self.add_scaled(name, seconds_per_gb * 1e9, COST_UNITS);
        }
    }

    fn add_rate(&mut self, name: &str, per_s: f64) {
        if self.shows(STATISTICS, per_s) {
            self.add_scaled(name, per_s, RATE_UNITS);
        }
    }

    fn add_bandwidth(&mut self, name: &str, bytes_per_s: f64) {
        match self.units.bits {
            true => self.add_scaled(name, bytes_per_s * 8.0, BIT_RATE_UNITS),
            false => self.add_scaled(name, bytes_per_s, BYTE_RATE_UNITS),
        }
    }

    fn add_cpus(&mut self, shown: Shown, name: &str, cpus: f64) {
        if self.shows(shown, cpus) {
            let data = self.format_number(cpus * 100.0);
            self.push(name, data, Some("% cpus"));
        }
    }

    fn add_count(&mut self, shown: Shown, name: &str, count: u64) {
        if !self.shows(shown, count as f64) {
            return;
        }
        match count {
            1_000_000.. => self.add_scaled(name, count as f64, COUNT_UNITS),
            _ => {
                let data = self.format_number(count as f64);
                self.push(name, data, Some(COUNT_UNITS[0]));
            }
        }
    }

    fn add_size(&mut self, shown: Shown, name: &str, bytes: u64) {
        if !self.shows(shown, bytes as f64) {
            return;
        }
        if self.units.unify_units || bytes < 1024 || !bytes.is_multiple_of(1024) {
            return self.add_scaled(name, bytes as f64, SIZE_UNITS);
        }
        let (mut multiples, mut at) = (bytes / 1024, 0);
        while multiples >= 1024 && at + 1 < BINARY_UNITS.len() {
            if multiples % 1024 > 0 {
                return self.add_scaled(name, bytes as f64, SIZE_UNITS);
            }
            multiples /= 1024;
            at += 1;
        }
        let (data, exact) =
            (group_digits(&multiples.to_string()), group_digits(&bytes.to_string()));
        let unit = Some(BINARY_UNITS[at]);
        self.rows.push(Row { name: name.to_owned(), data, unit, exact: Some(exact) });
    }

    /// Adds the used parameters, costs, and the figures of both ends.
    fn add_ends(&mut self, ends: &QperfEnds) {
        self.add_used();
        let cost = |end: &QperfEnd, bytes: u64| end.cpu_s() * 1e9 / bytes as f64;
        let (here, there) = (&ends.here, &ends.there);
        let goes_out = here.sent.bytes > 0
            && there.received.bytes > 0
            && there.sent.bytes == 0
            && here.received.bytes == 0;
        if here.sent.bytes > 0 && here.received.bytes == 0 && there.sent.bytes == 0 {
            self.add_cost("send_cost", cost(here, here.sent.bytes));
        }
        if goes_out {
            self.add_cost("recv_cost", cost(there, there.received.bytes));
        }
        if goes_out && !self.units.unify_nodes {
            self.add_times("send", here);
            self.add_one_way("send", &here.sent);
            self.add_times("recv", there);
            self.add_one_way("recv", &there.received);
            return;
        }
        for (name, end) in [("loc", here), ("rem", there)] {
            self.add_times(name, end);
            let counts = [("send", &end.sent), ("recv", &end.received)];
            for (way, counts) in counts {
                self.add_count(MORE_STATISTICS, &format!("{name}_{way}_errors"), counts.errors);
            }
            for (way, counts) in counts {
                self.add_size(MORE_STATISTICS, &format!("{name}_{way}_bytes"), counts.bytes);
            }
            for (way, counts) in counts {
                self.add_count(MORE_STATISTICS, &format!("{name}_{way}_msgs"), counts.messages);
            }
        }
    }

    fn add_times(&mut self, name: &str, end: &QperfEnd) {
        let [used, user, interrupts, kernel, io_wait] = end.cpus();
        self.add_cpus(TIMES, &format!("{name}_cpus_used"), used);
        self.add_cpus(MORE_TIMES, &format!("{name}_cpus_user"), user);
        self.add_cpus(MORE_TIMES, &format!("{name}_cpus_intr"), interrupts);
        self.add_cpus(MORE_TIMES, &format!("{name}_cpus_kernel"), kernel);
        self.add_cpus(MORE_TIMES, &format!("{name}_cpus_iowait"), io_wait);
        self.add_time(MORE_TIMES, &format!("{name}_real_time"), end.real_s());
        self.add_time(MORE_TIMES, &format!("{name}_cpu_time"), end.cpu_s());
    }

    fn add_one_way(&mut self, name: &str, counts: &QperfCounts) {
        self.add_count(MORE_STATISTICS, &format!("{name}_errors"), counts.errors);
        self.add_size(MORE_STATISTICS, &format!("{name}_bytes"), counts.bytes);
        self.add_count(MORE_STATISTICS, &format!("{name}_msgs"), counts.messages);
    }

    /// Adds the parameters that were set, or all at the second level.
    fn add_used(&mut self) {
        let parameters = *self.parameters;
        let is_shown = |it: &QperfParameter| it.is_set || parameters.verbosity[2] > 1;
        let each = |it: QperfParameter| match it.local == it.remote {
            true => vec![("", it.local)],
            false => vec![("loc_", it.local), ("rem_", it.remote)],
        };
        // In the order of their names.
        let numbers = [
            ("affinity", parameters.cpu, false),
            ("msg_size", parameters.message_bytes, true),
            ("port", parameters.port, false),
            ("sock_buf_size", parameters.socket_buffer_bytes, true),
        ];
        for (name, it, is_size) in numbers.into_iter().filter(|(_, it, _)| is_shown(it)) {
            for (end, value) in each(it) {
                let name = format!("{end}{name}");
                match is_size {
                    true => self.add_size(USED, &name, value.into()),
                    false => self.add_count(USED, &name, value.into()),
                }
            }
        }
        let times = [("time", parameters.time_s), ("timeout", parameters.timeout_s)];
        for (name, it) in times.into_iter().filter(|(_, it)| is_shown(it)) {
            for (end, value) in each(it) {
                self.add_time(USED, &format!("{end}{name}"), value.into());
            }
        }
    }

    /// Formats the significant digits of the precision, without zeros at the end of decimals.
    fn format_number(&self, value: f64) -> String {
        let whole = format!("{value:.0}");
        let digits = whole.chars().filter(char::is_ascii_digit).count();
        let decimals = (self.parameters.precision as usize).saturating_sub(digits).min(30);
        let text = match decimals {
            0 => whole,
            decimals => {
                let text = format!("{value:.decimals$}");
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        };
        if self.units.unify_units { text } else { group_digits(&text) }
    }

    fn render(&self) -> String {
        let name_width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(0);
        let with_unit = || self.rows.iter().filter(|row| row.unit.is_some());
        let data_width = with_unit().map(|row| row.data.len()).max().unwrap_or(0);
        let line = |row: &Row| {
            let Row { name, data, unit, exact } = row;
            let exact = exact.as_ref().map_or_else(String::new, |exact| format!(" ({exact})"));
            match unit {
                Some(unit) => {
                    format!("    {name:name_width$}  =  {data:>data_width$} {unit}{exact}\n")
                }
                None => format!("    {name:name_width$}  =  {data}{exact}\n"),
            }
        };
        self.rows.iter().map(line).collect()
    }
}

/// Separates groups of three digits before the point by commas.
fn group_digits(number: &str) -> String {
    let (whole, decimals) = number.split_at(number.find('.').unwrap_or(number.len()));
    let mut text = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + decimals
}

#[cfg(test)]
mod tests;
