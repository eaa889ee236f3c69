//! `assay sockperf`: client and server with sockperf's options, output and protocol.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use assay_dialects::wire::sockperf::MAX_DATAGRAM_BYTES;
use assay_model::failure::FailureReason;
use assay_model::run::Run;
use assay_run::failure::CommandFailure;
use assay_run::network::error::NetworkError;
use assay_run::network::sockperf_client::{
    self, MAX_TIMES, SockperfEnd, SockperfMode, SockperfOutcome, SockperfTest,
};
use assay_run::network::sockperf_record;
use assay_run::network::sockperf_server::{
    self, GapEvent, SockperfServerEvent, SockperfService,
};
use assay_run::network::sockperf_statistics::{SockperfFigures, SockperfReplies};
use assay_run::network::target::{NetworkTarget, is_loopback};
use assay_run::recording::Recording;
use assay_run::round_trips::RoundTripStatistics;
use assay_run::stored_outcome::{self, ToolOutcome};
use assay_store::Store;
use serde::{Deserialize, Serialize};

use self::output::{SockperfStyle, WARM_UP, format_address, format_version};
use super::iperf3::{network_failure, record_end};
use crate::options::network::SockperfArguments;
use crate::options::network::sockperf::{LOOPBACK, SockperfRole};
use crate::output_file;
use crate::store_access;
use crate::terminal::Terminal;
use assay_console::failure::render;
use assay_console::progress_listener::EmulationListener;

mod output;

/// Emulated version, with the mark of a build that is not sockperf's own.
const VERSION: &str = "3.7-assay";

/// Runs a client or a server, as sockperf does. Returns the exit code.
///
/// # Errors
/// Invalid values, or an unreachable or disconnecting peer.
pub fn sockperf(
    typed: &SockperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if typed.tell_version {
        terminal.print(&format!("sockperf, version {VERSION}\n"));
        return Ok(0);
    }
    match typed.role()? {
        SockperfRole::Server => serve(typed, cancel, terminal),
        SockperfRole::Client(mode) => {
            measure(typed, &typed.client_test(mode)?, cancel, terminal)
        }
    }
}

fn serve(
    typed: &SockperfArguments,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    let target = NetworkTarget::new(typed.ip.as_deref().unwrap_or(LOOPBACK), typed.port);
    let addresses = target.addresses().map_err(|error| network_failure(&error))?;
    let Some(listen) = addresses.first().copied() else { return Ok(0) };
    if typed.ip.is_none() && is_loopback(listen.ip()) {
        terminal.note("listening on loopback only; use -i 0.0.0.0 to admit other hosts");
    }
    let service = SockperfService {
        listen,
        is_tcp: typed.tcp,
        max_message_bytes: typed.message_bytes(MAX_DATAGRAM_BYTES)?,
        replies: !typed.dont_reply,
        detects_gaps: typed.gap_detection,
        shares_port: typed.uc_reuseaddr,
        socket: typed.socket_options(true),
    };
    terminal.print(&format_version());
    let shared = Mutex::new(&mut *terminal);
    let served = sockperf_server::serve(&service, cancel, &|event| {
        let Ok(mut terminal) = shared.lock() else { return };
        match event {
            SockperfServerEvent::Listening => {
                let address = format_address(listen, typed.tcp);
                let warm_up = if typed.dontwarmup { "" } else { WARM_UP };
                terminal.print(&format!(
                    "sockperf: [SERVER] listen on:\n{address}{warm_up}sockperf: [tid {}] using \
                     recvfrom() to block on socket(s)\n",
                    std::process::id()
                ));
            }
            SockperfServerEvent::Gap(event) => terminal.print(&format_gap(event)),
            SockperfServerEvent::Failed(error) => {
                terminal.note(render(&network_failure(error), false).trim_end());
            }
        }
    })
    .map_err(|error| network_failure(&error))?;
    let count = match served.received {
        0 => "sockperf: No messages were received on the server.\n".to_owned(),
        count => format!("sockperf: Total {count} messages received and handled\n"),
    };
    let session = |(peer, missing): (SocketAddr, u64)| {
        let peer = format!("[{peer}]");
        format!("sockperf: {peer:<23} Summary: Total Dropped/OOO: {missing}\n")
    };
    let sessions: String = served.sessions.into_iter().map(session).collect();
    terminal.print(&format!(
        "sockperf: Test end (interrupted by user)\n{count}{sessions}sockperf: cleanupAfterLoop() \
         exit\n"
    ));
    Ok(0)
}

/// Formats an event of the detection of missing messages.
fn format_gap(event: GapEvent) -> String {
    match event {
        GapEvent::Session(peer) => {
            let peer = format!("[{peer}]");
            format!("sockperf: Starting new session: {peer:<23}\n")
        }
        GapEvent::Missing { peer, total, first, last } => {
            let (peer, missing) = (format!("[{peer}]"), format!("({})", last - first + 1));
            format!(
                "sockperf: {peer:<23} Total Dropped/OOO: {total:<12}GAP:{missing:<7} [{first} - \
                 {last}]\n"
            )
        }
    }
}

