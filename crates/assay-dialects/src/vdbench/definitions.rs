//! Definitions of hosts, storage and workloads, with all defaults applied.
//!
//! Selectors remain text here; compiling the runs resolves them.

use std::collections::HashSet;

use super::attributes::{
    MAX_THREADS, OpenFlags, SKEW_DIVISOR, SeekPattern, TransferSizes, check_sector_multiple,
    parse_divided, parse_hot_band, parse_open_flags, parse_pair, parse_percent, parse_positive,
    parse_range, parse_seek, parse_sizes, parse_strides, report_unapplied,
};
use super::keywords::DefinitionKind;
use super::lines::{Lines, SourceSpan};
use super::runs::RunDefinition;
use super::statements::{Parameter, Statement};
use super::tokens::ParameterElement;
use super::values::{self, Scalar};

mod duplicates;
mod file_systems;
mod general;

pub(super) use duplicates::DuplicateParameters;
pub(super) use file_systems::{FileTreeDefinition, FileWorkloadDefinition};
pub(super) use general::GeneralParameters;

/// All definitions of the files.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) general: GeneralParameters,
    pub(super) hosts: Vec<HostDefinition>,
    pub(super) storages: Vec<StorageDefinition>,
    pub(super) workloads: Vec<WorkloadDefinition>,
    /// `wd=default`, for runs that name storage but no workload.
    pub(super) default_workload: WorkloadDefinition,
    pub(super) runs: Vec<RunDefinition>,
    pub(super) file_systems: Vec<FileTreeDefinition>,
    pub(super) file_workloads: Vec<FileWorkloadDefinition>,
    /// `fwd=default`, and `fwd=format` if defined.
    default_file_workload: FileWorkloadDefinition,
    pub(super) format: Option<FileWorkloadDefinition>,
    /// Location of the first definition of a file-system workload.
    pub(super) first_file_definition: Option<SourceSpan>,
}

/// Infix between the name of a host and the number of its client.
pub(super) const CLIENT_INFIX: &str = "_cl";
/// Maximum number of clients of one host; a larger number is taken for a mistake.
const MAX_CLIENTS: u32 = 4096;

/// Host definition (hd).
#[derive(Debug, Clone)]
pub(super) struct HostDefinition {
    pub(super) label: String,
    pub(super) system: String,
    pub(super) user: Option<String>,
    pub(super) spot: SourceSpan,
}

/// Defaults of host definitions.
#[derive(Debug, Clone, Default)]
struct DefaultHost {
    system: Option<String>,
    user: Option<String>,
    clients: Option<u32>,
}

/// Storage definition (sd): a file or device.
#[derive(Debug, Clone)]
pub(super) struct StorageDefinition {
    pub(super) name: ParameterElement,
    /// Paths, each with the hosts that use it (none: all).
    pub(super) luns: Vec<(ParameterElement, Vec<ParameterElement>)>,
    pub(super) size_bytes: Option<u64>,
    pub(super) threads: u32,
    pub(super) flags: Option<OpenFlags>,
    pub(super) range: Option<(f64, f64)>,
    pub(super) offset_bytes: u64,
    pub(super) align_bytes: Option<u64>,
    pub(super) hit_area_bytes: u64,
    /// Its own parameters of deduplication.
    pub(super) duplicates: Option<DuplicateParameters>,
}

/// Workload definition (wd).
#[derive(Debug, Clone)]
pub(super) struct WorkloadDefinition {
    pub(super) name: String,
    pub(super) storages: Vec<ParameterElement>,
    pub(super) hosts: Vec<ParameterElement>,
    pub(super) read_percent: f64,
    pub(super) sizes: TransferSizes,
    pub(super) seek: SeekPattern,
    pub(super) skew_percent: Option<f64>,
    pub(super) hit_percents: (f64, f64),
    pub(super) range: Option<(f64, f64)>,
    pub(super) streams: Option<u32>,
    /// Smallest and largest gap of random access in ascending order, in bytes.
    pub(super) strides: Option<(u64, u64)>,
    /// Number of I/O in flight, for concatenated storage.
    pub(super) threads: Option<u32>,
    pub(super) priority: Option<(u32, SourceSpan)>,
    pub(super) rate_per_s: Option<f64>,
    pub(super) flags: Option<OpenFlags>,
    pub(super) spot: SourceSpan,
}

const NO_SPAN: SourceSpan = SourceSpan { line: 0, start: 0, end: 0 };

