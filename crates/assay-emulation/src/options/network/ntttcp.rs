//! Options of `assay ntttcp`: those of ntttcp-for-linux 1.4.3.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use assay_console::options::{self, RecordArguments};
use assay_dialects::wire::ntttcp::{
    self, DEFAULT_PORT, MAX_CONNECTIONS_PER_THREAD, MAX_PORTS, MAX_THREADS_PER_PORT,
};
use assay_kernels::network::device;
use assay_kernels::network::socket::SocketOptions;
use assay_run::failure::CommandFailure;
use assay_run::network::ntttcp::{NtttcpSending, NtttcpServing, NtttcpTest};
use assay_run::network::target::{AddressFamily, NetworkTarget};
use clap::Args;

use self::mapping::NtttcpMapping;
use super::iperf3_values::{parse_rate, parse_size};

mod mapping;
#[cfg(test)]
mod tests;

const DEFAULT_PORTS: u32 = 16;
const DEFAULT_THREADS_PER_PORT: u32 = 4;
const DEFAULT_SECONDS: u32 = 60;
const DEFAULT_SEND_BYTES: u32 = 128 << 10;
const DEFAULT_RECEIVE_BYTES: u32 = 64 << 10;
/// Largest datagram over IPv4.
const MAX_DATAGRAM_BYTES: u32 = 65_507;
const MAX_BLOCK_BYTES: u64 = 64 << 20;
/// Connections of a sender at the same time.
const MAX_CONNECTIONS: u64 = 1_000_000;
/// First port to send from of `-f` without a value.
const DEFAULT_SOURCE_PORT: u16 = 25_001;
/// Longest time, warm-up or cool-down: a year.
const MAX_SECONDS: i64 = 366 * 86_400;

