//! Remote side of a run with several hosts: measures as a single host does, sends everything to the
//! coordinator, and waits for it before each case.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_fleet::remote::calls::Call;
use assay_fleet::remote::coordinator_link::CoordinatorLink;
use assay_fleet::remote::{AgentReply, ReadyReport, SecondReport};
use assay_fleet::root::Root;
use assay_kernels::{clock, timers};
use assay_model::doubt::Doubt;
use assay_model::event::{Fact, FactSubject, RunEvent};
use assay_model::phrase::Phrase;
use assay_store::Store;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::utilisation::UtilisationWatch;
use crate::coordinator::{Coordinator, StartGate};
use crate::failure::CommandFailure;
use crate::listener::Listener;
use crate::restore_record;
use crate::run_request::{self, RunRequest};

/// Largest raw output that fits into a message in base64; larger ones are not sent.
const MAX_RAW_BYTES: usize = 11 << 20;

/// Plans, waits for the start, measures, and sends the results. The store of this host records
/// the levels that killed measurements left applied.
///
/// # Errors
/// Fails if nothing can be planned or the run breaks off.
pub fn measure(
    request: &RunRequest<'_>,
    store: Option<&Store>,
    line: &Arc<CoordinatorLink>,
) -> Result<(), CommandFailure> {
    let prepared = run_request::prepare(request)?;
    line.send(&AgentReply::Planned(Box::new(prepared.plan.clone())));
    if line.next_start().is_some() {
        let cancel = Arc::clone(line.cancel());
        let side = AgentSide {
            line,
            run_started_ns: clock::now_ns(),
            start: StartReport::new(line),
            watch: UtilisationWatch::new(Root::machine()),
            granted_s: None,
        };
        let side = Rc::new(RefCell::new(side));
        let mut listener = AgentListener(Rc::clone(&side));
        if let Some(store) = store {
            restore_record::report_unrestored(store, &mut listener);
        }
        let mut coordinator = RemoteCoordinator(side);
        let ends_together = request.pairs.is_some();
        run_request::measure(
            request,
            prepared,
            None,
            &cancel,
            &mut listener,
            Box::new(&mut coordinator),
        )?
        .without_files()?;
        if ends_together {
            // A host without cases of its own may still be the far end of pairs: all hosts end
            // together.
            let run_started_ns = coordinator.0.borrow().run_started_ns;
            coordinator.wait_for_start(&StartGate { cases: &[], step: 0, run_started_ns })?;
        }
    }
    Ok(())
}

/// This end of the connection to the coordinator.
struct AgentSide<'l> {
    line: &'l Arc<CoordinatorLink>,
    run_started_ns: u64,
    start: StartReport<'l>,
    watch: UtilisationWatch,
    /// Seconds that the coordinator granted the case that began last.
    granted_s: Option<f64>,
}

impl AgentSide<'_> {
    fn send(&mut self, reply: &AgentReply) {
        self.start.send();
        self.line.send(reply);
    }
}

/// Listener that sends the events of a run to the coordinator.
struct AgentListener<'l>(Rc<RefCell<AgentSide<'l>>>);

impl Listener for AgentListener<'_> {
    fn event(&mut self, event: &RunEvent) {
        let mut side = self.0.borrow_mut();
        if let RunEvent::CaseFinished { case, .. } = event {
            for (name, value) in side.watch.facts(case) {
                let fact = Fact { about: FactSubject::Case(case.clone()), name, value };
                side.send(&AgentReply::Event(Box::new(RunEvent::Fact(fact))));
            }
        }
        side.send(&AgentReply::Event(Box::new(event.clone())));
    }

    fn progress(&mut self, _: &Phrase) {}

    fn report_second(&mut self, _: Option<&str>, second: &SecondReport) {
        self.0.borrow_mut().send(&AgentReply::Second(second.clone()));
    }

    fn note(&mut self, _: Option<&str>, said: &Phrase) {
        self.0.borrow_mut().send(&AgentReply::Note(said.clone()));
    }

    fn doubt(&mut self, _: &Doubt) {}
}

/// Coordinator at the other end of the connection.
struct RemoteCoordinator<'l>(Rc<RefCell<AgentSide<'l>>>);

impl Coordinator for RemoteCoordinator<'_> {
    fn wait_for_start(&mut self, gate: &StartGate<'_>) -> Result<Option<u64>, CommandFailure> {
        let side = &mut *self.0.borrow_mut();
        side.watch.end_stretch(gate.cases, gate.step);
        side.run_started_ns = gate.run_started_ns;
        side.send(&AgentReply::Ready(ReadyReport {
            cases: gate.cases.iter().map(ToString::to_string).collect(),
            step: gate.step,
            run_started_ns: gate.run_started_ns,
        }));
        // Without a start time the run is over; the cases detect that themselves.
        let start_ns = side.line.next_start();
        if gate.step == 0 {
            side.granted_s = side.line.take_grant();
        }
        if let Some(at_ns) = start_ns {
            side.watch.read_counters();
            side.watch.set_start(side.start.wait_until(at_ns));
        }
        Ok(start_ns)
    }

    fn call(&mut self, host: &str, subject: &str) -> Option<Call> {
        Some(self.0.borrow().line.call(host, subject))
    }

    fn granted_s(&self) -> Option<f64> {
        self.0.borrow().granted_s
    }

    fn is_stopped(&self) -> bool {
        self.0.borrow().line.is_stopped()
    }

    fn store_raw(&mut self, bytes: &[u8]) -> Option<String> {
        (bytes.len() <= MAX_RAW_BYTES).then(|| {
            self.0.borrow_mut().send(&AgentReply::Raw(STANDARD.encode(bytes)));
            blake3::hash(bytes).to_hex().to_string()
        })
    }
}

/// Start time of this host, until it is reported. It goes out with the next message: a message sent
/// at the start would delay the starts of the coordinator and of hosts on the same CPU.
pub(crate) struct StartReport<'l> {
    line: &'l CoordinatorLink,
    started_ns: Option<u64>,
}

impl<'l> StartReport<'l> {
    pub(crate) const fn new(line: &'l CoordinatorLink) -> Self {
        Self { line, started_ns: None }
    }

    /// Waits for the start time of the coordinator, and returns the actual time.
    pub(crate) fn wait_until(&mut self, at_ns: u64) -> u64 {
        let started_ns = wait_until(at_ns, self.line.cancel());
        self.started_ns = Some(started_ns);
        started_ns
    }

    /// Reports the start once.
    pub(crate) fn send(&mut self) {
        if let Some(started_ns) = self.started_ns.take() {
            self.line.send(&AgentReply::Started(started_ns));
        }
    }
}

/// Waits until the clock reaches `at_ns` and returns its value. Sleeps to the end: agents that
/// share CPUs and spin delay each other (24 of them on two CPUs started 5 ms apart).
fn wait_until(at_ns: u64, cancel: &AtomicBool) -> u64 {
    timers::minimize_timer_slack();
    loop {
        let now_ns = clock::now_ns();
        let left_ns = at_ns.saturating_sub(now_ns);
        if left_ns == 0 || cancel.load(Ordering::Relaxed) {
            return now_ns;
        }
        thread::sleep(Duration::from_nanos(left_ns).min(Duration::from_millis(50)));
    }
}
