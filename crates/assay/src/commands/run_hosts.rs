//! `assay run --hosts`: measures a suite on many hosts at once and stores it as one run.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_fleet::fleet_file::FleetHost;
use assay_fleet::hosts;
use assay_fleet::pairs::{PairMatrix, PairRounds};
use assay_fleet::remote::agents;
use assay_fleet::remote::connection_options::ConnectionOptions;
use assay_kernels::{clock, heap};
use assay_model::host_names;
use assay_model::plan::expand;
use assay_model::suite::factorial::FactorialCase;
use assay_model::suite::{MeasureRequest, Suite};
use assay_report::build::{self, UnreachableHost};
use assay_report::words;
use serde_json::json;

use super::run_factors;
use crate::arguments::exec::ExecArguments;
use crate::arguments::hosts::{FleetArguments, OnHostFailure};
use crate::arguments::values::TimeBudget;
use crate::arguments::{MeasuringArguments, RunArguments};
use crate::delivery::{ReportExtent, RunDelivery};
use crate::failure::exit_code;
use crate::pipeline::{self, ForecastDocument};
use crate::progress_listener::ProgressListener;
use crate::terminal::Terminal;
use crate::{delivery, page, signals, suites};
use assay_console::host_access::{HostAccess, describe_unreachable};
use assay_console::options::command_arguments;
use assay_run::factor_turns::on_hosts::{self, TurnHosts};
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::fleet::{self, FleetPlan, FleetRequest};
use assay_run::run_request::{MeasuredRun, random_seed};
use assay_run::suites::OpenedFactors;

/// Number of hosts above which the heap has a single arena. It saves memory (150 agents: 93 MB
/// instead of 104 MB), although threads wait for each other.
const SINGLE_ARENA_HOSTS: usize = 64;

pub(super) fn run(typed: &RunArguments, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    reject_conditions(typed)?;
    // Errors of the suite itself are reported once here, not by every host.
    let suites = suites::split_names(&typed.suites, &BTreeMap::new())?;
    let texts = suites::read_texts(&suites)?;
    if let Some(opened) = suites::open_factorial(&suites, &typed.factors, &texts)? {
        return run_factors_on_hosts(&opened, &texts, typed, terminal);
    }
    let extent = if typed.full { ReportExtent::Full } else { ReportExtent::OneScreen };
    let delivery =
        RunDelivery::from_options(&typed.measuring, extent)?.with_hosts(&typed.fleet)?;
    let suite = suites::read_joined(&suites, &texts)?;
    let cancel = signals::cancel_on_signals_with_notice()?;
    let (access, pairs) = find_hosts(typed, &suite, &cancel, terminal)?;
    let names = access.names();
    let relays = parse_relays(&typed.fleet, &names)?;
    let options = access.connection_options(&relays, &cancel);
    let request = fleet_request(typed, (&access.hosts, &names), pairs, texts);
    measure_on_hosts(&request, &options, &delivery, (&typed.measuring, terminal))
}

/// Measures the programs of `assay exec` on every host.
pub(super) fn exec(
    typed: &ExecArguments,
    delivery: &RunDelivery<'_>,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let measuring = &typed.measuring;
    if measuring.label.len() > 1 {
        return Err(CommandFailure::usage("--label needs a single name"));
    }
    let cancel = signals::cancel_on_signals_with_notice()?;
    ProgressListener::show_search(
        terminal,
        "progress-hosts-sought",
        measuring.page.screen.quiet,
    );
    let mut access = HostAccess::resolve(&typed.hosts, &cancel, terminal)?;
    access.hosts.retain(|host| !host.is_far_end);
    let names = access.names();
    limit_heap_arenas(names.len());
    let options = access.connection_options(&[], &cancel);
    let request = FleetRequest {
        names: &names,
        labels: access.hosts.iter().map(|host| host.labels.clone()).collect(),
        pairs: PairRounds::default(),
        keeps_budget: measuring.budget.is_some_and(TimeBudget::is_kept),
        turn: None,
        arguments: std::iter::once("exec".to_owned()).chain(command_arguments()).collect(),
        suites: BTreeMap::new(),
        seed: measuring.seed.unwrap_or_else(random_seed),
        label: measuring.label.first().cloned(),
        note: measuring.note.clone(),
        stops_on_failure: false,
        deadline: options.deadline,
        case_deadline: None,
    };
    measure_on_hosts(&request, &options, delivery, (measuring, terminal))
}

/// Measures or plans on every host, and delivers the run.
fn measure_on_hosts(
    request: &FleetRequest<'_>,
    options: &ConnectionOptions<'_>,
    delivery: &RunDelivery<'_>,
    (typed, terminal): (&MeasuringArguments, &mut Terminal),
) -> Result<u8, CommandFailure> {
    if typed.dry_run {
        return plan_run(request, options, typed, terminal);
    }
    delivery.measure(Some(&waiting_message(request.names)), terminal, |store, listener| {
        let run = agents::with_hosts(request.names, options, clock::now_ns, |hosts| {
            fleet::measure(request, hosts, store, options.cancel, listener)
        })?;
        Ok(MeasuredRun { run, left: None })
    })
}

