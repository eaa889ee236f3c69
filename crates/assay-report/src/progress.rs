//! Progress of a run in one line: elapsed share of the planned time, remaining time, current case
//! and its value so far. Never reads a clock: the caller passes the elapsed time.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::benchmark::{Benchmark, Metric};
use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, SeriesOpened};
use assay_model::plan::Plan;
use assay_model::quantity::{Quantity, Unit};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::build::size_weight;
use crate::locale::{Language, in_percent};
use crate::{units, words};

mod loaded_points;

use loaded_points::LoadedPoints;

/// Cells of the progress bar.
const BAR_CELLS: usize = 16;
/// Spinner that shows activity while nothing else changes; two steps a second.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const SPINNER_STEPS_PER_S: f64 = 2.0;
/// Minimum columns for the name of a case, so that cases can be distinguished.
const MIN_NAME_COLUMNS: usize = 24;
/// Letters of a host's name in front of its figures.
const HOST_NAME_COLUMNS: usize = 16;

/// State of a running measurement.
#[derive(Debug)]
pub struct RunProgress {
    /// Language of the creating thread; the drawing thread has no language of its own.
    language: Language,
    cases: BTreeMap<String, CaseProgress>,
    planned_s: f64,
    /// Planned seconds of ended cases, whatever they took.
    done_s: f64,
    /// Start of the open cases; if none is open, end of the last one.
    since_s: f64,
    /// Case of each series whose values represent a case.
    case_of_series: BTreeMap<u32, String>,
    /// Points of each case of loaded latency.
    loaded: BTreeMap<String, LoadedPoints>,
    message: String,
    /// Last second of each host, in the order of their first reports.
    hosts: Vec<HostRates>,
}

/// Last second of a host.
#[derive(Debug)]
struct HostRates {
    name: String,
    rates: Vec<Quantity>,
    latency_s: Option<f64>,
    cpu: Option<f64>,
}

impl HostRates {
    fn rate(&self) -> f64 {
        self.rates.first().map_or(0.0, |it| it.value)
    }

    fn line(&self) -> String {
        let name: String = self.name.chars().take(HOST_NAME_COLUMNS).collect();
        format!(
            "  {name:<HOST_NAME_COLUMNS$}{}",
            format_figures(&self.rates, self.latency_s, self.cpu)
        )
    }
}

#[derive(Debug, Default)]
struct CaseProgress {
    budget_s: f64,
    is_open: bool,
    metric: Option<&'static Metric>,
    /// Rank of the representative series: whether it is a step of a search, position of its metric,
    /// and size. The lowest rank represents the case.
    rank: Option<(bool, usize, f64)>,
    benchmark: Option<Benchmark>,
    values: Vec<f64>,
}

impl Default for RunProgress {
    fn default() -> Self {
        Self {
            language: Language::current(),
            cases: BTreeMap::new(),
            planned_s: 0.0,
            done_s: 0.0,
            since_s: 0.0,
            case_of_series: BTreeMap::new(),
            loaded: BTreeMap::new(),
            message: String::new(),
            hosts: Vec::new(),
        }
    }
}

impl RunProgress {
    /// Creates the state of a run that has not begun.
    pub fn for_plan(plan: &Plan) -> Self {
        let case = |case: &assay_model::plan::Case| CaseProgress {
            budget_s: case.stopping.budget_s,
            benchmark: Some(case.workload.benchmark()),
            ..CaseProgress::default()
        };
        let cases: BTreeMap<String, CaseProgress> =
            plan.cases.iter().map(|it| (it.id.clone(), case(it))).collect();
        let planned_s = cases.values().map(|it| it.budget_s).sum();
        Self { cases, planned_s, ..Self::default() }
    }

