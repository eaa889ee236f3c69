//! How far a run is, in a line: the share of its time that is over, what remains, what is measured and how
//! much it is so far. Never reads a clock: who asks says how long the run has been going on.

use std::collections::BTreeMap;

use assay_model::attribute::{Attribute, Value};
use assay_model::benchmark::{Benchmark, Metric};
use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, SeriesOpened};
use assay_model::plan::Plan;
use assay_model::quantity::{Quantity, Unit};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::build::weight_of_size;
use crate::locale::{Language, in_percent};
use crate::{units, words};

/// Cells of the bar.
const CELLS: usize = 16;
/// What shows that somebody is there while nothing else changes: one after another, two a second.
const SIGNS: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const SIGNS_PER_S: f64 = 2.0;
/// What a case is called needs so many columns at least to be told from others.
const SHORTEST: usize = 24;
/// Letters of a host's name beside its figures.
const NAME: usize = 16;

/// What is known of a run that goes on.
#[derive(Debug)]
pub struct Progress {
    /// That of who began it: the thread that draws has none of its own.
    language: Language,
    cases: BTreeMap<String, Case>,
    planned_s: f64,
    /// Of cases that have ended, whatever they took.
    done_s: f64,
    /// When the cases that are open began, or the last one ended where none is.
    since_s: f64,
    /// The cases by the numbers of the series that stand for them.
    series: BTreeMap<u32, String>,
    message: String,
    /// What each of several hosts did in its last second, in the order in which they were first heard.
    hosts: Vec<Host>,
}

/// The last second of a host.
#[derive(Debug)]
struct Host {
    name: String,
    rates: Vec<Quantity>,
    latency_s: Option<f64>,
    cpu: Option<f64>,
}

impl Host {
    fn rate(&self) -> f64 {
        self.rates.first().map_or(0.0, |it| it.value)
    }

    fn line(&self) -> String {
        let name: String = self.name.chars().take(NAME).collect();
        format!("  {name:<NAME$}{}", figures(&self.rates, self.latency_s, self.cpu))
    }
}

#[derive(Debug, Default)]
struct Case {
    budget_s: f64,
    is_open: bool,
    metric: Option<&'static Metric>,
    /// What of the series that stands for it counts against others: whether it is a step on the way to the result,
    /// the place of its metric, and its size.
    rank: Option<(bool, usize, f64)>,
    benchmark: Option<Benchmark>,
    values: Vec<f64>,
}

impl Default for Progress {
    fn default() -> Self {
        Self {
            language: Language::current(),
            cases: BTreeMap::new(),
            planned_s: 0.0,
            done_s: 0.0,
            since_s: 0.0,
            series: BTreeMap::new(),
            message: String::new(),
            hosts: Vec::new(),
        }
    }
}

