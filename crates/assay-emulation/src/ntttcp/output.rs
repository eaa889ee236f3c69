//! Lines of ntttcp-for-linux 1.4.3's output.

use assay_run::network::ntttcp::{NtttcpEvent, NtttcpOutcome};
use serde::{Deserialize, Serialize};

use super::VERSION;

pub(super) const RULE: &str = "---------------------------------------------------------\n";

/// Options that appear in the output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NtttcpStyle {
    pub(super) is_sender: bool,
    pub(super) is_udp: bool,
    pub(super) is_ipv6: bool,
    pub(super) is_synchronised: bool,
    pub(super) is_verbose: bool,
    pub(super) is_quiet: bool,
    pub(super) is_held: bool,
    pub(super) awaits_several: bool,
    pub(super) is_last: bool,
    pub(super) uses_epoll: bool,
    pub(super) no_delay: bool,
    pub(super) ports: u32,
    pub(super) threads_per_port: u32,
    pub(super) connections_per_thread: u32,
    pub(super) cpu: Option<u32>,
    pub(super) address: String,
    pub(super) source_address: Option<String>,
    pub(super) port: u16,
    pub(super) source_port: Option<u16>,
    pub(super) send_bytes: u32,
    pub(super) receive_bytes: u32,
    pub(super) rate_bit_per_s: Option<u64>,
    pub(super) fq_rate_bit_per_s: Option<u64>,
    pub(super) warm_up_s: u32,
    pub(super) duration_s: u32,
    pub(super) cool_down_s: u32,
    pub(super) shows_retransmits: bool,
    pub(super) interface: Option<String>,
    pub(super) interrupts: Option<String>,
    /// Files of the console, XML and JSON.
    pub(super) files: [Option<String>; 3],
}

/// Event with the time of day at this end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct NtttcpLine {
    pub(super) clock: String,
    pub(super) event: NtttcpEvent,
}

/// Formats a rate in bit/s: `33.46Gbps`, with decimal prefixes.
pub(super) fn format_rate(bytes: u64, seconds: f64) -> String {
    let mut rate = bytes as f64 * 8.0 / seconds;
    let mut units = ["bps", "Kbps", "Mbps", "Gbps"].iter();
    let mut unit = units.next().unwrap_or(&"");
    while rate > 1000.0
        && let Some(next) = units.next()
    {
        rate /= 1000.0;
        unit = next;
    }
    format!("{rate:.2}{unit}")
}

impl NtttcpLine {
    /// Formats the line, if the options permit it.
    pub(super) fn format(&self, style: &NtttcpStyle) -> String {
        let text = match self.event {
            NtttcpEvent::Interval { bytes, seconds } => {
                return match style.is_quiet {
                    true => String::new(),
                    false => {
                        format!("Real-time throughput: {}\n", format_rate(bytes, seconds))
                    }
                };
            }
            NtttcpEvent::ReceiverExited(false) => {
                let text = "receiver is not able to handle this interrupt";
                return format!("{} ERR : {text}\n", self.clock);
            }
            NtttcpEvent::NoSync => "Starting sender activity (no sync) ...".to_owned(),
            NtttcpEvent::Negotiated(0) => {
                "test is negotiated to run with continuous mode".to_owned()
            }
            NtttcpEvent::Negotiated(seconds) => {
                format!("Test cycle time negotiated is: {seconds} seconds")
            }
            NtttcpEvent::Threads(count) => format!("{count} threads created"),
            NtttcpEvent::Connections { count, microseconds } => {
                format!("{count} connections created in {microseconds} microseconds")
            }
            NtttcpEvent::AwaitsLast => {
                "waiting for the last client to join the test".to_owned()
            }
            NtttcpEvent::Started => "Network activity progressing...".to_owned(),
            NtttcpEvent::WarmedUp => "Test warmup completed.".to_owned(),
            NtttcpEvent::Interrupted => "Interrupted by Ctrl+C".to_owned(),
            NtttcpEvent::EndedBySender => {
                "test exited because sender side was interrupted".to_owned()
            }
            NtttcpEvent::Measured => "Test run completed.".to_owned(),
            NtttcpEvent::CoolsDown => "Test cooldown is in progress...".to_owned(),
            NtttcpEvent::Finished => "Test cycle finished.".to_owned(),
            NtttcpEvent::ReceiverExited(true) => "receiver exited from current test".to_owned(),
        };
        format_info(&self.clock, &text)
    }
}

fn format_info(clock: &str, text: &str) -> String {
    format!("{clock} INFO: {text}\n")
}

impl NtttcpStyle {
    /// Formats the lines before a test.
    pub(super) fn format_head(&self) -> String {
        let flags = if self.is_verbose { self.format_flags() } else { String::new() };
        format!("NTTTCP for Linux {VERSION}\n{RULE}{flags}")
    }