    /// Updates the state with an event, `elapsed_s` after the start of the run.
    pub fn record_event(&mut self, event: &RunEvent, elapsed_s: f64) {
        match event {
            RunEvent::CaseStarted { case } => {
                self.hosts.clear();
                if !self.cases.values().any(|it| it.is_open) {
                    self.since_s = elapsed_s;
                }
                self.message.clone_from(case);
                if let Some(case) = self.cases.get_mut(case) {
                    case.is_open = true;
                }
            }
            RunEvent::SeriesOpened(opened) => self.select_series(opened),
            RunEvent::Sample(sample) => self.add_value(sample.series, sample.value),
            RunEvent::Distribution(stretch) if stretch.seen.count > 0 => {
                self.add_value(
                    stretch.series,
                    stretch.seen.sum_ns / stretch.seen.count as f64 / 1e9,
                );
            }
            RunEvent::Doubt { doubt: Doubt::HostLost { host, .. }, .. } => {
                self.hosts.retain(|it| it.name != *host);
            }
            RunEvent::CaseFinished { case, .. }
            | RunEvent::CaseFailed { case, host: None, .. } => {
                self.hosts.clear();
                if let Some(case) = self.cases.get_mut(case) {
                    self.done_s += case.budget_s;
                    // Its own share of the time of the open cases ends with it.
                    let own_s = if case.is_open { case.budget_s } else { 0.0 };
                    self.since_s = (self.since_s + own_s).min(elapsed_s);
                    case.is_open = false;
                }
                if !self.cases.values().any(|it| it.is_open) {
                    self.since_s = elapsed_s;
                }
            }
            _ => {}
        }
    }

    /// Selects the series that represents a case: the first headline metric, else the first metric
    /// of the benchmark, else the first series. Of several sizes it takes the one that also
    /// represents the machine. Steps represent the case until there is a result.
    fn select_series(&mut self, opened: &SeriesOpened) {
        let Some(case) = self.cases.get_mut(&opened.case) else { return };
        let Some(benchmark) = case.benchmark else { return };
        if benchmark == Benchmark::LoadedLatency {
            self.loaded.entry(opened.case.clone()).or_default().open(opened);
        }
        let metrics = benchmark.definition().metrics;
        let rank = |metric: &Metric| {
            let place = metrics.iter().position(|it| it.name == metric.name);
            match (metric.headline, place) {
                (Some(_), Some(place)) => place,
                (None, Some(0)) => metrics.len(),
                _ => metrics.len() + 1,
            }
        };
        let Some(metric) = metrics.iter().find(|it| it.name == opened.metric) else { return };
        let bytes =
            opened.dimensions.get(&Attribute::Bytes).and_then(AttributeValue::as_number);
        let weight = size_weight(Some(benchmark.definition().section), metric.better);
        let is_step = opened.dimensions.contains_key(&Attribute::Step);
        let new = (is_step, rank(metric), -weight * bytes.unwrap_or(0.0));
        if case.rank.is_none_or(|known| new < known || is_step && new == known) {
            (case.metric, case.rank) = (Some(metric), Some(new));
            case.values.clear();
            self.case_of_series.retain(|_, it| *it != opened.case);
            self.case_of_series.insert(opened.series, opened.case.clone());
        }
    }

    fn add_value(&mut self, series: u32, value: f64) {
        self.loaded.values_mut().for_each(|points| points.add(series, value));
        let case = self.case_of_series.get(&series).and_then(|case| self.cases.get_mut(case));
        if let Some(case) = case {
            case.values.push(value);
        }
    }

    /// Sets the message about the current activity.
    pub fn set_message(&mut self, message: &str) {
        message.clone_into(&mut self.message);
    }

    /// Ends the measuring phase: what follows has no planned time.
    pub fn finish_measuring(&mut self) {
        self.planned_s = 0.0;
    }

    /// Renders the progress in a line of at most `width` columns; it changes every half second.
    pub fn line(&self, elapsed_s: f64, width: usize) -> String {
        let sign = SPINNER[(elapsed_s.max(0.0) * SPINNER_STEPS_PER_S) as usize % SPINNER.len()];
        let room = width.saturating_sub(2);
        let line = match self.planned_s > 0.0 {
            true => self.language.scope(|| self.line_with_bar(elapsed_s, room)),
            false => self.message.clone(),
        };
        truncate(&format!("{sign} {line}"), width)
    }

