//! Result of ntttcp as XML and JSON. Both have all the names of Windows' ntttcp, most of them without
//! a value on Linux.

use assay_run::network::ntttcp::NtttcpOutcome;

use super::output::{
    NtttcpStyle, cycles_per_byte, interrupt_rate, packets_per_interrupt, retransmit_rates,
    round_trip_us,
};

/// Machine that measured.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct NtttcpMachine {
    pub(super) name: String,
    pub(super) system: String,
}

/// Version of the format.
const FORMAT_VERSION: &str = "5.33-linux";

/// Names of the retransmissions, in the order of [`retransmit_rates`].
const RETRANSMITS: [&str; 7] = [
    "retrans_segments_per_sec",
    "lost_retrans_per_sec",
    "syn_retrans_per_sec",
    "fast_retrans_per_sec",
    "forward_retrans_per_sec",
    "slowStart_retrans_per_sec",
    "retrans_fail_per_sec",
];

impl NtttcpStyle {
    const fn root(&self) -> &'static str {
        if self.is_sender { "ntttcps" } else { "ntttcpr" }
    }

    /// Returns the parameters: names in XML and JSON, and the value.
    fn parameters(&self) -> Vec<(&'static str, &'static str, String)> {
        let flag = |is_set: bool| if is_set { "True" } else { "False" }.to_owned();
        let zero = || "0".to_owned();
        vec![
            ("send_socket_buff", "sendSocketBuff", self.send_bytes.to_string()),
            ("recv_socket_buff", "recvSocketBuff", self.receive_bytes.to_string()),
            ("port", "port", self.port.to_string()),
            ("sync_port", "syncPort", (self.port - 1).to_string()),
            ("no_sync", "noSync", flag(!self.is_synchronised)),
            ("wait_timeout_milliseconds", "waitTimeoutMilliseconds", zero()),
            ("async", "async", flag(false)),
            ("verbose", "verbose", flag(self.is_verbose)),
            ("wsa", "wsa", flag(false)),
            ("use_ipv6", "useIpv6", flag(self.is_ipv6)),
            ("udp", "udp", flag(self.is_udp)),
            ("verify_data", "verifyData", flag(false)),
            ("wait_all", "waitAll", flag(false)),
            ("run_time", "runTime", self.duration_s.to_string()),
            ("warmup_time", "warmupTime", self.warm_up_s.to_string()),
            ("cooldown_time", "cooldownTime", self.cool_down_s.to_string()),
            ("dash_n_timeout", "dashNTimeout", zero()),
            ("bind_sender", "bindSender", flag(false)),
            ("sender_name", "senderName", "NA".to_owned()),
            ("max_active_threads", "maxActiveThreads", zero()),
            ("tp", "tp", flag(false)),
            ("no_stdio_buffer", "noStdioBuffer", flag(false)),
            ("throughput_Bpms", "throughputBpms", zero()),
            ("cpu_burn", "cpuBurn", zero()),
            ("latency_measurement", "latencyMeasurement", flag(false)),
            ("use_io_compl_ports", "useIOComplPorts", "NA".to_owned()),
            ("cpu_from_idle_flag", "cpuFromIdleFlag", flag(false)),
            ("get_estats", "getEstats", flag(false)),
            ("qos_flag", "qosFlag", flag(false)),
            ("jitter_measurement", "jitterMeasurement", flag(false)),
            ("packet_spacing", "packetSpacing", zero()),
        ]
    }

    /// Formats the result as XML.
    pub(super) fn format_xml(
        &self,
        machine: &NtttcpMachine,
        outcome: &NtttcpOutcome,
    ) -> String {
        let root = self.root();
        let name = escape_xml(&machine.name);
        let parameters: String = self
            .parameters()
            .iter()
            .map(|(name, _, value)| format!("\t\t<{name}>{value}</{name}>\n"))
            .collect();
        let threads: String = match self.is_verbose {
            true => (0..).zip(&outcome.thread_bytes).map(thread_xml(outcome)).collect(),
            false => String::new(),
        };
        let rows: String = self.result_rows(outcome).iter().map(xml_row).collect();
        let system = escape_xml(&machine.system);
        format!(
            "<{root} computername=\"{name}\" version=\"{FORMAT_VERSION}\">\n\t<parameters>\n\
             {parameters}\t</parameters>\n{threads}{rows}\t<os>{system}</os>\n</{root}>\n"
        )
    }

    /// Returns the rows of XML: name, metric (none if empty) and value.
    fn result_rows(
        &self,
        outcome: &NtttcpOutcome,
    ) -> Vec<(&'static str, &'static str, String)> {
        let usage = &outcome.usage;
        let (bytes, seconds) = (outcome.bytes() as f64, outcome.seconds);
        let zero = || "0.000".to_owned();
        let fixed = |value: f64| format!("{value:.3}");
        let percent = |share: f64| format!("{:.2}", share * 100.0);
        let mut rows = Vec::new();
        rows.extend(outcome.connections.map(|it| ("conns_tested", "", it.to_string())));
        rows.extend([
            ("total_bytes", "MB", format!("{:.6}", bytes / 1e6)),
            ("realtime", "s", format!("{seconds:.6}")),
            ("avg_bytes_per_compl", "B", zero()),
            ("threads_avg_bytes_per_compl", "B", zero()),
            ("avg_frame_size", "B", zero()),
            ("throughput", "MB/s", fixed(bytes / 1e6 / seconds)),
            ("throughput", "mbps", fixed(bytes * 8.0 / 1e6 / seconds)),
            ("throughput", "Bps", fixed(bytes / seconds)),
            ("total_buffers", "", zero()),
            ("throughput", "buffers/s", zero()),
            (
                "avg_packets_per_interrupt",
                "packets/interrupt",
                fixed(packets_per_interrupt(outcome)),
            ),
            ("interrupts", "count/sec", fixed(interrupt_rate(outcome))),
            ("total_interrupts", "count", usage.interrupts.to_string()),
            ("dpcs", "count/sec", zero()),
            ("avg_packets_per_dpc", "packets/dpc", zero()),
            ("packets_sent", "", usage.sent_packets.to_string()),
            ("packets_received", "", usage.received_packets.to_string()),
            ("packets_retransmitted", "", usage.retransmits.segments.to_string()),
            ("errors", "", "0".to_owned()),
            ("bufferCount", "", "0".to_owned()),
            ("bufferLen", "", "0".to_owned()),
        ]);
        if self.shows_retransmits {
            let count = usage.retransmits.segments.to_string();
            rows.push(("tcp_retransmits", "retrans_segs", count));
            rows.extend(
                RETRANSMITS
                    .into_iter()
                    .zip(retransmit_rates(outcome))
                    .map(|(name, rate)| ("tcp_retransmits", name, format!("{rate:.2}"))),
            );
        }
        rows.extend([
            ("cpu_cores", "cpu cores", usage.cpus.to_string()),
            ("cpu_speed", "MHz", fixed(usage.clock_mhz)),
            ("user", "%", percent(usage.user)),
            ("system", "%", percent(usage.system)),
            ("idle", "%", percent(usage.idle)),
            ("iowait", "%", percent(usage.iowait)),
            ("softirq", "%", percent(usage.softirq)),
            ("cycles_per_byte", "cycles/byte", format!("{:.2}", cycles_per_byte(outcome))),
            ("cpu_busy_all", "%", percent(usage.process)),
            ("io", "", "0".to_owned()),
        ]);
        if self.is_verbose && self.has_round_trip() {
            rows.push(("tcp_average_rtt", "us", round_trip_us(outcome).to_string()));
        }
        rows
    }

    /// Formats the result as JSON.
    pub(super) fn format_json(
        &self,
        machine: &NtttcpMachine,
        outcome: &NtttcpOutcome,
    ) -> String {
        let parameters: Vec<String> = self
            .parameters()
            .iter()
            .map(|(_, name, value)| format!("            \"{name}\" : \"{value}\""))
            .collect();
        let threads = match self.is_verbose {
            true => {
                let all = (0..).zip(&outcome.thread_bytes).map(thread_json(outcome));
                let all: Vec<String> = all.collect();
                format!("        \"threads\" : [\n{}\n        ],\n", all.join(",\n"))
            }
            false => String::new(),
        };
        format!(
            "{{\n    \"{}\" : {{\n        \"computername\" : \"{}\",\n        \"version\" : \
             \"{FORMAT_VERSION}\",\n        \"parameters\" : {{\n{}\n        }},\n{threads}{}        \
             \"os\" : \"{}\"\n    }}\n}}\n",
            self.root(),
            escape_json(&machine.name),
            parameters.join(",\n"),
            self.result_json(outcome),
            escape_json(&machine.system)
        )
    }

    fn result_json(&self, outcome: &NtttcpOutcome) -> String {
        let usage = &outcome.usage;
        let (bytes, seconds) = (outcome.bytes() as f64, outcome.seconds);
        let fixed = |value: f64| format!("{value:.3}");
        let zero = || "0.000".to_owned();
        let single = |name: &str, value: &str| format!("        \"{name}\" : \"{value}\",\n");
        let mut text = [
            quantity("totalBytes", "MB", &format!("{:.6}", bytes / 1e6)),
            quantity("realTime", "s", &format!("{seconds:.6}")),
            quantity("avgBytesPerCompl", "B", &zero()),
            quantity("threadsAvgBytesPerCompl", "B", &zero()),
            quantity("avgFrameSize", "B", &zero()),
            quantities(
                "throughputs",
                &[
                    ("MB/s", fixed(bytes / 1e6 / seconds)),
                    ("mbps", fixed(bytes * 8.0 / 1e6 / seconds)),
                    ("Bps", fixed(bytes / seconds)),
                    ("buffer/s", zero()),
                ],
            ),
            single("totalBuffers", &zero()),
            quantity(
                "avgPacketsPerInterrupt",
                "packets/interrupt",
                &fixed(packets_per_interrupt(outcome)),
            ),
            quantity("interrupt", "count/sec", &fixed(interrupt_rate(outcome))),
            quantity("interruptTotal", "count", &usage.interrupts.to_string()),
            quantity("dpcs", "count/sec", &zero()),
            quantity("avgPacketsPerDpc", "packets/dpc", &zero()),
            quantity("cycles", "cycles/byte", &fixed(cycles_per_byte(outcome))),
            single("packetsSent", &usage.sent_packets.to_string()),
            single("packetsReceived", &usage.received_packets.to_string()),
            single("packets_retransmitted", &usage.retransmits.segments.to_string()),
            single("errors", "0"),
            quantity("cpu", "%", &fixed(usage.process * 100.0)),
            single("bufferCount", "0"),
            single("bufferLen", "0"),
            single("io", "0"),
        ]
        .concat();
        if self.shows_retransmits {
            let mut rows = vec![("retrans_segs", usage.retransmits.segments.to_string())];
            let rates = retransmit_rates(outcome).map(|rate| format!("{rate:.2}"));
            rows.extend(RETRANSMITS.into_iter().zip(rates));
            text += &quantities("tcp_retransmits", &rows);
        }
        if self.is_verbose && self.has_round_trip() {
            let value = format!("{} us", round_trip_us(outcome));
            text += &single("tcpAverageRtt metric", &value);
        }
        text
    }
}