impl Default for StorageDefinition {
    fn default() -> Self {
        let name = ParameterElement { text: String::new(), is_quoted: false, spot: NO_SPAN };
        Self {
            name,
            luns: Vec::new(),
            size_bytes: None,
            threads: 8,
            flags: None,
            range: None,
            offset_bytes: 0,
            align_bytes: None,
            hit_area_bytes: 1 << 20,
            duplicates: None,
        }
    }
}

impl Default for WorkloadDefinition {
    fn default() -> Self {
        Self {
            name: "default".into(),
            storages: Vec::new(),
            hosts: Vec::new(),
            read_percent: 100.0,
            sizes: TransferSizes::Shares(vec![(4096, 100.0)]),
            seek: SeekPattern::Percent(100.0),
            skew_percent: None,
            hit_percents: (0.0, 0.0),
            range: None,
            streams: None,
            strides: None,
            threads: None,
            priority: None,
            rate_per_s: None,
            flags: None,
            spot: NO_SPAN,
        }
    }
}

impl Definitions {
    /// Applies defaults and parameters to each definition in order.
    pub(super) fn from_statements(lines: &mut Lines, statements: &[Statement]) -> Self {
        let mut all = Self::default();
        let (mut storage, mut run) = (StorageDefinition::default(), RunDefinition::default());
        let mut file_system = FileTreeDefinition::default();
        let mut host = DefaultHost::default();
        let mut names = HashSet::new();
        let mut latest = DefinitionKind::General;
        for statement in statements {
            if !statement.is_default() {
                check_duplicate(lines, statement, &mut names);
            }
            check_order(lines, statement, &mut latest);
            match statement.kind {
                DefinitionKind::General => all.general.apply(lines, statement),
                DefinitionKind::Host => all.define_host(lines, statement, &mut host),
                DefinitionKind::Storage => all.define_storage(lines, statement, &mut storage),
                DefinitionKind::Workload => all.define_workload(lines, statement),
                DefinitionKind::Run => all.define_run(lines, statement, &mut run),
                DefinitionKind::FileSystem => {
                    all.first_file_definition.get_or_insert(statement.name.spot);
                    let made =
                        file_systems::define_file_trees(lines, statement, &mut file_system);
                    all.file_systems.extend(made);
                }
                DefinitionKind::FileWorkload => all.define_file_workload(lines, statement),
                DefinitionKind::ReplayGroup => {}
            }
        }
        all
    }

    fn define_host(
        &mut self,
        lines: &mut Lines,
        statement: &Statement,
        defaults: &mut DefaultHost,
    ) {
        let mut host = defaults.clone();
        for parameter in &statement.parameters {
            let word = || parameter.elements.first().map(|element| element.text.clone());
            match parameter.keyword.name {
                "system" => host.system = word(),
                "user" => host.user = word(),
                "clients" => {
                    let most = f64::from(MAX_CLIENTS);
                    host.clients = parse_positive(lines, parameter).map(|n| n.min(most) as u32);
                }
                // `--via` sets how hosts are reached.
                "shell" => {}
                _ => report_unapplied(lines, parameter),
            }
            if parameter.elements.iter().any(|element| element.text.is_empty()) {
                let message = format!("`{}` has an empty value", parameter.keyword.spelled);
                lines.report_error("V111", parameter.spot, message);
            }
        }
        if statement.is_default() {
            *defaults = host;
            return;
        }
        let (name, spot) = (&statement.name.text, statement.name.spot);
        let system = host.system.unwrap_or_else(|| name.clone());
        let labels: Vec<String> = match host.clients {
            None => vec![name.clone()],
            Some(clients) => {
                (0..clients).map(|nth| format!("{name}{CLIENT_INFIX}{nth}")).collect()
            }
        };
        self.hosts.extend(labels.into_iter().map(|label| HostDefinition {
            label,
            system: system.clone(),
            user: host.user.clone(),
            spot,
        }));
    }

    fn define_storage(
        &mut self,
        lines: &mut Lines,
        statement: &Statement,
        defaults: &mut StorageDefinition,
    ) {
        let mut storage =
            StorageDefinition { name: statement.name.clone(), ..defaults.clone() };
        let mut count = None;
        for parameter in &statement.parameters {
            let only_once = matches!(parameter.keyword.name, "lun" | "count");
            if only_once && statement.is_default() {
                let message = format!("`{}` may not be a default", parameter.keyword.spelled);
                lines
                    .report_error("V142", parameter.spot, message)
                    .add_vdbench_behaviour("stops");
            } else if parameter.keyword.name == "count" {
                count = parse_pair(lines, parameter).map(|pair| (pair, parameter));
            } else {
                storage.apply(lines, parameter);
            }
        }
        if statement.is_default() {
            *defaults = storage;
        } else if let Some(((start, n), parameter)) = count {
            self.replicate(lines, &storage, (start, n), parameter);
        } else {
            self.storages.push(storage);
        }
    }

