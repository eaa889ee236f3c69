//! Turns of a suite with factors on several hosts: each applies the levels itself, and the level of the
//! factor `hosts` is the number of those that take part.
//!
//! While turns are taken, a second agent on every host applies the levels. It restores on request, and
//! when its pipe closes.

use std::sync::atomic::{AtomicBool, Ordering};

use assay_fleet::remote::agents;
use assay_fleet::remote::connection_options::ConnectionOptions;
use assay_fleet::remote::host_events::{HostConnections, HostEvent};
use assay_fleet::remote::{AgentReply, AgentRequest, ConditionRequest, RemoteTurn};
use assay_kernels::clock;
use assay_model::event::TurnPosition;
use assay_model::factor::{FactorLevel, HOSTS_FACTOR, format_levels};
use assay_model::failure::FailureReason;
use assay_model::host_names::format_host_list;
use assay_model::phrase;
use assay_model::run::Run;
use assay_model::seed;
use assay_model::suite::factorial::FactorialCase;
use assay_store::Store;

use super::{FactorOutcome, FactorTurns, turn_label};
use crate::failure::CommandFailure;
use crate::fleet::host_refusals::{self, HostRefusal};
use crate::fleet::{self, FleetPlan, FleetRequest, FleetTurn, POLL_INTERVAL};
use crate::listener::Listener;
use crate::turns::{TurnSinks, TurnSite, take_turns};

/// Returns the request for a combination on the first hosts of the list.
pub type CaseRequest<'a> =
    dyn Fn(&FactorialCase, usize) -> Result<FleetRequest<'a>, CommandFailure> + 'a;

/// Hosts on which turns are measured.
#[derive(Clone, Copy)]
pub struct TurnHosts<'a> {
    /// Names of all hosts.
    pub names: &'a [String],
    /// Transport to them.
    pub options: &'a ConnectionOptions<'a>,
    /// Request for a combination; its label is that of the user.
    pub request: &'a CaseRequest<'a>,
    /// Time budget of all turns in seconds [default: that of the suite].
    pub budget_s: Option<f64>,
}

impl std::fmt::Debug for TurnHosts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TurnHosts").field("names", &self.names).finish_non_exhaustive()
    }
}

impl TurnHosts<'_> {
    /// Checks that the hosts suffice for every level of the factor `hosts`.
    ///
    /// # Errors
    /// The first level that needs more hosts.
    pub fn check_counts(&self, turns: &FactorTurns<'_>) -> Result<(), CommandFailure> {
        let given = self.names.len();
        let counts = turns.suite.combinations.iter().filter_map(FactorialCase::host_count);
        match counts.filter(|count| *count > given).max() {
            None => Ok(()),
            Some(count) => Err(CommandFailure::usage(format!(
                "level {count} of factor `{HOSTS_FACTOR}` needs {count} hosts, and --hosts names {given}"
            ))
            .advise("name more hosts, or leave the level out")),
        }
    }

    /// Plans every combination on its hosts; nothing is applied or measured.
    ///
    /// # Errors
    /// The first combination that a host cannot measure, with its levels.
    pub fn plan(
        &self,
        turns: &FactorTurns<'_>,
        cancel: &AtomicBool,
    ) -> Result<Vec<FleetPlan>, CommandFailure> {
        self.check_counts(turns)?;
        let plan = |case: &FactorialCase| {
            let (names, request) = self.turn_request(case, turns, None)?;
            let planned = agents::with_hosts(names, self.options, clock::now_ns, |hosts| {
                fleet::plan(&request, hosts, cancel)
            })?;
            let Some(lost) = planned.lost.first() else { return Ok(planned) };
            let names: Vec<&str> = planned.lost.iter().map(|it| it.host.as_str()).collect();
            let what = format!("{} cannot measure this", format_host_list(&names));
            Err(CommandFailure::measurement(what)
                .with_reason(FailureReason::error_line(&lost.failure))
                .advise(lost.failure.advice()))
        };
        let located = |case: &FactorialCase| {
            plan(case).map_err(|failure: CommandFailure| {
                failure.with_reason(format!("with {}", format_levels(&case.levels)))
            })
        };
        turns.suite.combinations.iter().map(located).collect()
    }

    /// Returns the hosts of a combination, and the request to them.
    fn turn_request(
        &self,
        case: &FactorialCase,
        turns: &FactorTurns<'_>,
        position: Option<TurnPosition>,
    ) -> Result<(&[String], FleetRequest<'_>), CommandFailure> {
        let count = case.host_count().unwrap_or(self.names.len()).min(self.names.len());
        let request = (self.request)(case, count)?;
        let budget_s = turns.turn_budget_s(self.budget_s);
        let (number, label) = match &position {
            Some(position) => {
                let label = turn_label(request.label.as_deref(), &case.levels);
                (u64::from(position.number), Some(label))
            }
            None => (0, request.label.clone()),
        };
        let turn = RemoteTurn { levels: case.levels.clone(), budget_s };
        let seed = seed::derive_seed(request.seed, number);
        let turn = Some(FleetTurn { turn, position });
        Ok((&self.names[..count], FleetRequest { label, seed, turn, ..request }))
    }
}