/// Rates of a thread in the units of both formats: kB/s, MB/s, Mbit/s.
fn thread_rates(bytes: u64, seconds: f64) -> [String; 3] {
    let byte_per_s = bytes as f64 / seconds;
    [byte_per_s / 1e3, byte_per_s / 1e6, byte_per_s * 8.0 / 1e6].map(|it| format!("{it:.3}"))
}

fn thread_xml(outcome: &NtttcpOutcome) -> impl Fn((u32, &u64)) -> String + '_ {
    let seconds = outcome.seconds;
    move |(index, bytes)| {
        let [kilo, mega, mega_bits] = thread_rates(*bytes, seconds);
        let rows = [
            ("realtime", "s", format!("{seconds:.3}")),
            ("throughput", "KB/s", kilo),
            ("throughput", "MB/s", mega),
            ("throughput", "mbps", mega_bits),
            ("avg_bytes_per_compl", "B", "0.000".to_owned()),
        ];
        let rows: String = rows.iter().map(|row| format!("\t{}", xml_row(row))).collect();
        format!("\t<thread index=\"{index}\">\n{rows}\t</thread>\n")
    }
}

fn xml_row((name, metric, value): &(&str, &str, String)) -> String {
    match metric.is_empty() {
        true => format!("\t<{name}>{value}</{name}>\n"),
        false => format!("\t<{name} metric=\"{metric}\">{value}</{name}>\n"),
    }
}