impl Progress {
    /// A run that has not begun.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let case = |case: &assay_model::plan::Case| Case {
            budget_s: case.stopping.budget_s,
            benchmark: Some(case.workload.benchmark()),
            ..Case::default()
        };
        let cases: BTreeMap<String, Case> =
            plan.cases.iter().map(|it| (it.id.clone(), case(it))).collect();
        let planned_s = cases.values().map(|it| it.budget_s).sum();
        Self { cases, planned_s, ..Self::default() }
    }

    /// Something happened, `elapsed_s` after the run began.
    pub fn see(&mut self, event: &RunEvent, elapsed_s: f64) {
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
            RunEvent::SeriesOpened(opened) => self.open(opened),
            RunEvent::Sample(sample) => self.add(sample.series, sample.value),
            RunEvent::Distribution(stretch) if stretch.seen.count > 0 => {
                self.add(stretch.series, stretch.seen.sum_ns / stretch.seen.count as f64 / 1e9);
            }
            RunEvent::Doubt { doubt: Doubt::HostLost { host, .. }, .. } => {
                self.hosts.retain(|it| it.name != *host);
            }
            RunEvent::CaseFinished { case, .. }
            | RunEvent::CaseFailed { case, host: None, .. } => {
                self.hosts.clear();
                if let Some(case) = self.cases.get_mut(case) {
                    self.done_s += case.budget_s;
                    // What it had of the time that others still have belongs to it.
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

    /// The series that stands for a case, of those that it has: the first metric that lists show, else the benchmark's
    /// first, else what it has first; of several sizes the one that stands for the machine, too. Until there is a result
    /// the last step does.
    fn open(&mut self, opened: &SeriesOpened) {
        let Some(case) = self.cases.get_mut(&opened.case) else { return };
        let Some(benchmark) = case.benchmark else { return };
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
        let bytes = opened.dimensions.get(&Attribute::Bytes).and_then(Value::number);
        let weight = weight_of_size(Some(benchmark.definition().section), metric.better);
        let is_step = opened.dimensions.contains_key(&Attribute::Step);
        let new = (is_step, rank(metric), -weight * bytes.unwrap_or(0.0));
        if case.rank.is_none_or(|known| new < known || is_step && new == known) {
            (case.metric, case.rank) = (Some(metric), Some(new));
            case.values.clear();
            self.series.retain(|_, it| *it != opened.case);
            self.series.insert(opened.series, opened.case.clone());
        }
    }

    fn add(&mut self, series: u32, value: f64) {
        let case = self.series.get(&series).and_then(|case| self.cases.get_mut(case));
        if let Some(case) = case {
            case.values.push(value);
        }
    }

    /// What is being done just now.
    pub fn say(&mut self, message: &str) {
        message.clone_into(&mut self.message);
    }

    /// The measurements are over: what remains has no time of its own.
    pub fn end(&mut self) {
        self.planned_s = 0.0;
    }

    /// The whole of it in one line of at most so many characters, another one every half second.
    #[must_use]
    pub fn line(&self, elapsed_s: f64, width: usize) -> String {
        let sign = SIGNS[(elapsed_s.max(0.0) * SIGNS_PER_S) as usize % SIGNS.len()];
        let room = width.saturating_sub(2);
        let line = match self.planned_s > 0.0 {
            true => self.language.write(|| self.measuring(elapsed_s, room)),
            false => self.message.clone(),
        };
        cut(&format!("{sign} {line}"), width)
    }

    /// The same for what cannot be drawn again.
    #[must_use]
    pub fn plain_line(&self, elapsed_s: f64, width: usize) -> String {
        let room = width.saturating_sub(2);
        let line = match self.planned_s > 0.0 {
            true => {
                let (_, left_s, late_s) = self.times(elapsed_s);
                self.language.write(|| self.told("", &remaining(left_s, late_s), room))
            }
            false => self.message.clone(),
        };
        cut(&format!("  {line}"), width)
    }

    fn measuring(&self, elapsed_s: f64, room: usize) -> String {
        let (share, left_s, late_s) = self.times(elapsed_s);
        let full = (share.clamp(0.0, 1.0) * CELLS as f64) as usize;
        let bar = "━".repeat(full) + &"╌".repeat(CELLS - full);
        self.told(&bar, &remaining(left_s, late_s), room)
    }

    /// The share of the plan that is over, the seconds that are left of it, and those that what goes on takes longer.
    fn times(&self, elapsed_s: f64) -> (f64, u64, u64) {
        let open_s: f64 =
            self.cases.values().filter(|it| it.is_open).map(|it| it.budget_s).sum();
        let spent_s = (elapsed_s - self.since_s).clamp(0.0, open_s);
        let left_s = (self.planned_s - self.done_s - spent_s).max(0.0);
        let late_s = (elapsed_s - self.since_s - open_s).max(0.0);
        (1.0 - left_s / self.planned_s, left_s.ceil() as u64, late_s as u64)
    }

    /// The value is what a reader waits for: the bar goes before it does, and names are shortened.
    fn told(&self, bar: &str, left: &str, room: usize) -> String {
        let is_named = |case: &&String| {
            let rest = self.message.strip_prefix(case.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ':']))
        };
        // A name may have a colon of its own.
        let case = self.cases.keys().filter(is_named).max_by_key(|case| case.len());
        let value = case.and_then(|case| self.value_of(case));
        let value = value.map(|it| format!("  {it}")).unwrap_or_default();
        let message = with_sizes(&self.message);
        let fits = |bar: &str| {
            let others = columns(bar) + columns(left) + 3 + columns(&value);
            room.checked_sub(others).filter(|it| *it >= columns(&message).min(SHORTEST))
        };
        let (bar, room) = match fits(bar).filter(|_| !bar.is_empty()) {
            Some(room) => (format!("{bar} "), room),
            None => (String::new(), room.saturating_sub(columns(left) + 2 + columns(&value))),
        };
        format!("{bar}{left}  {}{value}", shortened(&message, room))
    }

    /// One of several hosts says what its last second was like.
    pub fn hear(
        &mut self,
        host: &str,
        rates: &[Quantity],
        latency_s: Option<f64>,
        cpu: Option<f64>,
    ) {
        let said = Host { name: host.to_owned(), rates: rates.to_vec(), latency_s, cpu };
        match self.hosts.iter_mut().find(|it| it.name == host) {
            Some(known) => *known = said,
            None => self.hosts.push(said),
        }
    }

    /// What the hosts do just now: all together, and each by itself. Where there are more than fit into so many
    /// lines, those that do least are shown.
    #[must_use]
    pub fn table(&self, width: usize, height: usize) -> Vec<String> {
        let Some(first) = self.hosts.first().filter(|_| height > 0) else { return Vec::new() };
        let total = |place: usize| {
            let unit = first.rates[place].unit;
            let same = self.hosts.iter().filter_map(|it| it.rates.get(place));
            let values = same.filter(|it| it.unit == unit).map(|it| it.value);
            Quantity::new(values.sum(), unit)
        };
        let rates: Vec<Quantity> = (0..first.rates.len()).map(total).collect();
        let name = self.language.write(|| words::counted("hosts-measuring", self.hosts.len()));
        let all = Host { name, rates, latency_s: None, cpu: None };
        let mut hosts: Vec<&Host> = self.hosts.iter().collect();
        if hosts.len() > 1 && hosts.len() >= height {
            hosts.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
            hosts.truncate(height - 1);
        }
        // One is its own total.
        let all = (self.hosts.len() > 1).then_some(&all);
        let lines = all.into_iter().chain(hosts);
        let lines = lines.map(|host| self.language.write(|| host.line()));
        lines.map(|line| cut(&line, width)).collect()
    }

    /// The value of a case so far: the median of what stands for it.
    #[must_use]
    pub fn value_of(&self, case: &str) -> Option<String> {
        let Case { metric: Some(metric), values, .. } = self.cases.get(case)? else {
            return None;
        };
        let mut values = values.clone();
        values.sort_by(f64::total_cmp);
        let median = *values.get(values.len() / 2)?;
        Some(self.language.write(|| written(Quantity::new(median, metric.unit))))
    }
}