    /// Adds the copies of `count=(start,n)`, with a number appended to name and path.
    fn replicate(
        &mut self,
        lines: &mut Lines,
        storage: &StorageDefinition,
        (start, n): (f64, f64),
        parameter: &Parameter,
    ) {
        /// Maximum number of copies; a larger number is taken for a mistake.
        const MOST: u32 = 100_000;
        let Some(start) = values::check_first_number(lines, parameter, start) else { return };
        let Some(n) = values::check_count(lines, parameter, n, MOST) else { return };
        for number in (0..u64::from(n)).map(|index| start + index) {
            let mut copy = storage.clone();
            copy.name.text = insert_number(&storage.name.text, number);
            for (lun, _) in &mut copy.luns {
                lun.text = insert_number(&lun.text, number);
            }
            self.storages.push(copy);
        }
    }

    fn define_workload(&mut self, lines: &mut Lines, statement: &Statement) {
        let mut workload = self.default_workload.clone();
        workload.name.clone_from(&statement.name.text);
        workload.spot = statement.name.spot;
        for parameter in &statement.parameters {
            workload.apply(lines, parameter);
        }
        if statement.is_default() {
            self.default_workload = workload;
        } else {
            self.workloads.push(workload);
        }
    }

    fn define_file_workload(&mut self, lines: &mut Lines, statement: &Statement) {
        let mut work = self.default_file_workload.clone();
        work.name.clone_from(&statement.name.text);
        work.spot = statement.name.spot;
        for parameter in &statement.parameters {
            work.apply(lines, parameter);
        }
        self.first_file_definition.get_or_insert(work.spot);
        if statement.is_default() {
            self.default_file_workload = work;
        } else if statement.name.text.eq_ignore_ascii_case("format") {
            self.format = Some(work);
        } else {
            self.file_workloads.push(work);
        }
    }

    fn define_run(
        &mut self,
        lines: &mut Lines,
        statement: &Statement,
        defaults: &mut RunDefinition,
    ) {
        let mut run = RunDefinition { name: statement.name.clone(), ..defaults.clone() };
        for parameter in &statement.parameters {
            run.apply(lines, parameter);
        }
        if statement.is_default() {
            *defaults = run;
        } else {
            self.runs.push(run);
        }
    }
}

impl StorageDefinition {
    fn apply(&mut self, lines: &mut Lines, parameter: &Parameter) {
        match parameter.keyword.name {
            "lun" => match self.luns.last_mut() {
                Some((lun, _)) if lun.text.is_empty() => *lun = parameter.elements[0].clone(),
                _ => self.luns.push((parameter.elements[0].clone(), Vec::new())),
            },
            "host" => {
                let hosts = values::parse_names(lines, parameter);
                match self.luns.last_mut() {
                    Some((lun, lun_hosts)) if !lun.text.is_empty() => *lun_hosts = hosts,
                    // `host=` before `lun=` applies to the next `lun=`.
                    _ => {
                        let none = ParameterElement {
                            text: String::new(),
                            ..parameter.elements[0].clone()
                        };
                        self.luns = vec![(none, hosts)];
                    }
                }
            }
            "size" => self.size_bytes = parse_divided(lines, parameter).map(|size| size as u64),
            "threads" => {
                let threads = parse_divided(lines, parameter).map(|n| n.max(1.0).floor());
                let threads =
                    threads.and_then(|n| values::check_count(lines, parameter, n, MAX_THREADS));
                self.threads = threads.unwrap_or(self.threads);
            }
            "openflags" => self.flags = parse_open_flags(lines, parameter),
            "range" => self.range = parse_range(lines, parameter),
            "offset" => {
                self.offset_bytes = values::parse_one_number(lines, parameter)
                    .map_or(0, |offset| offset as u64);
                check_sector_multiple(lines, parameter, self.offset_bytes);
            }
            "align" => {
                self.align_bytes =
                    values::parse_one_number(lines, parameter).map(|align| align as u64);
                check_sector_multiple(lines, parameter, self.align_bytes.unwrap_or(0));
            }
            "hitarea" => {
                let bytes = values::parse_one_number(lines, parameter);
                self.hit_area_bytes = bytes.map_or(self.hit_area_bytes, |bytes| bytes as u64);
            }
            _ if duplicates::apply(&mut self.duplicates, lines, parameter) => {}
            _ => report_unapplied(lines, parameter),
        }
    }
}

