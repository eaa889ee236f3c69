//! `assay ntttcp`: sender and receiver with the options, output and protocol of ntttcp-for-linux.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_kernels::pin;
use assay_model::entry::MeasurementEntry;
use assay_model::run::Run;
use assay_model::workload::Workload;
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::network::iperf3_flows;
use assay_run::network::ntttcp::{
    self, NtttcpEnd, NtttcpEvent, NtttcpOutcome, NtttcpSender, NtttcpSending, NtttcpServer,
    NtttcpServing, NtttcpTest, record,
};
use assay_run::network::target::is_loopback;
use assay_run::recording::Recording;
use assay_run::stored_outcome::{self, ToolOutcome};
use assay_store::Store;
use serde::{Deserialize, Serialize};

use self::output::{NtttcpLine, NtttcpStyle};
use self::result_files::NtttcpMachine;
use super::iperf3::{network_failure, record_end};
use crate::options::network::NtttcpArguments;
use crate::options::network::ntttcp::NtttcpRole;
use crate::output_file;
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::progress_listener::EmulationListener;

mod output;
mod result_files;

/// Emulated version, with the mark of a build that is not ntttcp's own.
const VERSION: &str = "1.4.3-assay";
/// Names of the files without a name of the user: console, XML, JSON.
const DEFAULT_FILES: [&str; 3] =
    ["ntttcp-for-linux-log.log", "ntttcp-for-linux-log.xml", "ntttcp-for-linux-log.json"];

/// Runs a sender or a receiver, as ntttcp does. Returns the exit code.
///
/// # Errors
/// Invalid values, an unreachable, busy or disconnecting receiver, or an interruption.
pub fn ntttcp(
    typed: &NtttcpArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let mut test = typed.test()?;
    let role = typed.role(&mut test)?;
    let files = result_paths(typed);
    for path in files.iter().flatten() {
        output_file::check_writable(path)?;
    }
    if let Some(cpu) = typed.cpu() {
        pin::restrict_current_thread(&[cpu]).map_err(|error| {
            CommandFailure::usage(format!("cannot run on CPU {cpu}"))
                .with_cause(&error)
                .advise("name a CPU of `assay facts` in -m, or * for any")
        })?;
    }
    for option in typed.idle_options() {
        terminal.note(&format!("{option} has no effect at this end"));
    }
    let mut session = NtttcpCommand {
        typed,
        style: style(typed, &test, &files),
        files,
        console_log: String::new(),
        terminal,
    };
    session.print(&session.style.format_head());
    match role {
        NtttcpRole::Sender(sending) => session.send(&test, &sending, cancel),
        NtttcpRole::Receiver(serving) => session.receive(&test, &serving, cancel),
    }
    .map(|()| 0)
}

/// Returns the paths of console, XML and JSON.
fn result_paths(typed: &NtttcpArguments) -> [Option<PathBuf>; 3] {
    let mut names = DEFAULT_FILES.into_iter();
    [&typed.console_log, &typed.xml, &typed.json].map(|typed| {
        let default = names.next().unwrap_or_default();
        typed.clone().map(|path| path.unwrap_or_else(|| PathBuf::from(default)))
    })
}

/// Returns the options that appear in the output.
fn style(
    typed: &NtttcpArguments,
    test: &NtttcpTest,
    files: &[Option<PathBuf>; 3],
) -> NtttcpStyle {
    let (send_bytes, receive_bytes) = typed.block_bytes();
    NtttcpStyle {
        is_sender: typed.is_sender(),
        is_udp: test.is_udp,
        is_ipv6: typed.ipv6,
        is_synchronised: test.is_synchronised,
        is_verbose: typed.verbose,
        is_quiet: typed.quiet,
        is_held: typed.hold,
        awaits_several: typed.several,
        is_last: typed.last,
        uses_epoll: typed.epoll,
        no_delay: typed.no_delay,
        ports: test.ports,
        threads_per_port: typed.threads_per_port(),
        connections_per_thread: typed.connections.unwrap_or(1),
        cpu: typed.cpu().map(|cpu| cpu as u32),
        address: typed.address(),
        source_address: typed.source_address.map(|it| it.to_string()),
        port: test.base_port,
        source_port: typed.source_port.map(|it| it.unwrap_or(25_001)),
        send_bytes,
        receive_bytes,
        rate_bit_per_s: typed.bandwidth.filter(|rate| *rate > 0),
        fq_rate_bit_per_s: typed.fq_rate_limit.filter(|_| typed.bandwidth.is_none()),
        warm_up_s: test.warm_up_s,
        duration_s: test.duration_s,
        cool_down_s: test.cool_down_s,
        shows_retransmits: typed.show_tcp_retrans,
        interface: test.interface.clone(),
        interrupts: test.interrupts.clone(),
        files: files.each_ref().map(|it| it.as_ref().map(|it| it.display().to_string())),
    }
}