/// Measures all combinations on hosts and stores every run. Restores the factors on every host, also
/// after a failure and an interruption.
///
/// # Errors
/// If a combination is impossible, or a host gives no answer; nothing was applied then.
pub fn measure(
    hosts: &TurnHosts<'_>,
    turns: &FactorTurns<'_>,
    (store, cancel): (&Store, &AtomicBool),
    listener: &mut dyn Listener,
) -> Result<FactorOutcome, CommandFailure> {
    let planning = phrase!(
        "planning-combinations",
        "planning {count} combinations on their hosts",
        count = turns.suite.combinations.len(),
    );
    listener.progress(&planning);
    hosts.plan(turns, cancel)?;
    let order = turns.order();
    let mut take = |appliers: Option<Appliers<'_>>| {
        let mut site = HostSite { hosts, turns, comparison: &order.comparison, appliers };
        site.start_heartbeats()?;
        let taken = take_turns(&mut site, &order, TurnSinks { store, cancel, listener });
        Ok(FactorOutcome::new(turns, taken))
    };
    if !turns.suite.has_commands() {
        return take(None);
    }
    agents::with_hosts(hosts.names, hosts.options, clock::now_ns, |connections| {
        let mut appliers = Appliers::new(hosts.names, connections);
        appliers.join(cancel)?;
        take(Some(appliers))
    })
}

/// Hosts that take part in turns.
struct HostSite<'a, 'h, 'c> {
    hosts: &'a TurnHosts<'h>,
    turns: &'a FactorTurns<'a>,
    comparison: &'a str,
    /// Agents that apply levels; `None` if no level is applied by a command.
    appliers: Option<Appliers<'c>>,
}

impl HostSite<'_, '_, '_> {
    /// Asks every host to restore nothing. Its agent sends heartbeats from then on, so that a host
    /// that first takes part in a later turn is not given up as silent.
    fn start_heartbeats(&mut self) -> Result<(), CommandFailure> {
        let all = 0..self.hosts.names.len();
        let requests = all.map(|host| (host, self.condition(host, None))).collect();
        let asked = self.appliers.as_mut().map_or(Ok(()), |it| it.ask(requests, None));
        asked.map_err(|failures| hosts_failure("cannot apply levels", &failures))
    }

    /// Returns the request to one host.
    fn condition(&self, host: usize, levels: Option<&[FactorLevel]>) -> AgentRequest {
        let name = self.hosts.names[host].replace(|it: char| !it.is_ascii_alphanumeric(), "_");
        AgentRequest::Condition(Box::new(ConditionRequest {
            record: format!("{}-{name}", self.comparison),
            factors: self.turns.suite.factors.clone(),
            levels: levels.map(<[FactorLevel]>::to_vec),
            settle_s: self.turns.settle.as_secs_f64(),
        }))
    }
}

