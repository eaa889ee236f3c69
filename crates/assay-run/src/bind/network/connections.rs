//! Connections with one request and one response each: their rate and their times.

use std::time::Duration;

use assay_dialects::wire::qperf::{QperfRequest, QperfTestKind};
use assay_kernels::network::connections::Transaction;
use assay_kernels::network::pingpong::WaitMode;
use assay_model::attribute::Attribute;
use assay_model::entry::{EntryValue, MeasuredSpan, MeasurementEntry, SeriesKey};
use assay_model::failure::FailureReason;
use assay_model::quantity::{Quantity, Unit};
use assay_model::workload::NetworkConnections;

use super::far_end::NetworkFarEnd;
use super::{local_address_for, record_path};
use crate::measurement_loop::{self, Turns};
use crate::network::error::NetworkError;
use crate::network::qperf_client::{self, ConnectionsOutcome, QperfTest};
use crate::network::target::NetworkTarget;
use crate::recorder::{CaseError, Recorder};
use crate::round_trips::time_entries;

pub(super) fn turns(
    asked: &NetworkConnections,
    far_end: NetworkFarEnd,
    targets: Vec<NetworkTarget>,
) -> Turns<'_> {
    let mut case = ConnectionsCase { asked, far_end, targets, completed: 0 };
    Box::new(move |recorder| {
        measurement_loop::run_once(&mut |recorder| case.repetition(recorder), recorder)
    })
}

struct ConnectionsCase<'a> {
    asked: &'a NetworkConnections,
    far_end: NetworkFarEnd,
    /// Candidate servers in order of preference; only the one that has served, once one has.
    targets: Vec<NetworkTarget>,
    /// Completed connections of all repetitions.
    completed: usize,
}

impl ConnectionsCase<'_> {
    fn repetition(&mut self, recorder: &mut Recorder<'_, '_>) -> Result<(), CaseError> {
        let began_s = recorder.elapsed_s();
        let measured = self.connect_to_first(recorder);
        let outcome = measured.map_err(|error| self.far_end.find_cause(error))?;
        let seconds = outcome.transactions.total_ns as f64 * 1e-9;
        let list = &outcome.transactions.list;
        let rate = list.len() as f64 / seconds;
        let span = MeasuredSpan::from_seconds(began_s, recorder.elapsed_s() - began_s, false);
        recorder.record_all(vec![MeasurementEntry::measured(
            "connection_rate",
            EntryValue::weighted(rate, seconds),
        )]);
        let times = |time: fn(&Transaction) -> u64| list.iter().map(time).collect::<Vec<u64>>();
        let (connects, totals) = (times(|it| it.connect_ns), times(|it| it.total_ns));
        recorder.record_all(time_entries(&connects, span, "connect_time", 1));
        recorder.record_all(time_entries(&totals, span, "transaction_time", 1));
        let mean_s = totals.iter().map(|ns| *ns as f64).sum::<f64>() * 1e-9 / list.len() as f64;
        let rates = [Quantity::new(rate, Unit::Hertz)];
        recorder.report_second(seconds, &rates, Some(mean_s), None);
        if self.completed == 0 {
            let address = outcome.address;
            record_path(local_address_for(address), address.ip(), recorder);
        }
        self.completed += list.len();
        let rate = SeriesKey::only_series("connection_rate");
        recorder.add_series_fact(rate, Attribute::Messages, self.completed);
        Ok(())
    }

    /// Runs the test with the first server that supports it.
    fn connect_to_first(
        &mut self,
        recorder: &Recorder<'_, '_>,
    ) -> Result<ConnectionsOutcome, NetworkError> {
        let mut last = NetworkError::Known(FailureReason::NoData);
        for target in self.targets.clone() {
            let test = self.qperf_test(&target);
            match qperf_client::run_connections(&test, self.asked.streams, recorder.cancel()) {
                Ok(outcome) => {
                    self.targets = vec![target];
                    return Ok(outcome);
                }
                // The next port may have another server.
                Err(
                    error @ (NetworkError::Known(FailureReason::NotConnected { .. })
                    | NetworkError::NoConnections { .. }),
                ) => {
                    // A port that nobody serves says less.
                    if !matches!(last, NetworkError::NoConnections { .. }) {
                        last = error;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(last.of_connections_test())
    }

    fn qperf_test(&self, target: &NetworkTarget) -> QperfTest {
        let message_bytes = u32::try_from(self.asked.bytes).unwrap_or(u32::MAX);
        let request = QperfRequest {
            message_bytes,
            time_s: self.asked.seconds,
            ..QperfRequest::new(QperfTestKind::TcpConnections)
        };
        QperfTest {
            target: target.clone(),
            timeout: Duration::from_secs(u64::from(request.timeout_s)),
            request,
            waiting: WaitMode::Sleep,
            rate_per_s: None,
            busy_poll_us: None,
            local_buffer_bytes: None,
            wait_for_server: Duration::ZERO,
        }
    }
}