/// Running command.
struct NtttcpCommand<'a> {
    typed: &'a NtttcpArguments,
    style: NtttcpStyle,
    files: [Option<PathBuf>; 3],
    /// Lines with a time, of all tests.
    console_log: String,
    terminal: &'a mut Terminal,
}

impl NtttcpCommand<'_> {
    /// Prints a part of the output.
    fn print(&mut self, text: &str) {
        self.terminal.print(text);
        if self.files[0].is_some() {
            let lines = text.split_inclusive('\n').filter(|line| has_clock(line));
            self.console_log.extend(lines);
        }
    }

    /// Prints an event and adds it to the lines of a test.
    fn print_event(&mut self, event: NtttcpEvent, lines: &mut Vec<NtttcpLine>) {
        let line = NtttcpLine { clock: read_clock(), event };
        self.print(&line.format(&self.style));
        lines.push(line);
    }

    fn send(
        &mut self,
        test: &NtttcpTest,
        sending: &NtttcpSending,
        cancel: &AtomicBool,
    ) -> Result<(), CommandFailure> {
        let store = store_access::open_for_recording(&self.typed.keep)?;
        let mut quiet = EmulationListener::new(&self.typed.keep);
        let (typed, mut lines) = (self.typed, Vec::new());
        let mut observe = |event| self.print_event(event, &mut lines);
        let sender = NtttcpSender::connect(test, sending, cancel, &mut observe);
        let measured_s = sender.as_ref().map_or(test.duration_s, NtttcpSender::measured_s);
        let phase = record::sender_phase(test, sending, measured_s);
        let recording = begin(typed, store.as_ref(), phase, &mut quiet)?;
        let (outcome, error) = match sender.and_then(|it| it.run(&mut observe)) {
            Ok((outcome, error)) => (Some(outcome), error),
            Err(error) => (None, Some(error)),
        };
        let entries = outcome.as_ref().map(|it| record::sender_entries(test, sending, it));
        self.end_test(Ok(recording), lines, (outcome, error), entries.unwrap_or_default())
    }

    fn receive(
        &mut self,
        test: &NtttcpTest,
        serving: &NtttcpServing,
        cancel: &AtomicBool,
    ) -> Result<(), CommandFailure> {
        if self.typed.typed_address().is_none() && is_loopback(serving.listen) {
            self.terminal
                .note("listening on loopback only; use -r 0.0.0.0 to admit other hosts");
        }
        let store = store_access::open_for_recording(&self.typed.keep)?;
        let served = ntttcp::with_server(test, serving, cancel, |server| {
            let mut first = Vec::new();
            self.print_event(NtttcpEvent::Threads(server.threads()), &mut first);
            loop {
                let waited = server.wait_for_test().map_err(|error| network_failure(&error));
                if !waited? {
                    return Ok(());
                }
                let ended = self.receive_test((test, store.as_ref()), server, first.clone());
                if !serving.is_held || cancel.load(Ordering::Relaxed) {
                    return ended;
                }
                if let Err(failure) = ended {
                    self.terminal.note(&failure.message());
                }
            }
        });
        served.map_err(|error| network_failure(&error)).and_then(|it| it)
    }

    /// Receives one test, whose lines begin with some.
    fn receive_test(
        &mut self,
        (test, store): (&NtttcpTest, Option<&Store>),
        server: &mut NtttcpServer<'_>,
        mut lines: Vec<NtttcpLine>,
    ) -> Result<(), CommandFailure> {
        let typed = self.typed;
        let mut quiet = EmulationListener::new(&typed.keep);
        let mut observe = |event| self.print_event(event, &mut lines);
        // A sender without synchronisation does not wait for the beginning of a record.
        let early = (!test.is_synchronised).then(|| server.run_test(&mut observe));
        let phase = record::receiver_phase(test, server.connections(), server.measured_s());
        let recording = begin(typed, store, phase, &mut quiet);
        let outcome = early.unwrap_or_else(|| server.run_test(&mut observe));
        let entries = record::receiver_entries(test, server.peer(), &outcome);
        let warm_up_s =
            Some(test.warm_up_s).filter(|it| *it > 0 && outcome.intervals.is_empty());
        let error = warm_up_s.map(|warm_up_s| NetworkError::EndedInWarmUp { warm_up_s });
        let has_data = outcome.bytes() > 0;
        let run = recording.as_ref().ok().map(|it| it.id().to_owned());
        let ended = self.end_test(recording, lines, (Some(outcome), error), entries);
        let removed = match (store, run) {
            (Some(store), Some(run)) if !has_data => store.remove(&[run]).map(drop),
            _ => Ok(()),
        };
        server.linger();
        ended.and(removed.map_err(CommandFailure::from))
    }

    /// Prints, writes and stores the result of a test.
    fn end_test(
        &mut self,
        recording: Result<Recording<'_>, CommandFailure>,
        lines: Vec<NtttcpLine>,
        (result, error): (Option<NtttcpOutcome>, Option<NetworkError>),
        entries: Vec<MeasurementEntry>,
    ) -> Result<(), CommandFailure> {
        let is_interrupted = result.as_ref().is_some_and(|it| it.end == NtttcpEnd::User);
        let error = if is_interrupted { Some(NetworkError::Interrupted) } else { error };
        let machine = NtttcpMachine {
            name: assay_fleet::root::Root::machine()
                .text("proc/sys/kernel/hostname")
                .unwrap_or_default(),
            system: iperf3_flows::system(),
        };
        let outcome = NtttcpRunOutcome {
            style: self.style.clone(),
            machine,
            lines,
            result: result.map(|it| (read_clock(), it)),
        };
        self.print(&outcome.format_result());
        let written = self.write_files(&outcome);
        let mut recording = recording?;
        record_end(&mut recording, 0, entries, error.as_ref())?;
        recording.store_outcome(&outcome)?;
        recording.finish(matches!(error, Some(NetworkError::Interrupted)))?;
        written?;
        error.map_or(Ok(()), |error| Err(network_failure(&error)))
    }

    fn write_files(&self, outcome: &NtttcpRunOutcome) -> Result<(), CommandFailure> {
        let write = |path: &Option<PathBuf>, text: Option<String>| match (path, text) {
            (Some(path), Some(text)) => output_file::write(Path::new(path), text),
            _ => Ok(()),
        };
        let [console, xml, json] = &self.files;
        write(console, Some(self.console_log.clone()))?;
        write(xml, outcome.format_xml())?;
        write(json, outcome.format_json())
    }
}