#[derive(Debug, Args)]
pub struct NtttcpArguments {
    /// Send to this host [default: loopback]
    #[arg(short = 's', value_name = "HOST", value_parser = options::parse_plain_host, conflicts_with = "receiver")]
    pub(crate) sender: Option<Option<String>>,
    /// Receive at this address [default: loopback]; the default role
    #[arg(short = 'r', value_name = "ADDRESS", value_parser = options::parse_plain_host)]
    pub(crate) receiver: Option<Option<String>>,
    /// Number of ports, CPU and host, like 8,*,192.0.2.1; one thread for each port unless -n is given
    #[arg(short = 'm', value_name = "PORTS,CPU,HOST", value_parser = mapping::parse)]
    pub(crate) mapping: Option<NtttcpMapping>,
    /// Ports of the receiver [default: 16]
    #[arg(short = 'P', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_PORTS)))]
    pub(crate) ports: Option<u32>,
    /// Sender: threads for each port [default: 4]
    #[arg(short = 'n', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_THREADS_PER_PORT)))]
    pub(crate) threads: Option<u32>,
    /// Sender: connections of each thread [default: 1]
    #[arg(short = 'l', value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONNECTIONS_PER_THREAD)))]
    pub(crate) connections: Option<u32>,
    /// First port of the receiver; the port below is that of the synchronisation
    #[arg(short = 'p', value_name = "PORT", default_value_t = DEFAULT_PORT, value_parser = clap::value_parser!(u16).range(2..))]
    pub(crate) port: u16,
    /// Sender: first port to send from [default: any; without a value: 25001]
    #[arg(short = 'f', value_name = "PORT", value_parser = clap::value_parser!(u16).range(1025..))]
    pub(crate) source_port: Option<Option<u16>>,
    /// Sender: address to send from, and its device
    #[arg(short = 'a', value_name = "ADDRESS")]
    pub(crate) source_address: Option<IpAddr>,
    /// Bytes of a send or receive; K = 1024 [default: 128K, receiver 64K]
    #[arg(short = 'b', value_name = "SIZE", value_parser = parse_size)]
    pub(crate) buffer: Option<u64>,
    /// Sender: rate of all threads together in bit/s; K = 1000
    #[arg(short = 'B', value_name = "RATE", value_parser = parse_rate)]
    pub(crate) bandwidth: Option<u64>,
    /// Sender: rate in bit/s to which the kernel paces all connections together
    #[arg(long = "fq-rate-limit", value_name = "RATE", value_parser = parse_rate)]
    pub(crate) fq_rate_limit: Option<u64>,
    /// Measured seconds [default: 60]; 0 = until interrupted
    #[arg(short = 't', value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(..=MAX_SECONDS))]
    pub(crate) time: Option<u32>,
    /// Seconds before the measured time
    #[arg(short = 'W', value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=MAX_SECONDS))]
    pub(crate) warm_up: u32,
    /// Seconds after the measured time
    #[arg(short = 'C', value_name = "SECONDS", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=MAX_SECONDS))]
    pub(crate) cool_down: u32,
    /// Do not synchronise sender and receiver; needed if the other end is Windows' ntttcp
    #[arg(short = 'N')]
    pub(crate) no_sync: bool,
    /// UDP instead of TCP
    #[arg(short = 'u')]
    pub(crate) udp: bool,
    /// IPv6 instead of IPv4
    #[arg(short = '6')]
    pub(crate) ipv6: bool,
    /// Receiver: wait for several senders, of which the last one has -L
    #[arg(short = 'M')]
    pub(crate) several: bool,
    /// Sender: the last of several
    #[arg(short = 'L')]
    pub(crate) last: bool,
    /// Receiver: serve further tests after the first
    #[arg(short = 'H')]
    pub(crate) hold: bool,
    /// Accepted for compatibility: a receiver always uses epoll
    #[arg(short = 'e')]
    pub(crate) epoll: bool,
    /// Send small segments without delay (TCP_NODELAY)
    #[arg(long = "no-delay", conflicts_with = "udp")]
    pub(crate) no_delay: bool,
    /// Print the TCP retransmits of the machine
    #[arg(long = "show-tcp-retrans", short = 'R')]
    pub(crate) show_tcp_retrans: bool,
    /// Print the packets of a network interface
    #[arg(long = "show-nic-packets", short = 'K', value_name = "INTERFACE")]
    pub(crate) show_nic_packets: Option<String>,
    /// Print the interrupts whose lines in /proc/interrupts contain this text
    #[arg(long = "show-dev-interrupts", short = 'I', value_name = "TEXT")]
    pub(crate) show_dev_interrupts: Option<String>,
    /// Write the lines with a time to a file, too [default: ntttcp-for-linux-log.log]
    #[arg(short = 'O', value_name = "FILE")]
    pub(crate) console_log: Option<Option<PathBuf>>,
    /// Write the result as XML [default: ntttcp-for-linux-log.xml]
    #[arg(short = 'x', value_name = "FILE")]
    pub(crate) xml: Option<Option<PathBuf>>,
    /// Write the result as JSON [default: ntttcp-for-linux-log.json]
    #[arg(short = 'j', value_name = "FILE")]
    pub(crate) json: Option<Option<PathBuf>>,
    /// Print no throughput during the test
    #[arg(short = 'Q')]
    pub(crate) quiet: bool,
    /// Print the parameters, the result of each thread, and the round trip
    #[arg(short = 'V')]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) keep: RecordArguments,
}

/// Role with its parameters.
#[derive(Debug, Clone)]
pub(crate) enum NtttcpRole {
    Sender(NtttcpSending),
    Receiver(NtttcpServing),
}

impl NtttcpArguments {
    pub(crate) const fn is_sender(&self) -> bool {
        self.sender.is_some()
    }

    /// Returns the CPU that all threads run on.
    pub(crate) fn cpu(&self) -> Option<usize> {
        self.mapping.as_ref().and_then(|it| it.cpu)
    }

    /// Returns the host or address as it was typed.
    pub(crate) fn typed_address(&self) -> Option<&str> {
        let role = self.sender.as_ref().or(self.receiver.as_ref());
        let own = role.and_then(|it| it.as_deref());
        own.or_else(|| self.mapping.as_ref().and_then(|it| it.host.as_deref()))
    }

