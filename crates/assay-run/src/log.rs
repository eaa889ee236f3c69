//! Distributes every event of a run to the store, to the listener, and into the run in memory.

use assay_fleet::remote::SecondReport;
use assay_fleet::remote::calls::Call;
use assay_model::doubt::Doubt;
use assay_model::event::{RunEvent, RunStarted};
use assay_model::phrase::Phrase;
use assay_model::run::{Run, RunBuilder};
use assay_store::RunWriter;
use jiff::{SignedDuration, Timestamp};
use rustix::time::{ClockId, clock_gettime};

use crate::coordinator::{Coordinator, StartGate};
use crate::failure::CommandFailure;
use crate::listener::Listener;

/// Log of the current run.
pub(crate) struct RunLog<'t> {
    /// `None` if the run is not stored.
    writer: Option<RunWriter>,
    listener: &'t mut dyn Listener,
    coordinator: Box<dyn Coordinator + 't>,
    run: RunBuilder,
    series: u32,
    /// Time since boot at the start of the run: a clock that is never set and includes suspended
    /// time.
    boot_time_at_start: SignedDuration,
}

impl<'t> RunLog<'t> {
    /// Creates a log. The caller has already stored the first event, if the run is stored.
    pub(crate) fn begin(
        writer: Option<RunWriter>,
        started: RunStarted,
        listener: &'t mut dyn Listener,
        coordinator: Box<dyn Coordinator + 't>,
    ) -> Result<Self, CommandFailure> {
        let mut log = Self {
            writer,
            listener,
            coordinator,
            run: RunBuilder::new(started.clone()),
            series: 0,
            boot_time_at_start: since_boot(),
        };
        log.pass_on(&RunEvent::RunStarted(Box::new(started)))?;
        Ok(log)
    }

    /// Seconds that the coordinator granted the case that began last.
    pub(crate) fn granted_s(&self) -> Option<f64> {
        self.coordinator.granted_s()
    }

    /// Whether no other host measures with this one.
    pub(crate) fn is_alone(&self) -> bool {
        self.coordinator.is_alone()
    }

    /// Whether the run was stopped from elsewhere.
    pub(crate) fn is_stopped(&self) -> bool {
        self.coordinator.is_stopped()
    }

    /// Returns the current time as the start of the run plus the time since boot that has elapsed:
    /// events stay in order even if the clock is set.
    pub(crate) fn current_time(&self) -> String {
        let started = self.run_so_far().started.started.parse::<Timestamp>().ok();
        let now =
            started.and_then(|it| it.checked_add(since_boot() - self.boot_time_at_start).ok());
        now.unwrap_or_else(Timestamp::now).to_string()
    }

    /// Stores an event, then passes it to the listener.
    pub(crate) fn add(&mut self, event: RunEvent) -> Result<(), CommandFailure> {
        if let Some(writer) = &mut self.writer {
            writer.append(&event)?;
        }
        self.pass_on(&event)?;
        self.run.add(event);
        Ok(())
    }

    fn pass_on(&mut self, event: &RunEvent) -> Result<(), CommandFailure> {
        self.listener.event(event);
        self.listener.take_failure().map_or(Ok(()), Err)
    }

    /// Returns an unused series number.
    pub(crate) const fn next_series(&mut self) -> u32 {
        self.series += 1;
        self.series - 1
    }

    pub(crate) const fn run_so_far(&self) -> &Run {
        self.run.run()
    }

    /// Reports progress; nothing is stored.
    pub(crate) fn progress(&mut self, phrase: &Phrase) {
        self.listener.progress(phrase);
    }

    /// Reports the figures of the last second; nothing is stored.
    pub(crate) fn report_second(&mut self, host: Option<&str>, second: &SecondReport) {
        self.listener.report_second(host, second);
    }

    /// Prints a line about a case or host, or about the run; nothing is stored.
    pub(crate) fn note(&mut self, about: Option<&str>, phrase: &Phrase) {
        self.listener.note(about, phrase);
    }

    /// Prints a warning, even in quiet mode.
    pub(crate) fn warn(&mut self, phrase: &Phrase) {
        self.listener.warn(phrase);
    }

    /// Stores a raw output and returns its hash; `None` if the run is not stored.
    pub(crate) fn store_raw(&mut self, bytes: &[u8]) -> Result<Option<String>, CommandFailure> {
        let Some(writer) = &self.writer else { return Ok(self.coordinator.store_raw(bytes)) };
        writer.write_raw(bytes).map(Some).map_err(CommandFailure::from)
    }

    /// Waits for the hosts that measure together with this one; returns their common start, if
    /// there are several.
    pub(crate) fn wait_for_start(
        &mut self,
        gate: &StartGate<'_>,
    ) -> Result<Option<u64>, CommandFailure> {
        self.coordinator.wait_for_start(gate)
    }

    /// Opens a call to another host of the run.
    pub(crate) fn call(&mut self, host: &str, subject: &str) -> Option<Call> {
        self.coordinator.call(host, subject)
    }

    /// Stores a raw output of the run as a whole.
    pub(crate) fn add_raw_output(
        &mut self,
        name: String,
        bytes: &[u8],
    ) -> Result<(), CommandFailure> {
        let Some(hash) = self.store_raw(bytes)? else { return Ok(()) };
        let bytes = bytes.len() as u64;
        self.add(RunEvent::RawOutput { case: None, name, hash, bytes })
    }

    /// Identifier of the run.
    pub(crate) fn run_id(&self) -> &str {
        &self.run_so_far().started.run
    }

    /// Adds doubts about the run as a whole.
    pub(crate) fn add_doubts(
        &mut self,
        doubts: impl IntoIterator<Item = Doubt>,
    ) -> Result<(), CommandFailure> {
        let mut events = doubts.into_iter().map(|doubt| RunEvent::Doubt { case: None, doubt });
        events.try_for_each(|event| self.add(event))
    }

    /// Ends the log and returns the run as stored.
    pub(crate) fn finish(self) -> Run {
        let run = self.run.finish();
        if let Some(doubt) = self.writer.and_then(|it| it.finish(Some(&run))) {
            self.listener.doubt(&doubt);
        }
        run
    }
}

fn since_boot() -> SignedDuration {
    let time = clock_gettime(ClockId::Boottime);
    SignedDuration::new(time.tv_sec, i32::try_from(time.tv_nsec).unwrap_or(0))
}