    fn format_flags(&self) -> String {
        let role = if self.is_sender { "sender" } else { "receiver" };
        let mut text = format!("*** {role} role\n");
        for (is_set, name) in [
            (!self.is_sender && self.uses_epoll, "*** use epoll()\n"),
            (!self.is_sender && self.is_held, "*** hold receiver always running\n"),
            (self.awaits_several, "multiple clients:\t\t yes\n"),
            (self.is_last, "last client:\t\t\t yes\n"),
            (!self.is_synchronised, "*** no sender/receiver synch\n"),
        ] {
            text += if is_set { name } else { "" };
        }
        let mut row = |name: &str, value: &dyn std::fmt::Display| {
            text.push_str(&[name, " ", &value.to_string(), "\n"].concat());
        };
        match self.is_sender {
            true => row("connections:\t\t\t", &self.format_connections()),
            false => row("ports:\t\t\t\t", &self.ports),
        }
        row("cpu affinity:\t\t\t", &self.cpu.map_or("*".to_owned(), |cpu| cpu.to_string()));
        row("server address:\t\t\t", &self.address);
        if self.is_sender {
            let any = if self.is_ipv6 { "::" } else { "0.0.0.0" };
            row("client address:\t\t\t", &self.source_address.as_deref().unwrap_or(any));
        }
        row("domain:\t\t\t\t", &if self.is_ipv6 { "IPv6" } else { "IPv4" });
        row("protocol:\t\t\t", &if self.is_udp { "UDP" } else { "TCP" });
        row("server port starting at:\t", &self.port);
        if self.is_sender {
            self.source_port.iter().for_each(|it| row("client source port starting at:\t", it));
            row("sender socket buffer (bytes):\t", &self.send_bytes);
            self.rate_bit_per_s.iter().for_each(|it| row("bandwidth limit (bits/sec):\t", it));
            self.fq_rate_bit_per_s.iter().for_each(|it| row("fq rate limit (bits/sec):\t", it));
        } else {
            row("receiver socket buffer (bytes):\t", &self.receive_bytes);
        }
        let yes = |is_set: bool| if is_set { "yes" } else { "no" };
        let seconds = |seconds: u32, zero: &str| match seconds {
            0 => zero.to_owned(),
            seconds => seconds.to_string(),
        };
        row("tcp nodelay:\t", &yes(self.no_delay));
        row("test warm-up (sec):\t\t", &seconds(self.warm_up_s, "no"));
        row("test duration (sec):\t\t", &seconds(self.duration_s, "continuous"));
        row("test cool-down (sec):\t\t", &seconds(self.cool_down_s, "no"));
        row("show system tcp retransmit:\t", &yes(self.shows_retransmits));
        self.interface.iter().for_each(|it| row("show packets for:\t\t", it));
        self.interrupts.iter().for_each(|it| row("show device interrupts for:\t", it));
        let names = [
            "capture console output to:",
            "save output to xml file:",
            "save output to json file:",
        ];
        for (name, file) in names.iter().zip(&self.files) {
            file.iter().for_each(|it| row(&format!("{name}:\t"), it));
        }
        let state = |is_set: bool| if is_set { "enabled" } else { "disabled" };
        row("quiet mode:\t\t\t", &state(self.is_quiet));
        row("verbose mode:\t\t\t", &state(self.is_verbose));
        text + RULE
    }

    fn format_connections(&self) -> String {
        format!("{} X {} X {}", self.ports, self.threads_per_port, self.connections_per_thread)
    }

    /// Formats the result, with the time of day at which it was printed.
    pub(super) fn format_result(&self, clock: &str, outcome: &NtttcpOutcome) -> String {
        if outcome.seconds <= 0.0 {
            return String::new();
        }
        let mut lines = Vec::new();
        if self.is_verbose {
            lines.extend(thread_lines(outcome));
        }
        lines.extend(outcome.connections.map(|count| format!("{count} connections tested")));
        lines.extend(self.total_lines(outcome));
        lines.extend(self.counter_lines(outcome));
        lines.extend(cpu_lines(outcome));
        if self.is_verbose && self.has_round_trip() {
            lines.push(format!("tcpi rtt\t\t:{} us", round_trip_us(outcome)));
        }
        let text: String = lines.iter().map(|line| format_info(clock, line)).collect();
        text + RULE
    }

    /// Whether this end knows round trips.
    pub(super) const fn has_round_trip(&self) -> bool {
        self.is_sender && !self.is_udp
    }