    /// Returns the host or address that is used.
    pub(crate) fn address(&self) -> String {
        self.typed_address().map_or_else(|| self.loopback().to_string(), str::to_owned)
    }

    fn loopback(&self) -> IpAddr {
        if self.ipv6 { Ipv6Addr::LOCALHOST.into() } else { Ipv4Addr::LOCALHOST.into() }
    }

    /// Returns the bytes of a send and of a receive.
    pub(crate) fn block_bytes(&self) -> (u32, u32) {
        let typed = self.buffer.map(|bytes| bytes as u32);
        let send = typed.unwrap_or(DEFAULT_SEND_BYTES);
        let most = if self.udp { MAX_DATAGRAM_BYTES } else { u32::MAX };
        (send.min(most), typed.unwrap_or(DEFAULT_RECEIVE_BYTES))
    }

    pub(crate) fn threads_per_port(&self) -> u32 {
        let default = if self.mapping.is_some() { 1 } else { DEFAULT_THREADS_PER_PORT };
        self.threads.unwrap_or(default)
    }

    /// Returns the parameters of both roles.
    ///
    /// # Errors
    /// A value is impossible.
    pub(crate) fn test(&self) -> Result<NtttcpTest, CommandFailure> {
        let ports = self.ports.or_else(|| self.mapping.as_ref().map(|it| it.ports));
        let ports = ports.unwrap_or(DEFAULT_PORTS);
        let last = u32::from(self.port) + ports - 1;
        if last > u32::from(u16::MAX) {
            return Err(CommandFailure::usage(format!("port {last} does not exist"))
                .advise("use a lower first port (-p), or fewer ports (-P)"));
        }
        if self.buffer.is_some_and(|bytes| !(1..=MAX_BLOCK_BYTES).contains(&bytes)) {
            return Err(CommandFailure::usage("-b is out of range")
                .advise(format!("use 1 to {MAX_BLOCK_BYTES} bytes")));
        }
        if let Some(name) = &self.show_nic_packets
            && !device::exists(name)
        {
            return Err(CommandFailure::usage(format!("there is no network interface {name}"))
                .advise("name one that `ip link` lists"));
        }
        let (send_bytes, receive_bytes) = self.block_bytes();
        let test = NtttcpTest {
            is_udp: self.udp,
            ports,
            base_port: self.port,
            is_synchronised: !self.no_sync,
            warm_up_s: self.warm_up,
            duration_s: self.time.unwrap_or(DEFAULT_SECONDS),
            cool_down_s: self.cool_down,
            block_bytes: if self.is_sender() { send_bytes } else { receive_bytes },
            socket: SocketOptions { no_delay: self.no_delay, ..SocketOptions::default() },
            interface: self.show_nic_packets.clone(),
            interrupts: self.show_dev_interrupts.clone(),
        };
        let cycle_s = test.cycle_s();
        if self.is_sender() && !self.no_sync && ntttcp::is_mistaken_for_request(cycle_s) {
            return Err(CommandFailure::usage(format!(
                "a test of {cycle_s} s, warm-up and cool-down included, cannot be agreed upon"
            ))
            .with_reason("ntttcp's receiver takes this number for a request")
            .advise(
                "change -t, -W or -C by a second, or leave out the synchronisation with -N",
            ));
        }
        Ok(test)
    }

    /// Returns the role with its parameters.
    ///
    /// # Errors
    /// A value is impossible, or an option belongs to the other role.
    pub(crate) fn role(&self, test: &mut NtttcpTest) -> Result<NtttcpRole, CommandFailure> {
        let refuse = |option: &str, role: &str| {
            let failure = CommandFailure::usage(format!("{option} is an option of a {role}"));
            Err(failure.advise("leave it out at this end"))
        };
        if self.is_sender() {
            return match self.several {
                true => refuse("-M", "receiver"),
                false => self.sending(test).map(NtttcpRole::Sender),
            };
        }
        if self.last {
            return refuse("-L", "sender");
        }
        if self.source_address.is_some() {
            return refuse("-a", "sender");
        }
        self.serving(test).map(NtttcpRole::Receiver)
    }

