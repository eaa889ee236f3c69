//! Parameters of qperf's tests: options and loops apply to the tests after them on the command line,
//! as in qperf.

use assay_dialects::wire::qperf::{CPU_LIMIT, QperfRequest, QperfTestKind};
use serde::{Deserialize, Serialize};

use super::QperfArguments;
use assay_run::failure::CommandFailure;

/// Maximum number of tests, far more than doubling from one byte to the largest message needs.
const MAX_TESTS: usize = 1000;
/// Maximum time in seconds, and maximum of a buffer in bytes.
const MAX_TIME_S: u64 = 86_400;
const MAX_BYTES: u64 = 1 << 26;
const MAX_DATAGRAM_BYTES: u64 = 65_507;

/// Parameter at this end and at the far one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct QperfParameter {
    pub(crate) local: u32,
    pub(crate) remote: u32,
    /// Whether an option set it.
    pub(crate) is_set: bool,
}

impl QperfParameter {
    const fn default_value(value: u32) -> Self {
        Self { local: value, remote: value, is_set: false }
    }
}

/// Parameters and verbosity of one test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QperfParameters {
    pub(crate) message_bytes: QperfParameter,
    pub(crate) socket_buffer_bytes: QperfParameter,
    pub(crate) time_s: QperfParameter,
    pub(crate) timeout_s: QperfParameter,
    /// CPU, from 1; 0 = any.
    #[serde(default)]
    pub(crate) cpu: QperfParameter,
    /// Port of the data; 0 = any.
    #[serde(default)]
    pub(crate) port: QperfParameter,
    /// Verbosity of statistics, times and used parameters, 0 to 2.
    pub(crate) verbosity: [u8; 3],
    /// Digits of a figure.
    pub(crate) precision: u32,
}

impl Default for QperfParameters {
    fn default() -> Self {
        Self {
            message_bytes: QperfParameter::default(),
            socket_buffer_bytes: QperfParameter::default(),
            time_s: QperfParameter::default_value(2),
            timeout_s: QperfParameter::default_value(5),
            cpu: QperfParameter::default(),
            port: QperfParameter::default(),
            verbosity: [0; 3],
            precision: 3,
        }
    }
}

/// Numeric option, by its names without dashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QperfVariable {
    MessageSize,
    SocketBuffer,
    LocalSocketBuffer,
    RemoteSocketBuffer,
    Time,
    Timeout,
    LocalTimeout,
    RemoteTimeout,
    Cpu,
    LocalCpu,
    RemoteCpu,
    Port,
    Precision,
}

/// Names of the variables: the field of the option, and qperf's names.
const VARIABLES: &[(QperfVariable, &str, &[&str])] = &[
    (QperfVariable::MessageSize, "msg_size", &["msg_size", "m"]),
    (QperfVariable::SocketBuffer, "sock_buf_size", &["sock_buf_size", "sb"]),
    (QperfVariable::LocalSocketBuffer, "loc_sock_buf_size", &["loc_sock_buf_size", "lsb"]),
    (QperfVariable::RemoteSocketBuffer, "rem_sock_buf_size", &["rem_sock_buf_size", "rsb"]),
    (QperfVariable::Time, "time", &["time", "t"]),
    (QperfVariable::Timeout, "timeout", &["timeout", "to"]),
    (QperfVariable::LocalTimeout, "loc_timeout", &["loc_timeout", "lto"]),
    (QperfVariable::RemoteTimeout, "rem_timeout", &["rem_timeout", "rto"]),
    (QperfVariable::Cpu, "cpu_affinity", &["cpu_affinity", "ca"]),
    (QperfVariable::LocalCpu, "loc_cpu_affinity", &["loc_cpu_affinity", "lca"]),
    (QperfVariable::RemoteCpu, "rem_cpu_affinity", &["rem_cpu_affinity", "rca"]),
    (QperfVariable::Port, "ip_port", &["ip_port", "ip"]),
    (QperfVariable::Precision, "precision", &["precision", "e"]),
];

