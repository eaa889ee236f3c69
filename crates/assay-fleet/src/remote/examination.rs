//! Runs `assay doctor` on many hosts at once. Each host has its own transport process and is
//! independent of the others.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::connection_options::{ConnectionOptions, MAX_CONCURRENT_HOSTS};
use super::failure::HostFailure;
use super::transport::{self, TransportList, TransportPipes};
use super::{AgentReply, AgentRequest, DoctorResults, frame};
use crate::resource_limits;

/// Result of `assay doctor` on a host, and its clock offset.
#[derive(Debug)]
pub struct HostReport {
    /// Results of the checks.
    pub examined: DoctorResults,
    /// Offset of its clock from this host's clock, and the bound of its error, in seconds.
    pub clock_offset_s: (f64, f64),
}

/// Runs `assay doctor` on all hosts; calls `observe` for each result as it arrives. Returns the
/// results in the order of the hosts.
pub fn examine_hosts(
    hosts: &[String],
    options: &ConnectionOptions<'_>,
    observe: &mut dyn FnMut(&str, &Result<HostReport, HostFailure>),
) -> Vec<Result<HostReport, HostFailure>> {
    let examine_host =
        |host: &str, options: &ConnectionOptions<'_>, transports: &TransportList| {
            transport::run_agent(host, options, transports, &|pipes, _| examine(pipes))
        };
    resource_limits::raise_open_files();
    let next = AtomicUsize::new(0);
    let transports = TransportList::default();
    let (sender, receiver) = mpsc::channel();
    let mut results: Vec<_> = hosts.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for _ in 0..hosts.len().min(MAX_CONCURRENT_HOSTS) {
            let (sender, next) = (sender.clone(), &next);
            let (transports, examine_host) = (&transports, &examine_host);
            let work = move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(host) = hosts.get(index) else { return };
                    let result = examine_host(host, options, transports);
                    if sender.send((index, result)).is_err() {
                        return;
                    }
                }
            };
            // Running threads take over the hosts of a thread that cannot be started.
            drop(thread::Builder::new().stack_size(512 << 10).spawn_scoped(scope, work));
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(Duration::from_millis(50)) {
                Ok((index, result)) => {
                    observe(&hosts[index], &result);
                    results[index] = Some(result);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    transport::kill_overdue(&transports, options.cancel);
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    results.into_iter().map(|result| result.unwrap_or(Err(HostFailure::NoThread))).collect()
}

fn examine(mut pipes: TransportPipes) -> Result<HostReport, HostFailure> {
    let pipes = &mut pipes;
    let clock_offset_s = clock_offset(pipes)?;
    match request(pipes, &AgentRequest::Examine)? {
        AgentReply::Examined(examined) => {
            Ok(HostReport { examined: *examined, clock_offset_s })
        }
        AgentReply::Failed { reason, advice } => Err(HostFailure::Refused { reason, advice }),
        _ => Err(HostFailure::Closed),
    }
}

fn request(
    pipes: &mut TransportPipes,
    request: &AgentRequest,
) -> Result<AgentReply, HostFailure> {
    frame::write(&mut pipes.input, request).map_err(HostFailure::from_frame_error)?;
    frame::read(&mut pipes.output).map_err(HostFailure::from_frame_error)
}

/// Returns the offset of the remote clock and half the round trip, which bounds its error
/// (Cristian: Probabilistic clock synchronization, Distributed Computing 3, 1989). Uses the query
/// with the shortest round trip.
fn clock_offset(pipes: &mut TransportPipes) -> Result<(f64, f64), HostFailure> {
    const CLOCK_QUERIES: usize = 8;
    let mut best = (0.0, f64::INFINITY);
    for _ in 0..CLOCK_QUERIES {
        let (sent_at, sent_s) = (Instant::now(), now_s());
        let AgentReply::Clock(remote_clock) = request(pipes, &AgentRequest::Clock)? else {
            return Err(HostFailure::Closed);
        };
        let bound_s = sent_at.elapsed().as_secs_f64() / 2.0;
        if bound_s < best.1 {
            best = (remote_clock.day_ns as f64 / 1e9 - (sent_s + bound_s), bound_s);
        }
    }
    Ok(best)
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |it| it.as_secs_f64())
}