/// Begins the record of a test.
fn begin<'l>(
    typed: &NtttcpArguments,
    store: Option<&Store>,
    phase: (String, Workload),
    listener: &'l mut EmulationListener,
) -> Result<Recording<'l>, CommandFailure> {
    let opening = store_access::recording_request((&typed.keep, store), "ntttcp", vec![phase]);
    let mut recording = Recording::begin(opening, listener)?;
    recording.start_case(0)?;
    Ok(recording)
}

/// Returns the time of day.
fn read_clock() -> String {
    jiff::Zoned::now().strftime("%H:%M:%S").to_string()
}

/// Whether a line of the output begins with the time of day.
fn has_clock(line: &str) -> bool {
    line.get(8..).is_some_and(|rest| rest.starts_with(" INFO: ") || rest.starts_with(" ERR : "))
}

/// Stored outcome of a test.
#[derive(Debug, Serialize, Deserialize)]
struct NtttcpRunOutcome {
    style: NtttcpStyle,
    machine: NtttcpMachine,
    lines: Vec<NtttcpLine>,
    /// Result with the time of day at which it was printed; `None` if the test failed.
    result: Option<(String, NtttcpOutcome)>,
}

impl ToolOutcome for NtttcpRunOutcome {
    const TOOL: &'static str = "ntttcp";
    const VERSION: u32 = 1;
}

impl NtttcpRunOutcome {
    fn format_console(&self) -> String {
        let lines: String = self.lines.iter().map(|line| line.format(&self.style)).collect();
        self.style.format_head() + &lines + &self.format_result()
    }

    fn format_result(&self) -> String {
        let result = self.result.as_ref();
        result.map_or_else(String::new, |(clock, it)| self.style.format_result(clock, it))
    }

    fn format_xml(&self) -> Option<String> {
        let (_, outcome) = self.result.as_ref().filter(|(_, it)| it.seconds > 0.0)?;
        Some(self.style.format_xml(&self.machine, outcome))
    }

    fn format_json(&self) -> Option<String> {
        let (_, outcome) = self.result.as_ref().filter(|(_, it)| it.seconds > 0.0)?;
        Some(self.style.format_json(&self.machine, outcome))
    }
}

/// Form in which a stored run is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NtttcpShape {
    Console,
    Xml,
    Json,
}

/// Renders a stored run as ntttcp's output, or as one of its files.
///
/// # Errors
/// The outcome of the test cannot be read, or it has no result.
pub fn render_stored(
    run: &Run,
    store: &Store,
    shape: NtttcpShape,
) -> Result<String, CommandFailure> {
    let outcome: NtttcpRunOutcome = stored_outcome::read(run, store)?;
    let rendered = match shape {
        NtttcpShape::Console => Some(outcome.format_console()),
        NtttcpShape::Xml => outcome.format_xml(),
        NtttcpShape::Json => outcome.format_json(),
    };
    rendered.ok_or_else(|| {
        CommandFailure::measurement(format!("run {} has no result", run.started.run))
            .advise("use --as ntttcp for the lines that it printed")
    })
}