impl TurnSite for HostSite<'_, '_, '_> {
    fn apply(
        &mut self,
        condition: usize,
        to: &mut TurnSinks<'_>,
    ) -> Result<(), CommandFailure> {
        let case = &self.turns.suite.combinations[condition];
        let count = case.host_count().unwrap_or(self.hosts.names.len());
        let requests: Vec<(usize, AgentRequest)> = (0..count.min(self.hosts.names.len()))
            .map(|host| (host, self.condition(host, Some(&case.levels))))
            .collect();
        let Some(appliers) = &mut self.appliers else { return Ok(()) };
        let levels = format_levels(&case.levels);
        to.listener.progress(&phrase!(
            "applying-on-hosts",
            "to {condition} on {count} hosts",
            condition = levels.as_str(),
            count = requests.len(),
        ));
        appliers
            .ask(requests, Some(to.cancel))
            .map_err(|failures| hosts_failure(&format!("cannot apply {levels}"), &failures))
    }

    fn measure(
        &mut self,
        condition: usize,
        position: TurnPosition,
        to: &mut TurnSinks<'_>,
    ) -> Result<Run, CommandFailure> {
        let case = &self.turns.suite.combinations[condition];
        let position = self.turns.position(condition, position);
        let (names, request) = self.hosts.turn_request(case, self.turns, Some(position))?;
        agents::with_hosts(names, self.hosts.options, clock::now_ns, |hosts| {
            fleet::measure(&request, hosts, Some(to.store), to.cancel, to.listener)
        })
    }

    fn restore(
        &mut self,
        is_interrupted: bool,
        listener: &mut dyn Listener,
    ) -> Result<(), CommandFailure> {
        let Some(changed) = self.appliers.as_ref().map(Appliers::changed_hosts) else {
            return Ok(());
        };
        if changed.is_empty() {
            return Ok(());
        }
        let restoring = phrase!(
            "restoring-on-hosts",
            "restoring the factors on {count} hosts",
            count = changed.len(),
        );
        match is_interrupted {
            // The user waits for the end.
            true => listener.warn(&restoring),
            false => listener.progress(&restoring),
        }
        let requests =
            changed.iter().map(|host| (*host, self.condition(*host, None))).collect();
        let Some(appliers) = &mut self.appliers else { return Ok(()) };
        appliers.ask(requests, None).map_err(|failures| {
            hosts_failure("cannot restore the factors", &failures)
                .advise("a level may still be applied there: the next run on such a host prints what to restore")
        })
    }
}

/// Returns a failure that names the hosts by reason.
fn hosts_failure(what: &str, failures: &[HostRefusal]) -> CommandFailure {
    let names: Vec<&str> = failures.iter().map(|it| it.host.as_str()).collect();
    let failed = CommandFailure::measurement(format!("{what} on {}", format_host_list(&names)));
    // All of them: a level may still be applied on each.
    host_refusals::add_reasons(failed, failures, usize::MAX)
}

/// Agents that apply levels, one on each host.
struct Appliers<'c> {
    names: &'c [String],
    connections: &'c mut dyn HostConnections,
    /// Reason why a host no longer answers.
    lost: Vec<Option<String>>,
    /// Whether a host was asked to apply a level.
    is_changed: Vec<bool>,
}

impl<'c> Appliers<'c> {
    fn new(names: &'c [String], connections: &'c mut dyn HostConnections) -> Self {
        let (lost, is_changed) = (vec![None; names.len()], vec![false; names.len()]);
        Self { names, connections, lost, is_changed }
    }

    fn changed_hosts(&self) -> Vec<usize> {
        (0..self.names.len()).filter(|host| self.is_changed[*host]).collect()
    }

