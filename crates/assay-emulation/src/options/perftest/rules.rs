//! Rules for combining perftest's options with tests and with each other. Values are checked
//! elsewhere.

use assay_model::benchmark::RdmaTest;
use assay_model::workload::RdmaConnection;
use assay_run::failure::CommandFailure;
use clap::ValueEnum as _;

use super::RdmaArguments;

/// Maximum duration of a latency test.
const MAX_LATENCY_S: u64 = 120;

const LATENCY_IS_SERIAL: &str = "a latency test has one operation in flight";
const NO_RATE: &str = "a latency test has no rate";
const NO_TIMES: &str = "a bandwidth test has no times of single messages";
const TOO_MANY_TO_LIST: &str = "a test with -D has too many results to list";
const EIGHT_BYTES: &str = "atomic operations have 8 bytes";

const USE_WITH_BANDWIDTH: &str = "use -t, -q and -b with bandwidth tests";
const USE_RATES_WITH_BANDWIDTH: &str = "use -Q, -N and --report_gbits with bandwidth tests";
const USE_WITH_LATENCY: &str = "use -U and -H with latency tests";
const USE_WITH_ITERATIONS: &str = "use -U and -H with a number of messages, -n";
const LEAVE_OUT_SIZE: &str = "leave out -a and -s";

const MESSAGES_ONLY: &str = "UD supports messages only, and drops those that are not received";
const USE_UD_WITH_SEND: &str = "use `-c UD` with send-lat and send-bw only";
const NOTHING_SENT: &str = "reads and atomic operations send no data that could be inlined";
const ONE_SIDED_ONLY: &str = "only writes and reads can run uncounted: messages need the far end, and \
                              additions are compared";
const USE_WITH_ONE_SIDED: &str = "use --perform_warm_up with write-bw and read-bw";
const TOO_MANY_TIMES: &str =
    "every message's time is kept, a hundred million in two minutes on a fast card";
const MAX_LATENCY_ADVICE: &str =
    "use at most -D 120 with latency tests, repeated in a shell loop";

/// Invalid option: its name, the reason, and an alternative.
type InvalidOption<'a> = (&'a str, &'a str, &'a str);