    /// Renders the progress for output that cannot be overwritten.
    pub fn plain_line(&self, elapsed_s: f64, width: usize) -> String {
        let room = width.saturating_sub(2);
        let line = match self.planned_s > 0.0 {
            true => {
                let (_, left_s, late_s) = self.times(elapsed_s);
                self.language
                    .scope(|| self.compose_line("", &format_remaining(left_s, late_s), room))
            }
            false => self.message.clone(),
        };
        truncate(&format!("  {line}"), width)
    }

    fn line_with_bar(&self, elapsed_s: f64, room: usize) -> String {
        let (share, left_s, late_s) = self.times(elapsed_s);
        let full = (share.clamp(0.0, 1.0) * BAR_CELLS as f64) as usize;
        let bar = "━".repeat(full) + &"╌".repeat(BAR_CELLS - full);
        self.compose_line(&bar, &format_remaining(left_s, late_s), room)
    }

    /// Returns the completed share of the plan, the remaining seconds, and the seconds by which
    /// open cases exceed their plan.
    fn times(&self, elapsed_s: f64) -> (f64, u64, u64) {
        let open_s: f64 =
            self.cases.values().filter(|it| it.is_open).map(|it| it.budget_s).sum();
        let spent_s = (elapsed_s - self.since_s).clamp(0.0, open_s);
        let left_s = (self.planned_s - self.done_s - spent_s).max(0.0);
        let late_s = (elapsed_s - self.since_s - open_s).max(0.0);
        (1.0 - left_s / self.planned_s, left_s.ceil() as u64, late_s as u64)
    }

    /// Composes the line. The value has priority: the bar is dropped and names are shortened first.
    fn compose_line(&self, bar: &str, left: &str, room: usize) -> String {
        let is_named = |case: &&String| {
            let rest = self.message.strip_prefix(case.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ':']))
        };
        // A name may contain a colon.
        let case = self.cases.keys().filter(is_named).max_by_key(|case| case.len());
        let value = case.and_then(|case| self.value_so_far(case));
        let value = value.map(|it| format!("  {it}")).unwrap_or_default();
        let message = format_sizes(&self.message);
        let fits = |bar: &str| {
            let others = columns(bar) + columns(left) + 3 + columns(&value);
            room.checked_sub(others).filter(|it| *it >= columns(&message).min(MIN_NAME_COLUMNS))
        };
        let (bar, room) = match fits(bar).filter(|_| !bar.is_empty()) {
            Some(room) => (format!("{bar} "), room),
            None => (String::new(), room.saturating_sub(columns(left) + 2 + columns(&value))),
        };
        format!("{bar}{left}  {}{value}", ellipsize(&message, room))
    }

    /// Records the last second of one of several hosts.
    pub fn update_host(
        &mut self,
        host: &str,
        rates: &[Quantity],
        latency_s: Option<f64>,
        cpu: Option<f64>,
    ) {
        let new = HostRates { name: host.to_owned(), rates: rates.to_vec(), latency_s, cpu };
        match self.hosts.iter_mut().find(|it| it.name == host) {
            Some(known) => *known = new,
            None => self.hosts.push(new),
        }
    }

    /// Renders the last second of the hosts, in total and individually. If they exceed `height`
    /// lines, only the slowest hosts are included.
    pub fn host_lines(&self, width: usize, height: usize) -> Vec<String> {
        let Some(first) = self.hosts.first().filter(|_| height > 0) else { return Vec::new() };
        let total = |place: usize| {
            let unit = first.rates[place].unit;
            let same = self.hosts.iter().filter_map(|it| it.rates.get(place));
            let values = same.filter(|it| it.unit == unit).map(|it| it.value);
            Quantity::new(values.sum(), unit)
        };
        let rates: Vec<Quantity> = (0..first.rates.len()).map(total).collect();
        let name =
            self.language.scope(|| words::count_message("hosts-measuring", self.hosts.len()));
        let all = HostRates { name, rates, latency_s: None, cpu: None };
        let mut hosts: Vec<&HostRates> = self.hosts.iter().collect();
        if hosts.len() > 1 && hosts.len() >= height {
            hosts.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
            hosts.truncate(height - 1);
        }
        // A single host is its own total.
        let all = (self.hosts.len() > 1).then_some(&all);
        let lines = all.into_iter().chain(hosts);
        let lines = lines.map(|host| self.language.scope(|| host.line()));
        lines.map(|line| truncate(&line, width)).collect()
    }

    /// Returns the value of a case so far: the median of its representative series, or both ends of a
    /// loaded latency.
    pub fn value_so_far(&self, case: &str) -> Option<String> {
        if let Some(points) = self.loaded.get(case) {
            return self.language.scope(|| points.format_ends());
        }
        let CaseProgress { metric: Some(metric), values, .. } = self.cases.get(case)? else {
            return None;
        };
        let median = median(values)?;
        Some(self.language.scope(|| format_value(Quantity::new(median, metric.unit))))
    }
}