    fn total_lines(&self, outcome: &NtttcpOutcome) -> Vec<String> {
        let (bytes, seconds) = (outcome.bytes(), outcome.seconds);
        let mut lines = vec![
            "#####  Totals:  #####".to_owned(),
            format!("test duration\t:{seconds:.2} seconds"),
            format!("total bytes\t:{bytes}"),
            format!("\t throughput\t:{}", format_rate(bytes, seconds)),
        ];
        if !self.is_udp {
            lines.push(format!("\t retrans segs\t:{}", outcome.usage.retransmits.segments));
        }
        lines
    }

    fn counter_lines(&self, outcome: &NtttcpOutcome) -> Vec<String> {
        let usage = &outcome.usage;
        let mut lines = Vec::new();
        if self.shows_retransmits {
            lines.push("tcp retransmit:".to_owned());
            let rows = retransmit_rates(outcome);
            let names = [
                "retrans_segments",
                "lost_retrans",
                "syn_retrans",
                "fast_retrans",
                "forward_retrans",
                "slowStart_retrans",
                "retrans_fail",
            ];
            let row = |(name, rate): (&str, f64)| format!("\t {name}/sec\t:{rate:.2}");
            lines.extend(names.into_iter().zip(rows).map(row));
        }
        if self.interface.is_some() {
            lines.push("total packets:".to_owned());
            lines.push(format!("\t tx_packets\t:{}", usage.sent_packets));
            lines.push(format!("\t rx_packets\t:{}", usage.received_packets));
        }
        if self.interrupts.is_some() {
            lines.push("interrupts:".to_owned());
            lines.push(format!("\t total\t\t:{}", usage.interrupts));
            lines.push(format!("\t interrupts/sec\t:{:.3}", interrupt_rate(outcome)));
        }
        if self.interface.is_some() && self.interrupts.is_some() {
            lines.push(format!("\t pkts/interrupt\t:{:.2}", packets_per_interrupt(outcome)));
        }
        lines
    }
}

fn thread_lines(outcome: &NtttcpOutcome) -> Vec<String> {
    let mut lines = vec![
        "\tThread\tTime(s)\tThroughput".to_owned(),
        "\t======\t=======\t==========".to_owned(),
    ];
    lines.extend(outcome.thread_bytes.iter().enumerate().map(|(number, bytes)| {
        let rate = format_rate(*bytes, outcome.seconds);
        format!("\t{number}\t {:.2}\t {rate}", outcome.seconds)
    }));
    lines
}

fn cpu_lines(outcome: &NtttcpOutcome) -> Vec<String> {
    let usage = &outcome.usage;
    vec![
        format!("cpu cores\t:{}", usage.cpus),
        format!("\t cpu speed\t:{:.3}MHz", usage.clock_mhz),
        format!("\t user\t\t:{:.2}%", usage.user * 100.0),
        format!("\t system\t\t:{:.2}%", usage.system * 100.0),
        format!("\t idle\t\t:{:.2}%", usage.idle * 100.0),
        format!("\t iowait\t\t:{:.2}%", usage.iowait * 100.0),
        format!("\t softirq\t:{:.2}%", usage.softirq * 100.0),
        format!("\t cycles/byte\t:{:.2}", cycles_per_byte(outcome)),
        format!("cpu busy (all)\t:{:.2}%", usage.process * 100.0),
    ]
}

/// Returns the clock cycles of all CPUs that were not idle, for each byte.
pub(super) fn cycles_per_byte(outcome: &NtttcpOutcome) -> f64 {
    let usage = &outcome.usage;
    match outcome.bytes() {
        0 => 0.0,
        bytes => {
            let cycles = usage.clock_mhz * 1e6 * outcome.seconds * f64::from(usage.cpus);
            cycles * (1.0 - usage.idle) / bytes as f64
        }
    }
}

/// Returns the mean round trip; a value that ntttcp prints if it knows none.
pub(super) fn round_trip_us(outcome: &NtttcpOutcome) -> u32 {
    outcome.round_trip_us.unwrap_or(u32::MAX)
}

/// Returns the retransmissions per second, by their kind.
pub(super) fn retransmit_rates(outcome: &NtttcpOutcome) -> [f64; 7] {
    let it = &outcome.usage.retransmits;
    let counts = [it.segments, it.lost, it.syn, it.fast, it.forward, it.slow_start, it.failed];
    counts.map(|count| count as f64 / outcome.seconds)
}

pub(super) fn interrupt_rate(outcome: &NtttcpOutcome) -> f64 {
    outcome.usage.interrupts as f64 / outcome.seconds
}

pub(super) fn packets_per_interrupt(outcome: &NtttcpOutcome) -> f64 {
    let usage = &outcome.usage;
    match usage.interrupts {
        0 => 0.0,
        count => (usage.sent_packets + usage.received_packets) as f64 / count as f64,
    }
}

#[cfg(test)]
pub(super) mod tests;