/// What the plan has time for yet, and how much longer than that what goes on takes: one of the two moves.
fn remaining(left_s: u64, late_s: u64) -> String {
    let clock = |seconds: u64| format!("{}:{:02}", seconds / 60, seconds % 60);
    match (left_s, late_s) {
        (0, _) => say!("progress-over", time = clock(late_s)),
        (_, 0) => say!("progress-left", time = clock(left_s)),
        _ => say!("progress-late", left = clock(left_s), late = clock(late_s)),
    }
}

fn written(quantity: Quantity) -> String {
    words::plainly(&units::quantity(quantity.value, quantity.unit, 3))
}

fn columns(text: &str) -> usize {
    text.width()
}

/// Sizes as people write them, where the name of a case has their bytes.
fn with_sizes(case: &str) -> String {
    const BYTES: &str = "bytes=";
    let Some((before, after)) = case.split_once(BYTES) else { return case.to_owned() };
    let end = after.find(|it: char| !it.is_ascii_digit()).unwrap_or(after.len());
    match after[..end].parse() {
        Ok(bytes) => {
            format!("{before}{}{}", words::plainly(&units::size(bytes)), &after[end..])
        }
        Err(_) => case.to_owned(),
    }
}

/// A name that has so many columns, and says so where it had more.
fn shortened(name: &str, room: usize) -> String {
    match columns(name) <= room {
        true => name.to_owned(),
        false => cut(name, room.saturating_sub(1)) + "…",
    }
}