/// Loop over the values of an option (`-oo`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct QperfLoop {
    variable: QperfVariable,
    values: Vec<u64>,
}

/// Test with its parameters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QperfStep {
    pub(crate) test: QperfTestKind,
    pub(crate) parameters: QperfParameters,
}

impl QperfStep {
    /// Returns the request of the test to the far end.
    pub(crate) fn request(&self) -> QperfRequest {
        let parameters = &self.parameters;
        QperfRequest {
            message_bytes: parameters.message_bytes.remote,
            socket_buffer_bytes: parameters.socket_buffer_bytes.remote,
            time_s: parameters.time_s.remote,
            timeout_s: parameters.timeout_s.remote,
            cpu: parameters.cpu.remote,
            // Checked before.
            port: u16::try_from(parameters.port.remote).unwrap_or(0),
            ..QperfRequest::new(self.test)
        }
    }
}

/// Expands the tests of a command line, in order, each with the options and loops before it.
pub(crate) fn expand_steps(typed: &QperfArguments) -> Result<Vec<QperfStep>, CommandFailure> {
    let mut steps = vec![];
    for (test, at) in typed.tests.iter().zip(typed.order.positions("tests")) {
        let mut parameters = QperfParameters {
            message_bytes: QperfParameter::default_value(test.default_message_bytes()),
            ..QperfParameters::default()
        };
        for (variable, value) in assignments_before(typed, at) {
            parameters.set(variable, value);
        }
        for level in typed.order.values_before("verbose", &typed.verbose, at) {
            parameters.raise_verbosity(level);
        }
        let loops: Vec<&QperfLoop> =
            typed.order.values_before("loops", &typed.loops, at).collect();
        expand_loops(*test, parameters, &loops, &mut steps)?;
    }
    for step in &steps {
        step.check()?;
    }
    Ok(steps)
}

/// Returns the options before a position, in their order.
fn assignments_before(typed: &QperfArguments, at: usize) -> Vec<(QperfVariable, u64)> {
    let mut found: Vec<(usize, QperfVariable, u64)> = vec![];
    for (variable, field, _) in VARIABLES {
        let values = typed.values(*variable);
        let placed = typed.order.positions(field).zip(values);
        found.extend(
            placed
                .filter(|(index, _)| *index < at)
                .map(|(index, value)| (index, *variable, *value)),
        );
    }
    found.sort_by_key(|(index, ..)| *index);
    found.into_iter().map(|(_, variable, value)| (variable, value)).collect()
}

fn expand_loops(
    test: QperfTestKind,
    parameters: QperfParameters,
    loops: &[&QperfLoop],
    steps: &mut Vec<QperfStep>,
) -> Result<(), CommandFailure> {
    let Some((first, inner)) = loops.split_first() else {
        if steps.len() == MAX_TESTS {
            let failure = CommandFailure::usage(format!("more than {MAX_TESTS} tests"));
            return Err(failure.advise("raise the increment of -oo, or lower its last value"));
        }
        steps.push(QperfStep { test, parameters });
        return Ok(());
    };
    for value in &first.values {
        let mut varied = parameters;
        varied.set(first.variable, *value);
        expand_loops(test, varied, inner, steps)?;
    }
    Ok(())
}