/// Returns the median, as in reports: the mean of both middle values of an even number.
fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let (low, high) =
        (values.get(values.len().saturating_sub(1) / 2)?, values.get(values.len() / 2)?);
    Some(low.midpoint(*high))
}

/// Formats the remaining time and the overrun; one of the two always changes.
fn format_remaining(left_s: u64, late_s: u64) -> String {
    let clock = |seconds: u64| format!("{}:{:02}", seconds / 60, seconds % 60);
    match (left_s, late_s) {
        (_, 0) => message!("progress-left", time = clock(left_s)),
        (0, _) => message!("progress-over", time = clock(late_s)),
        _ => message!("progress-late", left = clock(left_s), late = clock(late_s)),
    }
}

fn format_value(quantity: Quantity) -> String {
    words::without_no_break_spaces(&units::quantity(quantity.value, quantity.unit, 3))
}

fn columns(text: &str) -> usize {
    text.width()
}

/// Formats the byte count in a case name as a size.
fn format_sizes(case: &str) -> String {
    const BYTES: &str = "bytes=";
    let Some((before, after)) = case.split_once(BYTES) else { return case.to_owned() };
    let end = after.find(|it: char| !it.is_ascii_digit()).unwrap_or(after.len());
    match after[..end].parse() {
        Ok(bytes) => {
            format!(
                "{before}{}{}",
                words::without_no_break_spaces(&units::size(bytes)),
                &after[end..]
            )
        }
        Err(_) => case.to_owned(),
    }
}

/// Shortens a name to the given columns, with an ellipsis.
fn ellipsize(name: &str, room: usize) -> String {
    match columns(name) <= room {
        true => name.to_owned(),
        false => truncate(name, room.saturating_sub(1)) + "…",
    }
}

/// Truncates a line to the given columns.
fn truncate(line: &str, width: usize) -> String {
    let mut left = width;
    let fits = |letter: &char| {
        let columns = letter.width().unwrap_or(0);
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    };
    line.chars().take_while(fits).collect()
}

/// Formats one second of I/O or of a transfer.
pub fn format_second(
    at_s: f64,
    rates: &[Quantity],
    latency_s: Option<f64>,
    cpu: Option<f64>,
) -> String {
    let at = words::without_no_break_spaces(&units::with_symbol(&format!("{at_s:>5.0}"), "s"));
    format!("  {at}{}", format_figures(rates, latency_s, cpu))
}

fn format_figures(rates: &[Quantity], latency_s: Option<f64>, cpu: Option<f64>) -> String {
    use std::fmt::Write as _;
    let mut line = String::new();
    for rate in rates {
        let _ = write!(line, "  {:>12}", format_value(*rate));
    }
    if let Some(latency) = latency_s {
        let _ = write!(line, "  {:>9}", format_value(Quantity::new(latency, Unit::Second)));
    }
    if let Some(cpu) = cpu {
        let share = in_percent(&format!("{:>3.0}", 100.0 * cpu));
        let _ = write!(
            line,
            "  {}",
            words::without_no_break_spaces(&message!("progress-cpu", share = share))
        );
    }
    line
}

#[cfg(test)]
mod tests;