fn thread_json(outcome: &NtttcpOutcome) -> impl Fn((u32, &u64)) -> String + '_ {
    let seconds = outcome.seconds;
    move |(index, bytes)| {
        let [kilo, mega, mega_bits] = thread_rates(*bytes, seconds);
        // ntttcp adds a unit to the value in MB/s.
        let rates = [("KB/s", kilo), ("MB/s", format!("{mega} bps")), ("mbps", mega_bits)];
        let inner = [
            quantity("realTime", "s", &format!("{seconds:.3}")),
            quantities("throughputs", &rates),
            quantity("avgBytesPerCompl", "B", "0.000"),
        ]
        .concat();
        let inner = inner.trim_end().trim_end_matches(',');
        let inner: Vec<String> =
            inner.lines().map(|line| format!("        {line}\n")).collect();
        format!(
            "            {{\n                \"index\" : \"{index}\",\n{}            }}",
            inner.concat()
        )
    }
}

/// Formats a member with its unit.
fn quantity(name: &str, metric: &str, value: &str) -> String {
    format!(
        "        \"{name}\" : {{\n            \"metric\" : \"{metric}\",\n            \"value\" : \
         \"{value}\"\n        }},\n"
    )
}

/// Formats a member with values in several units.
fn quantities(name: &str, rows: &[(&str, String)]) -> String {
    let row = |(metric, value): &(&str, String)| {
        format!(
            "            {{\n                \"metric\" : \"{metric}\",\n                \"value\" \
             : \"{value}\"\n            }}"
        )
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("        \"{name}\" : [\n{}\n        ],\n", rows.join(",\n"))
}

fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        match letter {
            '>' => escaped += "&gt;",
            '<' => escaped += "&lt;",
            '&' => escaped += "&amp;",
            '\'' => escaped += "&apos;",
            '"' => escaped += "&quot;",
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Escapes a text, which ntttcp inserts as it is.
fn escape_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests;