impl QperfParameters {
    fn set(&mut self, variable: QperfVariable, value: u64) {
        // Values are checked before they are sent.
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        let both = QperfParameter { local: value, remote: value, is_set: true };
        let buffer = &mut self.socket_buffer_bytes;
        let (timeout, cpu) = (&mut self.timeout_s, &mut self.cpu);
        match variable {
            QperfVariable::MessageSize => self.message_bytes = both,
            QperfVariable::SocketBuffer => *buffer = both,
            QperfVariable::LocalSocketBuffer => (buffer.local, buffer.is_set) = (value, true),
            QperfVariable::RemoteSocketBuffer => (buffer.remote, buffer.is_set) = (value, true),
            QperfVariable::Time => self.time_s = both,
            QperfVariable::Timeout => *timeout = both,
            QperfVariable::LocalTimeout => (timeout.local, timeout.is_set) = (value, true),
            QperfVariable::RemoteTimeout => (timeout.remote, timeout.is_set) = (value, true),
            QperfVariable::Cpu => *cpu = both,
            QperfVariable::LocalCpu => (cpu.local, cpu.is_set) = (value, true),
            QperfVariable::RemoteCpu => (cpu.remote, cpu.is_set) = (value, true),
            QperfVariable::Port => self.port = both,
            QperfVariable::Precision => self.precision = value,
        }
    }

    /// Applies `v`, `vs`, `vvt` and the like; the configuration (`vc`) has no rows in qperf.
    fn raise_verbosity(&mut self, letters: &str) {
        let kind = letters.trim_start_matches('v');
        let level = (letters.len() - kind.len()) as u8;
        for (own, letter) in self.verbosity.iter_mut().zip(["s", "t", "u"]) {
            if kind == letter {
                *own = level;
            } else if kind.is_empty() {
                *own = if level == 2 { 2 } else { (*own).max(1) };
            }
        }
    }
}

impl QperfStep {
    /// Checks the ranges of all parameters.
    fn check(&self) -> Result<(), CommandFailure> {
        let parameters = &self.parameters;
        let most = if self.test.is_udp() { MAX_DATAGRAM_BYTES } else { MAX_BYTES };
        let measures = self.test.default_message_bytes() > 0;
        let ranges = [
            ("a message size", parameters.message_bytes, u64::from(measures), most),
            ("a socket buffer", parameters.socket_buffer_bytes, 0, MAX_BYTES),
            ("a time", parameters.time_s, 1, MAX_TIME_S),
            ("a timeout", parameters.timeout_s, 1, MAX_TIME_S),
            ("a CPU", parameters.cpu, 0, u64::from(CPU_LIMIT)),
            ("a port", parameters.port, 0, u16::MAX.into()),
        ];
        for (what, parameter, least, most) in ranges {
            for value in [parameter.local, parameter.remote].map(u64::from) {
                if !(least..=most).contains(&value) {
                    let reason = format!(
                        "{what} of {value} is out of range; expected {least} to {most}"
                    );
                    return Err(CommandFailure::usage(reason));
                }
            }
        }
        Ok(())
    }
}

/// Factors of qperf's sizes: `k` is 1000, `K` is 1024.
const SIZE_UNITS: [(&[&str], f64); 7] = [
    (&[""], 1.0),
    (&["kb", "k"], 1e3),
    (&["mb", "m"], 1e6),
    (&["gb", "g"], 1e9),
    (&["kib", "K"], 1024.0),
    (&["mib", "M"], 1_048_576.0),
    (&["gib", "G"], 1_073_741_824.0),
];

/// Factors of qperf's times.
const TIME_UNITS: [(&[&str], f64); 4] = [
    (&["", "s", "S"], 1.0),
    (&["m", "M"], 60.0),
    (&["h", "H"], 3600.0),
    (&["d", "D"], 86_400.0),
];

/// Parses qperf's sizes.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    parse_with_unit(text, &SIZE_UNITS)
        .ok_or_else(|| format!("`{text}` is not a size; write it like 64K, 64kib or 1.5m"))
}

/// Parses qperf's times in seconds, with the units s, m, h and d.
pub(crate) fn parse_time(text: &str) -> Result<u64, String> {
    parse_with_unit(text, &TIME_UNITS)
        .ok_or_else(|| format!("`{text}` is not a time; write it like 10, 2m or 1h"))
}