impl WorkloadDefinition {
    fn apply(&mut self, lines: &mut Lines, parameter: &Parameter) {
        match parameter.keyword.name {
            "sd" => self.storages = values::parse_names(lines, parameter),
            "host" => self.hosts = values::parse_names(lines, parameter),
            "rdpct" => {
                self.read_percent =
                    parse_percent(lines, parameter).unwrap_or(self.read_percent);
            }
            "writepct" => {
                let written = parse_percent(lines, parameter);
                self.read_percent =
                    written.map_or(self.read_percent, |percent| 100.0 - percent);
            }
            "xfersize" => {
                if let Some(sizes) = parse_sizes(lines, parameter) {
                    self.sizes = sizes;
                }
            }
            "seekpct" => {
                let values = values::parse_values(lines, parameter).unwrap_or_default();
                if let Some(seek) = values.first().and_then(|v| parse_seek(lines, parameter, v))
                {
                    self.seek = seek;
                }
                // `(poisson,5)`: the mean distance is a fifth of the range.
                if let (SeekPattern::Skewed(_), Some(Scalar::Number(divisor))) =
                    (self.seek, values.get(1).map(|parsed| &parsed.value))
                {
                    self.seek = SeekPattern::Skewed(divisor.value.max(1.0));
                }
            }
            "skew" => self.skew_percent = parse_percent(lines, parameter),
            "rhpct" => self.hit_percents.0 = parse_percent(lines, parameter).unwrap_or(0.0),
            "whpct" => self.hit_percents.1 = parse_percent(lines, parameter).unwrap_or(0.0),
            "range" => self.range = parse_range(lines, parameter),
            "hotband" => {
                self.range = parse_hot_band(lines, parameter);
                self.seek = SeekPattern::Skewed(SKEW_DIVISOR);
            }
            "stride" => self.strides = parse_strides(lines, parameter),
            "priority" => {
                let value = values::parse_one_number(lines, parameter);
                let rank = value
                    .and_then(|value| values::check_count(lines, parameter, value, u32::MAX));
                self.priority = rank.map(|rank| (rank, parameter.spot));
            }
            "streams" => {
                let streams = values::parse_numbers(lines, parameter).unwrap_or_default();
                match streams[..] {
                    [n] => {
                        self.streams =
                            values::check_count(lines, parameter, n.value, MAX_THREADS);
                    }
                    _ => {
                        let message = "streams with their own size are not supported";
                        let help = "set only their number";
                        lines.report_error("V114", parameter.spot, message).add_help(help);
                    }
                }
            }
            "iorate" => self.rate_per_s = parse_positive(lines, parameter),
            "threads" => {
                let threads = values::parse_one_number(lines, parameter);
                self.threads =
                    threads.and_then(|n| values::check_count(lines, parameter, n, MAX_THREADS));
            }
            "openflags" => self.flags = parse_open_flags(lines, parameter),
            _ => report_unapplied(lines, parameter),
        }
    }
}

/// Inserts a number into a name, in place of `%d` or `%04d`, or else at the end.
fn insert_number(text: &str, number: u64) -> String {
    let place = text.find('%').and_then(|at| {
        let width: String = text[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        text[at + 1 + width.len()..].starts_with('d').then_some((at, width))
    });
    let Some((at, digits)) = place else { return format!("{text}{number}") };
    // File names have at most 255 bytes.
    let width = digits.parse::<usize>().unwrap_or(0).min(255);
    let rest = &text[at + 1 + digits.len() + 1..];
    format!("{}{number:0width$}{rest}", &text[..at])
}

fn check_duplicate(
    lines: &mut Lines,
    statement: &Statement,
    names: &mut HashSet<(DefinitionKind, String)>,
) {
    let name = statement.name.text.to_ascii_lowercase();
    if statement.kind != DefinitionKind::General && !names.insert((statement.kind, name)) {
        let message = format!("`{}` is defined twice", statement.name.text);
        lines
            .report_error("V142", statement.name.spot, message)
            .advise("give each definition of a kind a unique name", "stops");
    }
}

/// Warns about definitions out of order: Vdbench requires hosts, storage, workloads, then runs.
fn check_order(lines: &mut Lines, statement: &Statement, latest: &mut DefinitionKind) {
    if statement.kind < *latest {
        let message = format!(
            "`{}` is defined after definitions that must follow it",
            statement.name.text
        );
        lines
            .report_warning("V141", statement.name.spot, message)
            .advise("use the order hd, sd, wd, rd or hd, fsd, fwd, rd", "stops");
    }
    *latest = (*latest).max(statement.kind);
}