/// Resolves the hosts, and the pairs that the suite measures between them.
fn find_hosts(
    typed: &RunArguments,
    suite: &Suite,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<(HostAccess, PairRounds), CommandFailure> {
    ProgressListener::show_search(
        terminal,
        "progress-hosts-sought",
        typed.measuring.page.screen.quiet,
    );
    let mut access = HostAccess::resolve(&typed.fleet.hosts, cancel, terminal)?;
    let pairs = requested_pairs(typed, suite, &access.hosts)?;
    if pairs.is_empty() {
        access.hosts.retain(|host| !host.is_far_end);
    }
    limit_heap_arenas(access.hosts.len());
    Ok((access, pairs))
}

/// Returns the request to measure the suite of the command line on hosts.
fn fleet_request<'a>(
    typed: &RunArguments,
    (hosts, names): (&[FleetHost], &'a [String]),
    pairs: PairRounds,
    suites: BTreeMap<String, String>,
) -> FleetRequest<'a> {
    FleetRequest {
        names,
        labels: hosts.iter().map(|host| host.labels.clone()).collect(),
        pairs,
        arguments: std::iter::once("run".to_owned()).chain(command_arguments()).collect(),
        suites,
        seed: typed.measuring.seed.unwrap_or_else(random_seed),
        label: typed.measuring.label.first().cloned(),
        note: typed.measuring.note.clone(),
        stops_on_failure: typed.fleet.on_host_failure == OnHostFailure::Stop,
        deadline: Duration::from_secs_f64(typed.fleet.hosts.host_deadline),
        case_deadline: typed.fleet.case_deadline.map(Duration::from_secs_f64),
        keeps_budget: typed.measuring.budget.is_some_and(TimeBudget::is_kept),
        turn: None,
    }
}

/// Measures every combination of levels on the hosts, and compares them.
fn run_factors_on_hosts(
    opened: &OpenedFactors,
    texts: &BTreeMap<String, String>,
    typed: &RunArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let turns = run_factors::prepare_turns(opened, typed)?;
    let measuring = &typed.measuring;
    page::check_output(&measuring.page)?;
    let cancel = signals::cancel_on_signals_with_notice()?;
    let first = opened.suite.combinations.first();
    let first =
        first.ok_or_else(|| CommandFailure::usage("the factors have no combination"))?;
    let (access, _) = find_hosts(typed, &first.suite, &cancel, terminal)?;
    let names = access.names();
    let relays = parse_relays(&typed.fleet, &names)?;
    let options = access.connection_options(&relays, &cancel);
    let request = |case: &FactorialCase, count: usize| {
        let hosts = &access.hosts[..count];
        let pairs = requested_pairs(typed, &case.suite, hosts)?;
        Ok(fleet_request(typed, (hosts, &names[..count]), pairs, texts.clone()))
    };
    let budget_s = measuring.budget.map(TimeBudget::seconds);
    let hosts = TurnHosts { names: &names, options: &options, request: &request, budget_s };
    hosts.check_counts(&turns)?;
    if measuring.dry_run {
        if !measuring.page.screen.quiet {
            ProgressListener::show_text(terminal, &waiting_message(&names));
        }
        let plans = hosts.plan(&turns, &cancel)?.into_iter().map(|it| it.plan).collect();
        return run_factors::print_plans(plans, (&turns, budget_s), typed, terminal);
    }
    let waiting = waiting_message(&names);
    let progress = (Some(waiting.as_str()), false);
    let outcome = delivery::measure(measuring, progress, terminal, |store, listener| {
        on_hosts::measure(&hosts, &turns, (store, &cancel), listener)
    })?;
    run_factors::deliver(outcome, typed, terminal)
}

/// Prints the plan of all hosts without a measurement.
fn plan_run(
    request: &FleetRequest<'_>,
    options: &ConnectionOptions<'_>,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if !typed.page.screen.quiet {
        ProgressListener::show_text(terminal, &waiting_message(request.names));
    }
    let planned = agents::with_hosts(request.names, options, clock::now_ns, |hosts| {
        fleet::plan(request, hosts, options.cancel)
    })?;
    print_plan(&planned, typed, terminal)
}

/// Limits the heap to one arena if there are many hosts. Each host has a thread; memory freed by one
/// thread is then reused by another.
fn limit_heap_arenas(hosts: usize) {
    if hosts > SINGLE_ARENA_HOSTS {
        heap::keep_one_arena();
    }
}