fn parse_with_unit(text: &str, units: &[(&[&str], f64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = &text[digits.len()..];
    let (_, factor) = units.iter().find(|(names, _)| names.contains(&unit))?;
    Some((parse_number(digits)? * factor) as u64)
}

fn parse_number(digits: &str) -> Option<f64> {
    digits.parse::<f64>().ok().filter(|number| (0.0..1e18).contains(number))
}

/// Parses `NAME:FIRST:LAST:STEP`, where all but LAST may be left out: `msg_size:1:64K:*2`, `::64K:*2`.
pub(crate) fn parse_loop(text: &str) -> Result<QperfLoop, String> {
    let form_error = || format!("expected a form like msg_size:1:64K:*2, found `{text}`");
    let mut parts = text.splitn(4, ':');
    let mut next_part = || parts.next().filter(|part| !part.is_empty());
    let (name, first, last, step) = (next_part(), next_part(), next_part(), next_part());
    let name = name.unwrap_or("msg_size");
    let variable = VARIABLES.iter().find(|(.., names)| names.contains(&name));
    let Some((variable, ..)) = variable else {
        let names: Vec<_> = VARIABLES.iter().map(|(.., names)| names[0]).collect();
        return Err(format!("`{name}` cannot be varied; expected {}", names.join(", ")));
    };
    let last = parse_size(last.ok_or_else(form_error)?)?;
    let (is_factor, step) = match step.map(|step| (step.strip_prefix('*'), step)) {
        Some((Some(factor), _)) => (true, parse_size(factor)?),
        Some((None, step)) => (false, parse_size(step)?),
        None => (false, 0),
    };
    let first = match first {
        Some(first) => parse_size(first)?,
        None => u64::from(is_factor),
    };
    if first > last {
        return Err(format!(
            "the range descends from {first} to {last}: expected one that ascends, like msg_size:1:64K:*2"
        ));
    }
    let grow = |value: &u64| match is_factor {
        true => value.checked_mul(step),
        false => value.checked_add(step),
    };
    let next = |value: &u64| grow(value).filter(|next| next > value && *next <= last);
    let values: Vec<u64> =
        std::iter::successors(Some(first), next).take(MAX_TESTS + 1).collect();
    let ends = grow(values.last().unwrap_or(&first)).is_none_or(|next| next > last);
    match (ends, values.len()) {
        (_, count) if count > MAX_TESTS => Err(format!("more than {MAX_TESTS} values")),
        (true, _) => Ok(QperfLoop { variable: *variable, values }),
        (false, _) => Err(format!("its increment never reaches the last value: `{text}`")),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        typed: QperfArguments,
    }

    /// Returns each test with its message size, its remote buffer, time and verbosity.
    fn expand(line: &str) -> Result<Vec<String>, String> {
        let words = ["assay", "qperf"].into_iter().chain(line.split(' '));
        let words = super::super::normalize_qperf_words(words.map(Into::into).collect());
        let line = Line::try_parse_from(&words[1..]).map_err(|error| error.to_string())?;
        let steps = expand_steps(&line.typed).map_err(|failure| format!("{failure:?}"))?;
        let text = |step: &QperfStep| {
            let it = &step.parameters;
            format!(
                "{} {} {}/{} {} s {:?}",
                step.test.name(),
                it.message_bytes.local,
                it.socket_buffer_bytes.local,
                it.socket_buffer_bytes.remote,
                it.time_s.local,
                it.verbosity
            )
        };
        Ok(steps.iter().map(text).collect())
    }

    #[test]
    fn options_apply_to_the_tests_after_them() {
        let check = |line: &str, expected: &[&str]| {
            assert_eq!(expand(line).unwrap(), expected, "{line}");
        };
        check(
            "h -t 5 tcp_lat -m 64k -vvs tcp_bw -v udp_bw -t 9",
            &[
                "tcp_lat 1 0/0 5 s [0, 0, 0]",
                "tcp_bw 64000 0/0 5 s [2, 0, 0]",
                "udp_bw 64000 0/0 5 s [2, 1, 1]",
            ],
        );
        check(
            "h -sb 64K -rsb 1M tcp_bw -vv -vs tcp_lat",
            &[
                "tcp_bw 65536 65536/1048576 2 s [0, 0, 0]",
                "tcp_lat 1 65536/1048576 2 s [1, 2, 2]",
            ],
        );
        let words =
            ["assay", "qperf", "h", "-lca", "1", "tcp_lat", "-ca", "2", "-ip", "7", "tcp_bw"];
        let words = super::super::normalize_qperf_words(words.map(Into::into).to_vec());
        let line = Line::try_parse_from(&words[1..]).unwrap();
        let requests = expand_steps(&line.typed).unwrap();
        let placed = requests.iter().map(|step| {
            let (cpu, request) = (step.parameters.cpu.local, step.request());
            (cpu, request.cpu, request.port)
        });
        assert_eq!(placed.collect::<Vec<_>>(), [(1, 0, 0), (2, 2, 7)]);
        check(
            "h -oo msg_size:1:4:*2 -oo t:1:2:1 tcp_lat",
            &[
                "tcp_lat 1 0/0 1 s [0, 0, 0]",
                "tcp_lat 1 0/0 2 s [0, 0, 0]",
                "tcp_lat 2 0/0 1 s [0, 0, 0]",
                "tcp_lat 2 0/0 2 s [0, 0, 0]",
                "tcp_lat 4 0/0 1 s [0, 0, 0]",
                "tcp_lat 4 0/0 2 s [0, 0, 0]",
            ],
        );
        for (line, expected) in [
            ("h -m 0 tcp_lat", "a message size of 0"),
            ("h -m 70000 udp_lat", "a message size of 70000"),
            ("h -t 0 tcp_lat", "a time of 0"),
            ("h -ip 65536 tcp_lat", "a port of 65536"),
            ("h -t 1x tcp_lat", "is not a time"),
        ] {
            assert!(expand(line).unwrap_err().contains(expected), "{line}");
        }
    }

    #[test]
    fn loops_have_the_forms_of_qperf() {
        let check = |text: &str, expected: &[u64]| {
            assert_eq!(parse_loop(text).unwrap().values, expected, "{text}");
        };
        check("msg_size:1:8:*2", &[1, 2, 4, 8]);
        check("m:1:9:*2", &[1, 2, 4, 8]);
        check("::8:*2", &[1, 2, 4, 8]);
        check("::3:1", &[0, 1, 2, 3]);
        check("msg_size:1k:3k:1k", &[1000, 2000, 3000]);
        check("msg_size:1K:3K:1K", &[1024, 2048, 3072]);
        check("rsb:5:5:*2", &[5]);
        assert_eq!(parse_loop("msg_size:1:1000:1").unwrap().values.len(), 1000);
        assert!(parse_loop("msg_size:1:1001:1").is_err());
        for invalid in [
            "msg_size:8:1:*2",
            "msg_size:1:64K:1",
            "msg_size:1:64K",
            "msg_size:1:64K:*x",
            "msg_size:1:8:*1",
            "no_msgs:1:2:*2",
            "msg_size",
            "",
        ] {
            assert!(parse_loop(invalid).is_err(), "{invalid}");
        }
        let descends = parse_loop("msg_size:8:1:*2").unwrap_err();
        assert!(descends.contains("descends from 8 to 1"), "{descends}");
    }

    #[test]
    fn sizes_and_times_have_the_units_of_qperf() {
        for (text, expected) in
            [("64K", 65_536), ("64k", 64_000), ("1.5m", 1_500_000), ("2kib", 2048), ("7", 7)]
        {
            assert_eq!(parse_size(text), Ok(expected));
        }
        for (text, expected) in
            [("2", 2), ("1.9", 1), ("2m", 120), ("1H", 3600), ("0.5d", 43_200)]
        {
            assert_eq!(parse_time(text), Ok(expected));
        }
        for text in ["", "K", "-1", "1x", "1kk", "nan", "inf", "1e300"] {
            assert!(parse_size(text).is_err() && parse_time(text).is_err(), "{text}");
        }
    }
}