    /// Waits until every host has joined.
    fn join(&mut self, cancel: &AtomicBool) -> Result<(), CommandFailure> {
        let mut has_joined = vec![false; self.names.len()];
        while !has_joined.iter().all(|it| *it) {
            if cancel.load(Ordering::Relaxed) {
                return Err(CommandFailure::measurement(
                    "interrupted before anything was applied",
                ));
            }
            match self.connections.next_event(POLL_INTERVAL) {
                Some((host, HostEvent::Joined)) => has_joined[host] = true,
                Some((host, HostEvent::Lost(failure))) => {
                    let what = format!("cannot apply levels on {}", self.names[host]);
                    return Err(CommandFailure::measurement(what)
                        .with_cause(&failure)
                        .advise(failure.advice()));
                }
                Some((_, HostEvent::Replied { .. })) | None => {}
            }
        }
        Ok(())
    }

    /// Sends the requests and waits for all replies. A set `cancel` stops the commands.
    fn ask(
        &mut self,
        requests: Vec<(usize, AgentRequest)>,
        cancel: Option<&AtomicBool>,
    ) -> Result<(), Vec<HostRefusal>> {
        let mut failures: Vec<HostRefusal> = Vec::new();
        let mut pending = vec![false; self.names.len()];
        for (host, request) in requests {
            if let Some(reason) = &self.lost[host] {
                failures.push(self.refusal(host, (reason.clone(), String::new())));
                continue;
            }
            let has_levels =
                matches!(&request, AgentRequest::Condition(it) if it.levels.is_some());
            self.is_changed[host] |= has_levels;
            pending[host] = true;
            self.connections.send_request(host, &request);
        }
        let mut is_stopped = false;
        while pending.iter().any(|it| *it) {
            if !is_stopped && cancel.is_some_and(|it| it.load(Ordering::Relaxed)) {
                is_stopped = true;
                for host in (0..pending.len()).filter(|it| pending[*it]) {
                    self.connections.send_request(host, &AgentRequest::Stop);
                }
            }
            let Some((host, event)) = self.connections.next_event(POLL_INTERVAL) else {
                continue;
            };
            let Some(outcome) = self.read_event(host, event) else { continue };
            if let (true, Err(refused)) = (pending[host], outcome) {
                failures.push(self.refusal(host, refused));
            }
            pending[host] = false;
        }
        if failures.is_empty() { Ok(()) } else { Err(failures) }
    }

    /// Returns the outcome of a request, or reason and advice; `None` for other events.
    fn read_event(
        &mut self,
        host: usize,
        event: HostEvent,
    ) -> Option<Result<(), (String, String)>> {
        match event {
            HostEvent::Joined => None,
            HostEvent::Lost(failure) => {
                let reason = FailureReason::error_line(&failure);
                self.lost[host] = Some(reason.clone());
                Some(Err((reason, failure.advice().to_owned())))
            }
            HostEvent::Replied { reply, .. } => match *reply {
                AgentReply::Done => Some(Ok(())),
                AgentReply::Failed { reason, advice } => Some(Err((reason, advice))),
                // Agents that apply levels send nothing else.
                AgentReply::Hello(_)
                | AgentReply::Clock(_)
                | AgentReply::Examined(_)
                | AgentReply::Planned(_)
                | AgentReply::Looked(_)
                | AgentReply::Interval(_)
                | AgentReply::Outcome(_)
                | AgentReply::Marks(_)
                | AgentReply::TreesInterval(_)
                | AgentReply::TreesOutcome(_)
                | AgentReply::Ready(_)
                | AgentReply::Started(_)
                | AgentReply::Event(_)
                | AgentReply::Raw(_)
                | AgentReply::Note(_)
                | AgentReply::Second(_)
                | AgentReply::Letter(_)
                | AgentReply::Of(..)
                | AgentReply::Alive => None,
            },
        }
    }

    fn refusal(&self, host: usize, (reason, advice): (String, String)) -> HostRefusal {
        HostRefusal { host: self.names[host].clone(), reason, advice }
    }
}
