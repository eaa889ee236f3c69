//! `assay run --hosts`: measures a suite on many hosts at once and stores it as one run.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use assay_fleet::fleet_file::FleetHost;
use assay_fleet::hosts;
use assay_fleet::pairs::{Matrix, Rounds};
use assay_fleet::remote::agents;
use assay_fleet::remote::controller::Course;
use assay_kernels::{clock, heap};
use assay_model::doubt::Doubt;
use assay_model::host_names;
use assay_model::plan::expand;
use assay_model::suite::{MeasureRequest, Suite};
use assay_model::summary::RunSummary;
use assay_report::build::{self, UnreachableHost};
use assay_report::words;
use serde_json::json;

use super::doctor_hosts::{self, Way};
use super::limits::{self, Held};
use crate::arguments::hosts::{FleetArguments, OnHostFailure};
use crate::arguments::{Format, RunArguments};
use crate::failure::{REGRESSION, exit_code};
use crate::listening::Listening;
use crate::pipeline::{Demands, Extent, Said};
use crate::terminal::Terminal;
use crate::{output_file, pipeline, signals, stored, suites};
use assay_console::options::given_words;
use assay_run::failure::{Failure, Kind};
use assay_run::fleet::{self, FleetPlan, FleetQuestion};
use assay_run::question::fresh_seed;

/// Number of hosts above which memory matters more than threads waiting for a shared heap: 150
/// agents took 104 MB with an arena for every few threads, and 93 MB with one.
const MANY: usize = 64;

pub(super) fn run(typed: &RunArguments, terminal: &mut Terminal) -> Result<u8, Failure> {
    refuse_conditions(typed)?;
    let demands = Demands::of(&typed.measuring)?;
    typed.fleet.drain_list.as_deref().map(output_file::check).transpose()?;
    let limits = typed.fleet.limits.as_deref().map(limits::read).transpose()?;
    let data_sheet = typed.measuring.data_sheet.read()?;
    // Errors of the suite itself are reported once here, not by every host.
    let texts = suites::texts(&typed.suites)?;
    let suite = suites::read_all(&typed.suites, &texts)?;
    let cancel = signals::cancel_on_signals_aloud()?;
    Listening::before(terminal, "progress-hosts-sought", typed.measuring.quiet);
    let mut way = doctor_hosts::way(&typed.fleet.hosts, &cancel, terminal)?;
    let pairs = pairs(typed, &suite, &way.hosts)?;
    if pairs.is_empty() {
        way.hosts.retain(|host| !host.is_far_end);
    }
    let Way { hosts, via, program, .. } = &way;
    let names: Vec<String> = hosts.iter().map(|host| host.name.clone()).collect();
    let deadline = Duration::from_secs_f64(typed.fleet.hosts.host_deadline);
    share_the_heap(names.len());
    let question = FleetQuestion {
        names: &names,
        labels: hosts.iter().map(|host| host.labels.clone()).collect(),
        pairs,
        words: std::iter::once("run".to_owned()).chain(given_words()).collect(),
        suites: texts,
        seed: typed.measuring.seed.unwrap_or_else(fresh_seed),
        label: typed.measuring.label.first().cloned(),
        note: typed.measuring.note.clone(),
        stops_on_failure: typed.fleet.on_host_failure == OnHostFailure::Stop,
        deadline,
        case_deadline: typed.fleet.case_deadline.map(Duration::from_secs_f64),
    };
    let relays = relays(&typed.fleet, &names)?;
    let course = Course { via, program, relays: &relays, deadline, cancel: &cancel };
    if typed.measuring.dry_run {
        if !typed.measuring.quiet {
            Listening::before_saying(terminal, &waiting_for(&names));
        }
        let planned = agents::with(&names, &course, clock::now_ns, |hosts| {
            fleet::plan(&question, hosts, &cancel)
        })?;
        return show(&planned, typed, terminal);
    }
    let store = stored::open(&typed.measuring.store)?;
    let mut listening = pipeline::listening(terminal, &typed.measuring);
    listening.begin(&waiting_for(&names));
    let run = agents::with(&names, &course, clock::now_ns, |hosts| {
        fleet::measure(&question, hosts, Some(&store), &cancel, &mut listening)
    })?;
    let summary = data_sheet.summarize(&run);
    let extent = if typed.full { Extent::Report } else { Extent::Answer };
    pipeline::present(&run, &summary, &typed.measuring, extent, terminal)?;
    let worse = worse_than_peers(&summary);
    let held = limits.map(|limits| limits::hold(&limits, &summary));
    if let Some(held) = &held {
        held.show(terminal, typed.measuring.page.format() == Format::Text);
    }
    if let Some(file) = &typed.fleet.drain_list {
        let beyond = held.iter().flat_map(Held::beyond);
        drain(file, &summary, worse.iter().copied().chain(beyond))?;
    }
    pipeline::verdict(&summary)?;
    let code = match held.map_or(0, |held| held.code()) {
        0 => demands.met(&summary, terminal)?,
        code => code,
    };
    let is_even = worse.is_empty() && !is_worse_in_pairs(&summary);
    Ok(if typed.measuring.strict && !is_even { REGRESSION } else { code })
}

/// Limits the heap to one arena for many hosts: each host has its thread, and memory freed by one
/// is reused by another.
fn share_the_heap(hosts: usize) {
    if hosts > MANY {
        heap::keep_one_arena();
    }
}

fn refuse_conditions(typed: &RunArguments) -> Result<(), Failure> {
    if typed.switch.is_none() && typed.measuring.label.len() <= 1 {
        return Ok(());
    }
    Err(Failure::usage("--switch changes this machine, and --hosts measures others")
        .advise("measure each condition in a run of its own, with a --label"))
}