    fn serving(&self, test: &NtttcpTest) -> Result<NtttcpServing, CommandFailure> {
        let listen = match self.typed_address() {
            None => self.loopback(),
            Some(text) => text.parse().map_err(|_| {
                CommandFailure::usage(format!("`{text}` is no address of this host"))
                    .advise("name an address to listen on, like 192.0.2.1 or 0.0.0.0 for all")
            })?,
        };
        self.check_family(listen)?;
        if self.several && (1..=test.warm_up_s).contains(&test.duration_s) {
            return Err(CommandFailure::usage(
                "with -M the test ends in its warm-up: -t counts from the start",
            )
            .advise("use a -t longer than -W"));
        }
        Ok(NtttcpServing { listen, awaits_several: self.several, is_held: self.hold })
    }

    fn sending(&self, test: &mut NtttcpTest) -> Result<NtttcpSending, CommandFailure> {
        let host = &self.address();
        if let Ok(address) = host.parse() {
            self.check_family(address)?;
        }
        let family = if self.ipv6 { AddressFamily::V6 } else { AddressFamily::V4 };
        let mut target = NetworkTarget { family, ..NetworkTarget::new(host, test.base_port) };
        if let Some(address) = self.source_address {
            self.check_family(address)?;
            target.local = Some(SocketAddr::new(address, 0));
            target.endpoint.device = device::find_name(address);
        }
        let sending = NtttcpSending {
            target,
            threads_per_port: self.threads_per_port(),
            connections_per_thread: self.connections.unwrap_or(1),
            source_port: self.source_port.map(|it| it.unwrap_or(DEFAULT_SOURCE_PORT)),
            rate_bit_per_s: self.bandwidth.filter(|rate| *rate > 0),
            is_last: self.last,
        };
        let connections = u64::from(sending.threads(test))
            .saturating_mul(sending.connections_per_thread.into());
        if connections > MAX_CONNECTIONS {
            return Err(CommandFailure::usage(format!(
                "{connections} connections are too many"
            ))
            .advise(format!("choose -P, -n and -l for at most {MAX_CONNECTIONS}")));
        }
        if let Some(first) = sending.source_port
            && u64::from(first) + connections > u64::from(u16::MAX) + 1
        {
            return Err(CommandFailure::usage(format!(
                "there are fewer than {connections} ports from {first} on"
            ))
            .advise("use a lower port with -f, or fewer connections (-P, -n, -l)"));
        }
        let fq_rate = self.fq_rate_limit.filter(|_| sending.rate_bit_per_s.is_none());
        test.socket.pacing_bytes_per_s =
            fq_rate.map(|rate| rate / 8 / connections).filter(|rate| *rate > 0);
        Ok(sending)
    }

    fn check_family(&self, address: IpAddr) -> Result<(), CommandFailure> {
        if address.is_ipv6() == self.ipv6 {
            return Ok(());
        }
        let (version, advice) = match self.ipv6 {
            true => ("IPv6", "name an IPv6 address, or leave out -6"),
            false => ("IPv4", "add -6, or name an IPv4 address"),
        };
        let what = format!("{address} is no {version} address");
        Err(CommandFailure::usage(what).advise(advice))
    }

    /// Returns the options that have no effect in this role, which ntttcp ignores.
    pub(crate) fn idle_options(&self) -> Vec<&'static str> {
        let has_fq_rate = self.fq_rate_limit.is_some();
        let of_sender = [
            (self.threads.is_some(), "-n"),
            (self.connections.is_some(), "-l"),
            (self.source_port.is_some(), "-f"),
            (self.bandwidth.is_some(), "-B"),
            (has_fq_rate, "--fq-rate-limit"),
        ];
        let of_receiver = [
            (self.hold, "-H"),
            (has_fq_rate && self.bandwidth.is_some(), "--fq-rate-limit beside -B"),
        ];
        let rows = if self.is_sender() { &of_receiver[..] } else { &of_sender };
        rows.iter().filter(|(is_given, _)| *is_given).map(|(_, name)| *name).collect()
    }
}