fn measure(
    typed: &SockperfArguments,
    test: &SockperfTest,
    cancel: &AtomicBool,
    terminal: &mut Terminal,
) -> Result<u8, CommandFailure> {
    if let Some(path) = &typed.full_log {
        output_file::check_writable(path)?;
    }
    let store = store_access::open_for_recording(&typed.keep)?;
    let phases = vec![sockperf_record::phase(test)];
    let opening =
        store_access::recording_request((&typed.keep, store.as_ref()), "sockperf", phases);
    let mut quiet = EmulationListener::new(&typed.keep);
    let mut recording = Recording::begin(opening, &mut quiet)?;
    recording.start_case(0)?;
    let style = style(typed, test);
    let mut address = None;
    let outcome = sockperf_client::run(test, cancel, &mut |server| {
        address = Some(server);
        if !style.json {
            terminal.print(&style.format_start(server));
        }
    });
    let observed = outcome.as_ref().ok().and_then(|it| it.times.observe(test.reply_every));
    let result = outcome.as_ref().ok().map(|it| SockperfResult::new(it, observed.as_ref()));
    if let Some(result) = &result {
        if result.end == SockperfEnd::Memory {
            terminal.note(&format!(
                "the test ended early, because the times of {MAX_TIMES} requests are the most that \
                 it keeps; use a lower --mps, or a shorter --time"
            ));
        }
        terminal.print(&match style.json {
            true => style.format_json(result),
            false => style.format_end(result),
        });
        if let Some(path) = &typed.full_log {
            output_file::write(path, style.format_full_log(result, observed.as_ref()))?;
        }
    }
    let entries =
        outcome.as_ref().map(|it| sockperf_record::entries(test, it, observed.as_ref()));
    let entries = entries.unwrap_or_default();
    let error = match outcome {
        Ok(it) => find_failure(test, &it, observed.is_some(), address),
        Err(error) => Some(error),
    };
    record_end(&mut recording, 0, entries, error.as_ref())?;
    recording.store_outcome(&SockperfRunOutcome { style, address, result })?;
    recording.finish(matches!(error, Some(NetworkError::Interrupted)))?;
    error.map_or(Ok(0), |error| Err(network_failure(&error)))
}

/// Returns the reason why a test that ended has no result.
fn find_failure(
    test: &SockperfTest,
    outcome: &SockperfOutcome,
    has_valid_replies: bool,
    address: Option<SocketAddr>,
) -> Option<NetworkError> {
    let peer = address.map(|it| it.to_string()).unwrap_or_default();
    if outcome.end == SockperfEnd::User {
        return Some(NetworkError::Interrupted);
    }
    if test.mode == SockperfMode::Throughput {
        return (outcome.sent == 0).then_some(NetworkError::Known(FailureReason::NoData));
    }
    if has_valid_replies {
        return None;
    }
    Some(match outcome.times.lacks_all_replies() {
        true => NetworkError::NoReply { peer },
        false => NetworkError::NoValidReply { peer },
    })
}

/// Returns the options that appear in the output.
const fn style(typed: &SockperfArguments, test: &SockperfTest) -> SockperfStyle {
    SockperfStyle {
        mode: test.mode,
        is_tcp: test.is_tcp,
        full_rtt: typed.full_rtt,
        giga_size: typed.giga_size,
        is_precise: typed.increase_output_precision,
        warms_up: !typed.dontwarmup,
        message_bytes: test.message_bytes,
        size_range: test.size_range,
        messages_per_s: test.messages_per_s,
        burst: test.burst,
        reply_every: test.reply_every,
        seconds: test.seconds,
        json: typed.json,
    }
}

/// Result of a test.
#[derive(Debug, Serialize, Deserialize)]
struct SockperfResult {
    /// Duration in seconds.
    run_s: f64,
    /// Sent messages.
    sent: u64,
    /// Their bytes.
    sent_bytes: u64,
    /// Received replies.
    received: u64,
    /// Whether the rate was not reached.
    is_rate_missed: bool,
    end: SockperfEnd,
    /// Figures of the replies that count.
    figures: Option<SockperfFigures>,
    /// Statistics of their round trips, for JSON.
    round_trips: Option<RoundTripStatistics>,
}

impl SockperfResult {
    fn new(outcome: &SockperfOutcome, observed: Option<&SockperfReplies>) -> Self {
        Self {
            run_s: outcome.run_ns as f64 * 1e-9,
            sent: outcome.sent,
            sent_bytes: outcome.sent_bytes,
            received: outcome.times.received,
            is_rate_missed: outcome.is_rate_missed,
            end: outcome.end,
            figures: observed.map(SockperfFigures::from_replies),
            round_trips: observed.map(|it| RoundTripStatistics::from_times(&it.round_trips_ns)),
        }
    }

    /// Returns the sent messages per second, rounded.
    fn messages_per_s(&self) -> u64 {
        (self.sent as f64 / self.run_s.max(1e-9)).round() as u64
    }
}

/// Stored outcome of a test.
#[derive(Debug, Serialize, Deserialize)]
struct SockperfRunOutcome {
    style: SockperfStyle,
    /// Server; `None` if it could not be reached.
    address: Option<SocketAddr>,
    /// Result; `None` if the test failed.
    result: Option<SockperfResult>,
}

impl ToolOutcome for SockperfRunOutcome {
    const TOOL: &'static str = "sockperf";
    const VERSION: u32 = 1;
}

/// Renders a stored run as sockperf's output.
///
/// # Errors
/// The outcome of the test cannot be read.
pub fn render_stored(run: &Run, store: &Store) -> Result<String, CommandFailure> {
    let SockperfRunOutcome { style, address, result } = stored_outcome::read(run, store)?;
    let start = address.filter(|_| !style.json).map(|it| style.format_start(it));
    let end = result.map(|result| match style.json {
        true => style.format_json(&result),
        false => style.format_end(&result),
    });
    Ok(start.unwrap_or_default() + &end.unwrap_or_default())
}