fn waiting_for(names: &[String]) -> String {
    match names {
        [name] => words::sentence("progress-waiting-for", &[("host", name)]),
        names => words::count_message("progress-waiting", names.len()),
    }
}

fn is_worse_in_pairs(summary: &RunSummary) -> bool {
    let mut doubts = summary.results.iter().flat_map(|estimate| &estimate.warnings);
    doubts.any(|doubt| matches!(doubt, Doubt::WorseThanPairs { .. }))
}

/// Returns the machines through which the hosts are reached; none if they are reached directly.
fn relays(typed: &FleetArguments, names: &[String]) -> Result<Vec<String>, Failure> {
    let Some(list) = &typed.relays else { return Ok(Vec::new()) };
    let relays = hosts::parse(list).map_err(|error| {
        Failure::usage("--relays cannot be used").because(&error).advise(error.advice())
    })?;
    match relays.iter().find(|relay| names.contains(relay)) {
        None => Ok(relays),
        Some(relay) => Err(Failure::usage(format!("{relay} is a relay and one of --hosts"))
            .advise(
                "a relay measures nothing, as that would disturb both: name other machines",
            )),
    }
}

/// Returns the requested pairs, or neighbours if the suite needs a far end. None if each host
/// measures alone.
fn pairs(typed: &RunArguments, suite: &Suite, hosts: &[FleetHost]) -> Result<Rounds, Failure> {
    let FleetArguments { pairs, matrix, .. } = &typed.fleet;
    let (option, found) = match (pairs, matrix) {
        (Some(list), _) => ("--pairs", Rounds::parse(list, hosts)),
        (None, Some(matrix)) => ("--matrix", Rounds::of_matrix(matrix.meant(), hosts)),
        (None, None) => {
            let takes_one = typed.to.is_none() && expand::needs_neighbour(suite);
            let neighbours = takes_one.then(|| Rounds::of_matrix(Matrix::Neighbours, hosts));
            // A single host has no neighbour and reports the measurements that it omits.
            return Ok(neighbours.and_then(Result::ok).unwrap_or_default());
        }
    };
    let found = found.map_err(|error| {
        let failure = Failure::usage(format!("{option} cannot be used"));
        failure.because(&error).advise(error.advice())
    })?;
    let asks =
        |what: fn(&MeasureRequest) -> bool| suite.measures.iter().any(|it| what(&it.request));
    if asks(expand::is_between_hosts) {
        return Ok(found);
    }
    let text = if !asks(|it| matches!(it, MeasureRequest::Mpi(_))) {
        format!("suite {} asks nothing of the network, so {option} has no meaning", suite.name)
    } else if let Some(given) = typed.mpi.first_of_hosts() {
        format!("{given} says where ranks run, and {option} puts one on each host of a pair")
    } else {
        return Ok(found.of_mpi());
    };
    Err(Failure::usage(text)
        .advise("`assay run network`, `assay run rdma` and `assay run mpi` measure pairs"))
}

/// Writes lost hosts and `others`, each once, in one line.
fn drain<'s>(
    file: &Path,
    summary: &'s RunSummary,
    others: impl Iterator<Item = &'s str>,
) -> Result<(), Failure> {
    let lost = summary.warnings.iter().filter_map(lost_host);
    let mut hosts: Vec<&str> = lost.chain(others).collect();
    let mut seen = BTreeSet::new();
    hosts.retain(|host| seen.insert(*host));
    let line = if hosts.is_empty() {
        String::new()
    } else {
        host_names::format_host_list(&hosts) + "\n"
    };
    output_file::write(file, &line)
}

fn lost_host(doubt: &Doubt) -> Option<&str> {
    if let Doubt::HostLost { host, .. } = doubt { Some(host) } else { None }
}

/// Returns every host that a result marks as worse than the others.
fn worse_than_peers(summary: &RunSummary) -> Vec<&str> {
    let doubts = summary.results.iter().flat_map(|estimate| &estimate.warnings);
    let named = doubts.filter_map(|doubt| {
        if let Doubt::WorseThanPeers { host, .. } = doubt { Some(host.as_str()) } else { None }
    });
    named.collect()
}

/// Prints the plan of each host without measuring.
fn show(
    planned: &FleetPlan,
    typed: &RunArguments,
    terminal: &mut Terminal,
) -> Result<u8, Failure> {
    let outlook = planned.outlook();
    let lost = planned.lost.iter();
    let lost: Vec<UnreachableHost<'_>> =
        lost.map(|lost| doctor_hosts::unreached(&lost.host, &lost.failure)).collect();
    let compact = |hosts: &Vec<String>| {
        host_names::format_host_list(&hosts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let hosts: Vec<String> = planned.hosts.iter().map(compact).collect();
    let time = (outlook.said.as_slice(), outlook.is_beyond);
    let page = build::fleet_plan(&planned.plan, &hosts, &lost, time);
    let cases = planned.plan.cases.iter().zip(&planned.hosts);
    let cases = cases.map(|(case, hosts)| json!({ "case": case, "hosts": hosts }));
    let unreached = lost
        .iter()
        .map(|it| json!({ "host": it.name, "reason": it.reason, "advice": it.advice }));
    let document = json!({
        "suite": planned.plan.suite,
        "budget_s": planned.plan.budget_s,
        "seed": planned.plan.seed,
        "outlook": Said::of(&outlook),
        "cases": cases.collect::<Vec<_>>(),
        "lost": unreached.collect::<Vec<_>>(),
    });
    pipeline::show_plan(&page, &document, &typed.measuring.page, terminal)?;
    Ok(if lost.is_empty() { 0 } else { exit_code(Kind::Measurement) })
}