/// Whether an option is given, whether it is allowed, and the error if not.
type OptionRule = (bool, bool, InvalidOption<'static>);

impl RdmaArguments {
    /// Rejects options that the test does not support, and invalid combinations.
    pub(super) fn check(&self, test: RdmaTest) -> Result<(), CommandFailure> {
        if let Some((option, why, instead)) = self.find_misplaced_option(test) {
            let name = self.test.to_possible_value();
            let name = name.as_ref().map_or("", |it| it.get_name());
            let what = format!("`assay rdma {name}` does not support {option}");
            return Err(CommandFailure::usage(what).with_reason(why).advise(instead));
        }
        let seconds = self.duration.unwrap_or(0);
        let (all, margin) =
            (format!("-D {seconds}"), format!("-f {}", self.margin.unwrap_or(0)));
        if self.duration.is_some_and(|all| all <= 2 * self.margin.unwrap_or(0)) {
            return Err(conflict_failure(
                (
                    &margin,
                    "the margins leave no time to measure",
                    "set -D to more than twice -f",
                ),
                &all,
            ));
        }
        let is_datagram = self.connection == RdmaConnection::Ud;
        let is_timed = self.duration.is_some();
        let rules: [(bool, &str, InvalidOption<'_>); 4] = [
            (
                is_datagram && self.bidirectional,
                "-c UD",
                (
                    "-b",
                    "datagrams are counted at the receiver, so they are sent in one direction",
                    "leave out -b or `-c UD`",
                ),
            ),
            (
                is_timed && self.report_unsorted,
                "-D",
                ("-U", TOO_MANY_TO_LIST, USE_WITH_ITERATIONS),
            ),
            (
                is_timed && self.report_histogram,
                "-D",
                ("-H", TOO_MANY_TO_LIST, USE_WITH_ITERATIONS),
            ),
            (
                is_timed && self.perform_warm_up,
                "-D",
                (
                    "--perform_warm_up",
                    "messages within the margin are not counted anyway",
                    "set the margin with -f SECONDS",
                ),
            ),
        ];
        let broken = rules.into_iter().find(|(is_broken, ..)| *is_broken);
        broken.map_or(Ok(()), |(_, other, rule)| Err(conflict_failure(rule, other)))
    }

    /// Returns an option that has no effect or is not possible in this test.
    fn find_misplaced_option(&self, test: RdmaTest) -> Option<InvalidOption<'static>> {
        let mut rules = self.operation_rules(test).into_iter().chain(self.measure_rules(test));
        let broken = rules.find(|(is_given, fits, _)| *is_given && !fits);
        broken.map(|(.., rule)| rule)
    }

    /// Rules for options of particular operations.
    fn operation_rules(&self, test: RdmaTest) -> [OptionRule; 8] {
        use RdmaTest::{
            ReadBandwidth, ReadLatency, SendBandwidth, SendLatency, WriteBandwidth,
        };
        let is_atomic = test.is_atomic();
        let reads = is_atomic || matches!(test, ReadLatency | ReadBandwidth);
        let sends = matches!(test, SendLatency | SendBandwidth);
        let is_alone = matches!(test, WriteBandwidth | ReadBandwidth);
        let is_datagram = self.connection == RdmaConnection::Ud;
        [
            (is_datagram, sends, ("-c UD", MESSAGES_ONLY, USE_UD_WITH_SEND)),
            (self.all, !is_atomic, ("-a", EIGHT_BYTES, LEAVE_OUT_SIZE)),
            (
                self.size.is_some_and(|it| it != 8),
                !is_atomic,
                ("-s", EIGHT_BYTES, LEAVE_OUT_SIZE),
            ),
            (
                self.outs.is_some(),
                reads,
                (
                    "-o",
                    "-o limits only reads and atomic operations",
                    "use -o with read-lat, read-bw, atomic-lat and atomic-bw",
                ),
            ),
            (
                self.rx_depth.is_some(),
                sends,
                (
                    "-r",
                    "only messages need posted receives",
                    "use -r with send-lat and send-bw",
                ),
            ),
            (self.inline_size.is_some(), !reads, ("-I", NOTHING_SENT, "leave out -I")),
            (
                self.atomic_type.is_some(),
                is_atomic,
                (
                    "-A",
                    "this test has no atomic operations",
                    "use -A with atomic-lat and atomic-bw",
                ),
            ),
            (
                self.perform_warm_up,
                is_alone,
                ("--perform_warm_up", ONE_SIDED_ONLY, USE_WITH_ONE_SIDED),
            ),
        ]
    }

    /// Rules for options of latency or bandwidth tests.
    fn measure_rules(&self, test: RdmaTest) -> [OptionRule; 9] {
        let is_bandwidth = test.is_bandwidth();
        let is_long = self.duration.is_some_and(|seconds| seconds > MAX_LATENCY_S);
        [
            (
                self.tx_depth.is_some(),
                is_bandwidth,
                ("-t", LATENCY_IS_SERIAL, USE_WITH_BANDWIDTH),
            ),
            (self.qp > 1, is_bandwidth, ("-q", LATENCY_IS_SERIAL, USE_WITH_BANDWIDTH)),
            (self.bidirectional, is_bandwidth, ("-b", LATENCY_IS_SERIAL, USE_WITH_BANDWIDTH)),
            (self.cq_mod.is_some(), is_bandwidth, ("-Q", NO_RATE, USE_RATES_WITH_BANDWIDTH)),
            (self.no_peak, is_bandwidth, ("-N", NO_RATE, USE_RATES_WITH_BANDWIDTH)),
            (
                self.report_gbits,
                is_bandwidth,
                ("--report_gbits", NO_RATE, USE_RATES_WITH_BANDWIDTH),
            ),
            (self.report_unsorted, !is_bandwidth, ("-U", NO_TIMES, USE_WITH_LATENCY)),
            (self.report_histogram, !is_bandwidth, ("-H", NO_TIMES, USE_WITH_LATENCY)),
            (is_long, is_bandwidth, ("a -D above 120", TOO_MANY_TIMES, MAX_LATENCY_ADVICE)),
        ]
    }
}

fn conflict_failure((option, why, instead): InvalidOption<'_>, other: &str) -> CommandFailure {
    CommandFailure::usage(format!("{option} cannot be used with {other}"))
        .with_reason(why)
        .advise(instead)
}