fn reject_conditions(typed: &RunArguments) -> Result<(), CommandFailure> {
    if typed.switch.is_none() && typed.measuring.label.len() <= 1 {
        return Ok(());
    }
    let (what, why) = match typed.switch {
        Some(_) => ("--switch", "it alternates two conditions of one machine"),
        None => ("several labels", "a run on hosts has one condition"),
    };
    Err(CommandFailure::usage(format!("cannot use --hosts with {what}"))
        .with_reason(why)
        .advise("measure each condition in a run of its own, with a --label"))
}

fn waiting_message(names: &[String]) -> String {
    match names {
        [name] => words::sentence("progress-waiting-for", &[("host", name)]),
        names => words::count_message("progress-waiting", names.len()),
    }
}

/// Returns the machines through which the hosts are reached; none if they are reached directly.
fn parse_relays(
    typed: &FleetArguments,
    names: &[String],
) -> Result<Vec<String>, CommandFailure> {
    let Some(list) = &typed.relays else { return Ok(Vec::new()) };
    let relays = hosts::parse(list).map_err(|error| {
        CommandFailure::usage("cannot use --relays").with_cause(&error).advise(error.advice())
    })?;
    match relays.iter().find(|relay| names.contains(relay)) {
        None => Ok(relays),
        Some(relay) => Err(CommandFailure::usage(format!(
            "{relay} is both a relay and one of --hosts"
        ))
        .advise(
            "name other machines: relaying and measuring on one host would disturb each other",
        )),
    }
}

/// Returns the requested pairs, or neighbours if the suite needs a far end. None if each host
/// measures alone.
fn requested_pairs(
    typed: &RunArguments,
    suite: &Suite,
    hosts: &[FleetHost],
) -> Result<PairRounds, CommandFailure> {
    let FleetArguments { pairs, matrix, .. } = &typed.fleet;
    let (option, rounds) = match (pairs, matrix) {
        (Some(list), _) => ("--pairs", PairRounds::parse(list, hosts)),
        (None, Some(matrix)) => ("--matrix", PairRounds::from_matrix(*matrix, hosts)),
        (None, None) => {
            let takes_one = typed.to.is_none() && expand::needs_neighbour(suite);
            let neighbours =
                takes_one.then(|| PairRounds::from_matrix(PairMatrix::Neighbours, hosts));
            // A single host has no neighbour and reports the measurements that it omits.
            return Ok(neighbours.and_then(Result::ok).unwrap_or_default());
        }
    };
    let rounds = rounds.map_err(|error| {
        let failure = CommandFailure::usage(format!("cannot use {option}"));
        failure.with_cause(&error).advise(error.advice())
    })?;
    let has_measure = |predicate: fn(&MeasureRequest) -> bool| {
        suite.measures.iter().any(|it| predicate(&it.request))
    };
    if has_measure(expand::is_between_hosts) {
        return Ok(rounds);
    }
    let text = if !has_measure(|it| matches!(it, MeasureRequest::Mpi(_))) {
        format!("suite {} does not measure the network, so {option} has no effect", suite.name)
    } else if let Some(placement) = typed.mpi.first_placement_option() {
        format!("{placement} places ranks, but {option} puts one on each host of a pair")
    } else {
        return Ok(rounds.with_mpi_ranks());
    };
    Err(CommandFailure::usage(text)
        .advise("use `assay run network`, `assay run rdma` or `assay run mpi` for pairs"))
}

/// Prints the plan of each host without measuring.
fn print_plan(
    planned: &FleetPlan,
    typed: &MeasuringArguments,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let forecast = planned.forecast(typed.budget.is_some_and(TimeBudget::is_kept));
    let lost = planned.lost.iter();
    let lost: Vec<UnreachableHost<'_>> =
        lost.map(|lost| describe_unreachable(&lost.host, &lost.failure)).collect();
    let format_hosts = |hosts: &Vec<String>| {
        host_names::format_host_list(&hosts.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let hosts: Vec<String> = planned.hosts.iter().map(format_hosts).collect();
    let time = (forecast.notes.as_slice(), forecast.is_too_long());
    let page = build::fleet_plan(&planned.plan, &hosts, &lost, time);
    let cases = planned.plan.cases.iter().zip(&planned.hosts);
    let cases = cases.map(|(case, hosts)| json!({ "case": case, "hosts": hosts }));
    let unreachable = lost
        .iter()
        .map(|it| json!({ "host": it.name, "reason": it.reason, "advice": it.advice }));
    let document = json!({
        "suite": planned.plan.suite,
        "budget_s": planned.plan.budget_s,
        "seed": planned.plan.seed,
        "outlook": ForecastDocument::from_forecast(&forecast),
        "cases": cases.collect::<Vec<_>>(),
        "lost": unreachable.collect::<Vec<_>>(),
    });
    pipeline::publish_plan(&page, &document, &typed.page, terminal)?;
    Ok(if lost.is_empty() { 0 } else { exit_code(FailureKind::Measurement) })
}