/// As much of a line as fits into so many columns.
fn cut(line: &str, width: usize) -> String {
    let mut left = width;
    let fits = |letter: &char| {
        let columns = letter.width().unwrap_or(0);
        let fits = columns <= left;
        left = left.saturating_sub(columns);
        fits
    };
    line.chars().take_while(fits).collect()
}

/// What a second of I/O or of a transfer was like.
#[must_use]
pub fn second(
    at_s: f64,
    rates: &[Quantity],
    latency_s: Option<f64>,
    cpu: Option<f64>,
) -> String {
    let at = words::plainly(&units::with_symbol(&format!("{at_s:>5.0}"), "s"));
    format!("  {at}{}", figures(rates, latency_s, cpu))
}

fn figures(rates: &[Quantity], latency_s: Option<f64>, cpu: Option<f64>) -> String {
    use std::fmt::Write as _;
    let mut line = String::new();
    for rate in rates {
        let _ = write!(line, "  {:>12}", written(*rate));
    }
    if let Some(latency) = latency_s {
        let _ = write!(line, "  {:>9}", written(Quantity::new(latency, Unit::Second)));
    }
    if let Some(cpu) = cpu {
        let share = in_percent(&format!("{:>3.0}", 100.0 * cpu));
        let _ = write!(line, "  {}", words::plainly(&say!("progress-cpu", share = share)));
    }
    line
}

#[cfg(test)]
mod tests {
    use assay_model::benchmark::MpiTest;
    use assay_model::event::{Sample, Stopped};
    use assay_model::plan;
    use assay_model::workload::{
        Domain, Latency, NetworkQuestion, NetworkWorkload, PeakFlopsWorkload, Workload,
    };

    use super::*;

    fn plan() -> Plan {
        let case = |id: &str| plan::Case {
            id: id.to_owned(),
            by: "assay".to_owned(),
            workload: Workload::PeakFlops(PeakFlopsWorkload {
                domain: Domain { placement: "node".to_owned(), cpus: vec![0] },
                instruction_set: "avx2".to_owned(),
            }),
            stopping: plan::Stopping {
                target: 0.01,
                repetitions: 1,
                preparations: 1,
                budget_s: 30.0,
            },
            pair: None,
        };
        Plan {
            suite: "test".to_owned(),
            budget_s: 60.0,
            seed: None,
            cases: vec![case("a"), case("b")],
            omitted: vec![],
        }
    }

    #[test]
    fn what_is_left_and_how_much_it_is() {
        let mut progress = Progress::of(&plan());
        progress.see(&RunEvent::CaseStarted { case: "a".to_owned() }, 0.0);
        assert_eq!(progress.line(15.0, 80), "⠋ ━━━━╌╌╌╌╌╌╌╌╌╌╌╌ 0:45 left  a");
        assert_eq!(progress.value_of("a"), None);
        let metric = Benchmark::PeakFlops.definition().metrics.first().unwrap();
        progress.see(
            &RunEvent::SeriesOpened(SeriesOpened {
                series: 7,
                case: "a".to_owned(),
                metric: metric.name.to_owned(),
                dimensions: Default::default(),
            }),
            15.0,
        );
        let sample = |series, value| {
            RunEvent::Sample(Sample { series, value, weight: 1.0, preparation: 0, at_ns: 0 })
        };
        for (series, value) in [(7, 2e-9), (8, 5.0), (7, 1e-9), (7, 3e-9)] {
            progress.see(&sample(series, value), 15.0);
        }
        let value = format!("{:.3}", Quantity::new(2e-9, metric.unit));
        assert_eq!(progress.value_of("a"), Some(value.clone()));
        progress.say("a, preparation 2");
        assert!(progress.line(15.0, 80).ends_with(&format!("a, preparation 2  {value}")));
        // A case that needed less than it was given takes what remains of its time with it.
        let done = RunEvent::CaseFinished { case: "a".to_owned(), stopped: Stopped::Precise };
        progress.see(&done, 16.0);
        progress.see(&RunEvent::CaseStarted { case: "b".to_owned() }, 16.0);
        assert_eq!(progress.line(26.0, 80), "⠹ ━━━━━━━━━━╌╌╌╌╌╌ 0:20 left  b");
        assert_eq!(progress.line(99.0, 80), "⠇ ━━━━━━━━━━━━━━━━ 0:53 over plan  b");
        assert_eq!(progress.line(26.0, 20), "⠹ 0:20 left  b");
        progress.end();
        progress.say("finishing");
        assert_eq!(progress.line(99.0, 80), "⠇ finishing");
    }

