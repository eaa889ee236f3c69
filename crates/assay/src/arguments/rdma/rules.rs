//! Rules for combining perftest's options with tests and with each other. Values are checked
//! elsewhere.

use assay_model::benchmark::RdmaTest;
use assay_model::workload::RdmaConnection;
use assay_run::failure::Failure;
use clap::ValueEnum as _;

use super::RdmaArguments;

/// Maximum duration of a latency test.
const LONGEST_LATENCY_S: u64 = 120;

const ONE_BY_ONE: &str = "latency is measured one by one";
const NO_RATE: &str = "a test of latency has no rate";
const NO_TIMES: &str = "a test of bandwidth has no times of single messages";
const TOO_MANY: &str = "the results of a time are too many to list";
const EIGHT_BYTES: &str = "atomic operations have 8 bytes";

const OF_MANY: &str = "-t, -q and -b go with the tests of bandwidth";
const OF_RATES: &str = "-Q, -N and --report_gbits go with the tests of bandwidth";
const OF_TIMES: &str = "-U and -H go with the tests of latency";
const OF_NUMBERS: &str = "-U and -H go with a number of messages, -n";
const NO_SIZE: &str = "leave out -a and -s";

const MESSAGES_ONLY: &str = "UD carries messages only, and drops what is not received";
const OF_DATAGRAMS: &str =
    "`-c UD` goes with send-lat and send-bw; leave it out for the others";
const NOTHING_SENT: &str = "reads and atomic operations send nothing to copy into a request";
const NOT_ALONE: &str =
    "only what the far end's device answers by itself can be done without being counted";
const OF_LONE_ENDS: &str = "--perform_warm_up goes with write-bw and read-bw";
const EVERY_TIME: &str =
    "the time of every message is kept, and a fast card has a hundred million in two minutes";
const LONGEST: &str =
    "-D 120 is the longest with the tests of latency; a loop of the shell repeats it";

/// Invalid option: its name, the reason, and an alternative.
type Broken<'a> = (&'a str, &'a str, &'a str);

/// Whether an option is given, whether it is allowed, and the error if not.
type Rule = (bool, bool, Broken<'static>);

impl RdmaArguments {
    /// Rejects options that the test does not support, and invalid combinations.
    pub(super) fn check(&self, test: RdmaTest) -> Result<(), Failure> {
        if let Some((option, why, instead)) = self.of_other_tests(test) {
            let name = self.test.to_possible_value();
            let name = name.as_ref().map_or("", |it| it.get_name());
            let what = format!("`assay rdma {name}` does not take {option}");
            return Err(Failure::usage(what).explain(why).advise(instead));
        }
        let seconds = self.duration.unwrap_or(0);
        let (all, margin) =
            (format!("-D {seconds}"), format!("-f {}", self.margin.unwrap_or(0)));
        if self.duration.is_some_and(|all| all <= 2 * self.margin.unwrap_or(0)) {
            return Err(apart(
                (&margin, "the margins leave no time", "-D has to be more than twice -f"),
                &all,
            ));
        }
        let is_datagram = self.connection == RdmaConnection::Ud;
        let is_timed = self.duration.is_some();
        let rules: [(bool, &str, Broken<'_>); 4] = [
            (
                is_datagram && self.bidirectional,
                "-c UD",
                (
                    "-b",
                    "datagrams are counted where they arrive, one way",
                    "leave out -b or `-c UD`",
                ),
            ),
            (is_timed && self.report_unsorted, "-D", ("-U", TOO_MANY, OF_NUMBERS)),
            (is_timed && self.report_histogram, "-D", ("-H", TOO_MANY, OF_NUMBERS)),
            (
                is_timed && self.perform_warm_up,
                "-D",
                (
                    "--perform_warm_up",
                    "what is sent within the margin is not counted anyway",
                    "-f SECONDS sets the margin",
                ),
            ),
        ];
        let broken = rules.into_iter().find(|(is_broken, ..)| *is_broken);
        broken.map_or(Ok(()), |(_, other, rule)| Err(apart(rule, other)))
    }

    /// Returns an option that has no effect or is not possible in this test.
    fn of_other_tests(&self, test: RdmaTest) -> Option<Broken<'static>> {
        let mut rules =
            self.rules_of_operations(test).into_iter().chain(self.rules_of_measure(test));
        let broken = rules.find(|(is_given, fits, _)| *is_given && !fits);
        broken.map(|(.., rule)| rule)
    }

    /// Rules for options of particular operations.
    fn rules_of_operations(&self, test: RdmaTest) -> [Rule; 8] {
        use RdmaTest::{
            AtomicLatency, ReadBandwidth, ReadLatency, SendBandwidth, SendLatency,
            WriteBandwidth,
        };
        let reads = matches!(test, ReadLatency | ReadBandwidth | AtomicLatency);
        let sends = matches!(test, SendLatency | SendBandwidth);
        let is_alone = matches!(test, WriteBandwidth | ReadBandwidth);
        let is_atomic = test == AtomicLatency;
        let is_datagram = self.connection == RdmaConnection::Ud;
        [
            (is_datagram, sends, ("-c UD", MESSAGES_ONLY, OF_DATAGRAMS)),
            (self.all, !is_atomic, ("-a", EIGHT_BYTES, NO_SIZE)),
            (self.size.is_some_and(|it| it != 8), !is_atomic, ("-s", EIGHT_BYTES, NO_SIZE)),
            (
                self.outs.is_some(),
                reads,
                (
                    "-o",
                    "only reads and atomic operations are bounded by -o",
                    "-o goes with read-lat, read-bw and atomic-lat",
                ),
            ),
            (
                self.rx_depth.is_some(),
                sends,
                (
                    "-r",
                    "only messages need memory to be received in",
                    "-r goes with send-lat and send-bw",
                ),
            ),
            (self.inline_size.is_some(), !reads, ("-I", NOTHING_SENT, "leave -I out")),
            (
                self.atomic_type.is_some(),
                is_atomic,
                ("-A", "there is no atomic operation in this test", "-A goes with atomic-lat"),
            ),
            (self.perform_warm_up, is_alone, ("--perform_warm_up", NOT_ALONE, OF_LONE_ENDS)),
        ]
    }

    /// Rules for options of latency or bandwidth tests.
    fn rules_of_measure(&self, test: RdmaTest) -> [Rule; 9] {
        let is_bandwidth = test.is_bandwidth();
        let is_long = self.duration.is_some_and(|seconds| seconds > LONGEST_LATENCY_S);
        [
            (self.tx_depth.is_some(), is_bandwidth, ("-t", ONE_BY_ONE, OF_MANY)),
            (self.qp > 1, is_bandwidth, ("-q", ONE_BY_ONE, OF_MANY)),
            (self.bidirectional, is_bandwidth, ("-b", ONE_BY_ONE, OF_MANY)),
            (self.cq_mod.is_some(), is_bandwidth, ("-Q", NO_RATE, OF_RATES)),
            (self.no_peak, is_bandwidth, ("-N", NO_RATE, OF_RATES)),
            (self.report_gbits, is_bandwidth, ("--report_gbits", NO_RATE, OF_RATES)),
            (self.report_unsorted, !is_bandwidth, ("-U", NO_TIMES, OF_TIMES)),
            (self.report_histogram, !is_bandwidth, ("-H", NO_TIMES, OF_TIMES)),
            (is_long, is_bandwidth, ("so long a -D", EVERY_TIME, LONGEST)),
        ]
    }
}

fn apart((option, why, instead): Broken<'_>, other: &str) -> Failure {
    Failure::usage(format!("{option} cannot be used with {other}")).explain(why).advise(instead)
}
