//! The server: one test after the other or several at once, each with an output of its own.

use std::collections::HashMap;
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_console::failure::render;
use assay_kernels::background;
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::network::iperf3_server::{
    self, Iperf3ServerReport, Iperf3Service, Iperf3TestReport, ServerLimits,
};

use super::output::Iperf3Output;
use super::pid_file::PidFile;
use super::sink::{Iperf3Sink, with_label};
use super::{
    endpoint_options, error_text, idle_timeout, interval_s, network_failure, open_login_gate,
};
use crate::options::network::Iperf3Arguments;
use crate::terminal::Terminal;

/// Serves until a signal, or as the options end it. Returns the exit code.
pub(super) fn serve(
    typed: &Iperf3Arguments,
    cancel: &AtomicBool,
    (terminal, sink): (&mut Terminal, &mut Iperf3Sink),
    pid_file: Option<&PidFile>,
) -> Result<u8, CommandFailure> {
    let service = Iperf3Service {
        clients: NonZeroUsize::new(typed.serving.clients as usize).unwrap_or(NonZeroUsize::MIN),
        once: typed.serving.one_off,
        idle_limit: typed.serving.idle_timeout.map(Duration::from_secs),
        interval_s: interval_s(typed),
        pinned: typed.pinned,
        limits: ServerLimits {
            rate: typed.serving.server_bitrate_limit.filter(|limit| limit.bit_per_s > 0),
            duration_s: typed.serving.server_max_duration,
        },
        endpoint: endpoint_options(typed, None),
        multipath: typed.mptcp,
        file: typed.file.clone(),
        gate: open_login_gate(typed)?.map(Arc::new),
        ..Iperf3Service::new(typed.listen_address(), idle_timeout(typed))
    };
    service.file.as_deref().map_or(Ok(()), check_file)?;
    if service.listen.ip().is_loopback() && typed.bind.is_none() {
        terminal.note("listening on loopback only; use -B 0.0.0.0 to admit other hosts");
    }
    let listener = iperf3_server::listen(&service).map_err(|error| network_failure(&error))?;
    if typed.serving.daemon {
        detach(pid_file)?;
    }
    let mut outputs = ServerOutputs::new(typed, service.clients.get());
    let mut failures = 0;
    let outcome = iperf3_server::serve_on(&listener, &service, cancel, &mut |report| {
        let label = outputs.label(&report);
        if let Iperf3ServerReport::Test(_, Iperf3TestReport::Message(name, message)) = &report {
            if typed.debug.is_some() {
                sink.print_message(terminal, (&label, name), message);
            }
            return;
        }
        let failure = reported_failure(&report);
        sink.print(terminal, &outputs.format(report));
        if let Some(failure) = failure {
            failures += 1;
            sink.note(terminal, with_label(&label, &render(&failure, false)).trim_end());
        }
    });
    outcome.map_err(|error| network_failure(&error))?;
    // Failed tests do not fail the server, except with `-1`, where it serves each place once.
    if service.once && failures > 0 {
        return Err(CommandFailure::measurement("the test failed"));
    }
    Ok(0)
}

/// Checks that a file can be written or read, without a change to its contents. The client decides
/// which of them a test does.
fn check_file(path: &Path) -> Result<(), CommandFailure> {
    // A pipe would wait for its other end.
    if path.metadata().is_ok_and(|it| !it.is_file() && !it.is_dir()) {
        return Ok(());
    }
    let mut writable = File::options();
    writable.write(true).create(true).truncate(false).mode(0o600);
    let is_readable = || File::open(path).is_ok() && path.is_file();
    match writable.open(path) {
        Err(error) if !is_readable() => {
            Err(CommandFailure::usage(format!("cannot write or read {}", path.display()))
                .with_cause(&error)
                .advise("choose another file with -F"))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Continues in the background. The port is bound, so that clients may connect at once.
fn detach(pid_file: Option<&PidFile>) -> Result<(), CommandFailure> {
    let announce = |child| pid_file.map_or(Ok(()), |file| file.replace(child));
    background::detach(announce).map_err(|error| {
        CommandFailure::measurement("cannot run in the background")
            .with_cause(&error)
            .advise("leave out -D, and start the server as a service")
    })
}

/// Returns the failure that an event reports; an interruption is none.
fn reported_failure(report: &Iperf3ServerReport) -> Option<CommandFailure> {
    match report {
        Iperf3ServerReport::Failed(error)
        | Iperf3ServerReport::Test(_, Iperf3TestReport::Failed(error)) => {
            (!matches!(error, NetworkError::Interrupted)).then(|| network_failure(error))
        }
        Iperf3ServerReport::Listening(..) | Iperf3ServerReport::Test(..) => None,
    }
}

/// Outputs of the tests that run, by their numbers.
struct ServerOutputs<'t> {
    typed: &'t Iperf3Arguments,
    clients: usize,
    tests: HashMap<u64, Iperf3Output>,
}

impl<'t> ServerOutputs<'t> {
    fn new(typed: &'t Iperf3Arguments, clients: usize) -> Self {
        Self { typed, clients, tests: HashMap::new() }
    }

    /// Returns the start of each line about a test, if several run at once.
    fn label(&self, report: &Iperf3ServerReport) -> String {
        match report {
            Iperf3ServerReport::Test(number, _) if self.clients > 1 => {
                format!("test {number}:  ")
            }
            _ => String::new(),
        }
    }

    /// Creates the output of a test. Its number is printed if several tests run at once.
    fn create(&self, number: u64) -> Iperf3Output {
        let output = Iperf3Output::new(self.typed, false);
        if self.clients > 1 { output.with_test(number) } else { output }
    }

    fn format(&mut self, report: Iperf3ServerReport) -> String {
        let (number, report) = match report {
            Iperf3ServerReport::Listening(port, test) => {
                let output = Iperf3Output::new(self.typed, false);
                return output.format_banner(port, test, self.clients);
            }
            Iperf3ServerReport::Failed(error) => {
                return Iperf3Output::new(self.typed, false)
                    .format_failure(&error_text(&error));
            }
            Iperf3ServerReport::Test(number, report) => (number, report),
        };
        let mut output = self.tests.remove(&number).unwrap_or_else(|| self.create(number));
        let (text, has_ended) = match report {
            Iperf3TestReport::Start(start) => (output.format_start(*start), false),
            Iperf3TestReport::Interval(interval) => (output.format_interval(interval), false),
            Iperf3TestReport::Message(..) => (String::new(), false),
            Iperf3TestReport::End(end) => (output.format_end(&end), true),
            Iperf3TestReport::Failed(error) => {
                (output.format_failure(&error_text(&error)), true)
            }
        };
        if !has_ended {
            self.tests.insert(number, output);
        }
        text
    }
}