    /// On a terminal of 80 columns a name is shortened, and what has been measured stays.
    #[test]
    fn a_value_is_never_cut() {
        const CASE: &str = "memory.latency/numa:0/bytes=134217728";
        let mut plan = plan();
        plan.cases[0].id = CASE.to_owned();
        let mut progress = Progress::of(&plan);
        progress.see(&RunEvent::CaseStarted { case: CASE.to_owned() }, 0.0);
        let metric = Benchmark::PeakFlops.definition().metrics[0].name.to_owned();
        let (case, dimensions) = (CASE.to_owned(), Default::default());
        let opened = SeriesOpened { series: 1, case, metric, dimensions };
        progress.see(&RunEvent::SeriesOpened(opened), 0.0);
        let sample = Sample { series: 1, value: 54.7e9, weight: 1.0, preparation: 0, at_ns: 0 };
        progress.see(&RunEvent::Sample(sample), 0.0);
        progress.say(&format!("{CASE}, preparation 2 of three"));
        let value = "  54.7 GFLOP/s";
        for (at_s, width) in [(15.0, 200), (15.0, 79), (99.0, 79), (15.0, 59), (15.0, 40)] {
            for line in [progress.line(at_s, width), progress.plain_line(at_s, width)] {
                assert!(line.ends_with(value) && line.width() <= width, "{width}: {line}");
                assert!(line.contains("memory."), "{width}: {line}");
            }
        }
        assert!(progress.line(15.0, 79).contains("memory.latency/numa:0/128 MiB, pre"));
    }

    /// Of all sizes of messages that one stands for a case that stands for the machine.
    #[test]
    fn of_many_sizes_one_stands_for_a_case() {
        for (test, metric, expected) in [
            (MpiTest::Bandwidth, "bandwidth", "4.00 GB/s"),
            (MpiTest::Latency, "latency", "1.00 s"),
        ] {
            let mut progress = Progress::of(&plan());
            progress.cases.get_mut("a").unwrap().benchmark = Some(Benchmark::Mpi(test));
            for (series, (bytes, value)) in (1..).zip([(1_u64, 1.0), (4096, 4e9), (64, 2e9)]) {
                let dimensions = [(Attribute::Bytes, bytes.into())].into_iter().collect();
                let (case, metric) = ("a".to_owned(), metric.to_owned());
                let opened = SeriesOpened { series, case, metric, dimensions };
                progress.see(&RunEvent::SeriesOpened(opened), 0.0);
                let sample = Sample { series, value, weight: 1.0, preparation: 0, at_ns: 0 };
                progress.see(&RunEvent::Sample(sample), 0.0);
            }
            assert_eq!(progress.value_of("a").as_deref(), Some(expected), "{test:?}");
        }
    }

    /// What is left as the line says it, without the sign that moves anyhow.
    fn left(progress: &Progress, elapsed_s: f64) -> String {
        let line = progress.line(elapsed_s, 200);
        line.split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_case_that_takes_longer_than_planned_is_said_to() {
        let mut progress = Progress::of(&plan());
        progress.see(&RunEvent::CaseStarted { case: "a".to_owned() }, 0.0);
        assert_eq!(left(&progress, 29.0), "0:31 left a");
        assert_eq!(left(&progress, 90.0), "0:30 left, 1:00 longer than planned a");
        let done = RunEvent::CaseFinished { case: "a".to_owned(), stopped: Stopped::Budget };
        progress.see(&done, 100.0);
        assert_eq!(left(&progress, 100.5), "0:30 left a");
        assert_eq!(left(&progress, 103.0), "0:30 left, 0:03 longer than planned a");
        progress.see(&RunEvent::CaseStarted { case: "b".to_owned() }, 104.0);
        assert_eq!(left(&progress, 114.0), "0:20 left b");
    }

    /// Cases before their time, after it, none at all, and several in turns: within two seconds it is another time.
    #[test]
    fn what_is_left_never_stands_still() {
        let case = |id: &str| RunEvent::CaseStarted { case: id.to_owned() };
        let end =
            |id: &str| RunEvent::CaseFinished { case: id.to_owned(), stopped: Stopped::Budget };
        for events in [
            vec![(0.0, case("a")), (50.0, end("a")), (70.0, case("b"))],
            vec![(20.0, case("a")), (21.0, end("a")), (21.0, case("b")), (22.0, end("b"))],
            vec![(0.0, case("a")), (0.0, case("b")), (5.0, end("a")), (90.0, end("b"))],
            vec![(0.0, case("a")), (0.0, case("b")), (58.0, end("b")), (60.0, end("a"))],
        ] {
            let mut progress = Progress::of(&plan());
            let mut coming = events.iter().peekable();
            let mut shown: Vec<String> = Vec::new();
            for half in 0..300 {
                let at_s = f64::from(half) / 2.0;
                while let Some((_, event)) = coming.next_if(|(when_s, _)| *when_s <= at_s) {
                    progress.see(event, at_s);
                }
                shown.push(left(&progress, at_s));
            }
            let still = shown.windows(5).position(|it| it.iter().all(|line| *line == it[0]));
            assert_eq!(still, None, "{events:?} {shown:?}");
        }
    }

    /// A case of round trips has no goodput, and a case of transfers has it beside all else.
    #[test]
    fn what_stands_for_a_case_is_what_it_has() {
        let question = NetworkQuestion::Latency(Latency {
            bytes: 1,
            seconds: 1,
            spin: false,
            rate_per_s: None,
            load_streams: 0,
            busy_poll_us: None,
        });
        let work = NetworkWorkload { to: None, port: None, question };
        for (workload, opened, expected) in [
            (
                Workload::NetworkTcp(work.clone()),
                &["round_trip", "half_round_trip"][..],
                Some("1.00 s"),
            ),
            (Workload::NetworkUdp(work.clone()), &["half_round_trip", "loss"], Some("1.00 s")),
            (
                Workload::NetworkUdp(work.clone()),
                &["loss", "goodput", "cpu_load"],
                Some("2.00 bit/s"),
            ),
            (
                Workload::NetworkTcp(work.clone()),
                &["cpu_load", "goodput", "round_trip"],
                Some("2.00 bit/s"),
            ),
            (Workload::NetworkTcp(work.clone()), &[], None),
        ] {
            let mut plan = plan();
            plan.cases[0].workload = workload;
            let mut progress = Progress::of(&plan);
            for (series, metric) in (1..).zip(opened) {
                let (case, metric) = ("a".to_owned(), (*metric).to_owned());
                let opened =
                    SeriesOpened { series, case, metric, dimensions: Default::default() };
                progress.see(&RunEvent::SeriesOpened(opened), 0.0);
                let value = f64::from(series);
                let sample = Sample { series, value, weight: 1.0, preparation: 0, at_ns: 0 };
                progress.see(&RunEvent::Sample(sample), 0.0);
            }
            assert_eq!(progress.value_of("a").as_deref(), expected, "{opened:?}");
        }
    }

    /// Rounds and rates that are tried lead to a result: each is shown until there is another, and the result at last.
    #[test]
    fn steps_stand_for_a_case_until_there_is_a_result() {
        let mut progress = Progress::of(&plan());
        progress.cases.get_mut("a").unwrap().benchmark = Some(Benchmark::Storage);
        for (series, (step, metric, value, expected)) in (1..).zip([
            (Some(0), "rate", 900.0, "900 IO/s"),
            (Some(1), "rate", 450.0, "450 IO/s"),
            (Some(1), "late", 7.0, "450 IO/s"),
            (Some(2), "rate", 675.0, "675 IO/s"),
            (None, "latency", 1.0, "1.00 s"),
            (None, "rate", 450.0, "450 IO/s"),
            (Some(3), "rate", 1.0, "450 IO/s"),
        ]) {
            let dimensions = step.map(|it: u64| (Attribute::Step, it.into()));
            let dimensions = dimensions.into_iter().collect();
            let (case, metric) = ("a".to_owned(), metric.to_owned());
            let opened = SeriesOpened { series, case, metric, dimensions };
            progress.see(&RunEvent::SeriesOpened(opened), 0.0);
            let sample = Sample { series, value, weight: 1.0, preparation: 0, at_ns: 0 };
            progress.see(&RunEvent::Sample(sample), 0.0);
            assert_eq!(progress.value_of("a").as_deref(), Some(expected), "{series}");
        }
    }

    /// Whatever goes on or does not: who looks twice within two seconds sees another line.
    #[test]
    fn the_line_never_stands_still() {
        let mut beginning = Progress::default();
        beginning.say("looking at the machine");
        let mut measuring = Progress::of(&plan());
        measuring.see(&RunEvent::CaseStarted { case: "a".to_owned() }, 0.0);
        for progress in [beginning, measuring] {
            for at in 0..400 {
                let line = |after_s: f64| progress.line(f64::from(at) / 2.0 + after_s, 80);
                for after_s in [0.5, 1.0, 1.5, 2.0] {
                    assert_ne!(line(0.0), line(after_s), "{at} {after_s}");
                }
            }
        }
    }

    #[test]
    fn a_second_has_what_is_known_of_it() {
        let rates =
            [Quantity::new(5e4, Unit::IoPerSecond), Quantity::new(2e8, Unit::BytePerSecond)];
        assert_eq!(
            second(3.0, &rates, Some(6.4e-4), Some(0.123)),
            "      3 s    50.0 kIO/s      200 MB/s     640 µs   12 % CPU"
        );
        assert_eq!(second(12.0, &rates[..1], None, None), "     12 s    50.0 kIO/s");
    }

    #[test]
    fn hosts_are_shown_with_their_total_and_the_slowest_where_there_are_many() {
        let mut progress = Progress::of(&plan());
        assert_eq!(progress.table(80, 10), Vec::<String>::new());
        let rate = |value| [Quantity::new(value, Unit::IoPerSecond)];
        progress.hear("vm1", &rate(9e3), None, Some(0.5));
        assert_eq!(progress.table(80, 10).len(), 1, "one is its own total");
        for (host, value) in [("vm2", 4e3), ("vm3", 2e3), ("vm1", 3e3)] {
            progress.hear(host, &rate(value), None, Some(0.5));
        }
        let shown = |progress: &Progress, height| {
            let lines = progress.table(80, height).into_iter();
            lines
                .map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
        };
        let expected =
            ["3 hosts 9.00 kIO/s", "vm1 3.00 kIO/s 50 % CPU", "vm2 4.00 kIO/s 50 % CPU"];
        assert_eq!(shown(&progress, 10)[..3], expected);
        assert_eq!(shown(&progress, 2), ["3 hosts 9.00 kIO/s", "vm3 2.00 kIO/s 50 % CPU"]);
        assert_eq!(progress.table(9, 10)[1], "  vm1    ");
        progress.see(&RunEvent::CaseStarted { case: "b".to_owned() }, 1.0);
        assert_eq!(progress.table(80, 10), Vec::<String>::new());
    }
}
