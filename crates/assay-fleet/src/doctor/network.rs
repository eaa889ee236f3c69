//! Checks of network settings that one host shows without contacting another.

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;
use assay_model::quantity::{Quantity, Unit};

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, size};

/// Required buffer size for a path with unknown properties: 16 MiB, from tuned's
/// network-throughput.
const BUFFER_BYTES: u64 = 16 << 20;
/// Largest buffer size that the kernel accepts (31 bits).
const MAX_BUFFER_BYTES: u64 = i32::MAX as u64;
/// Buffer size per payload: half of a buffer holds payload, the rest kernel overhead
/// (`tcp_adv_win_scale` = 1).
const BUFFER_PER_PAYLOAD: f64 = 2.0;

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "network.congestion-control",
        expected: "cubic, Linux's default; another one is part of the result",
        why: "congestion control alone can halve or double the throughput of a path",
        source: "kernel documentation: networking/ip-sysctl.rst (tcp_congestion_control)",
        severity: FindingSeverity::Note,
        change: "sysctl net.ipv4.tcp_congestion_control=cubic, or --congestion for one measurement",
        observe: congestion,
    },
    DoctorCheck {
        id: "network.receive-buffer",
        expected: "twice link speed × round trip; 16 MiB or more where these are not known",
        why: "a stream moves at most its window per round trip",
        source: "tuned: network-throughput (tcp_rmem)",
        severity: FindingSeverity::Skews,
        change: "sysctl net.ipv4.tcp_rmem='MIN DEFAULT MAX'",
        observe: |input| buffer(input, "proc/sys/net/ipv4/tcp_rmem"),
    },
    DoctorCheck {
        id: "network.send-buffer",
        expected: "twice link speed × round trip; 16 MiB or more where these are not known",
        why: "a stream has at most its send buffer in flight per round trip",
        source: "tuned: network-throughput (tcp_wmem)",
        severity: FindingSeverity::Skews,
        change: "sysctl net.ipv4.tcp_wmem='MIN DEFAULT MAX'",
        observe: |input| buffer(input, "proc/sys/net/ipv4/tcp_wmem"),
    },
    DoctorCheck {
        id: "network.slow-start-after-idle",
        expected: "0",
        why: "a connection that paused starts slowly again, and the next repetition with it",
        source: "kernel documentation: networking/ip-sysctl.rst (tcp_slow_start_after_idle)",
        severity: FindingSeverity::Note,
        change: "sysctl net.ipv4.tcp_slow_start_after_idle=0",
        observe: |input| {
            let value = input.number("proc/sys/net/ipv4/tcp_slow_start_after_idle")?;
            Ok(CheckResult::from_verdict(value == 0, value.to_string()))
        },
    },
    DoctorCheck {
        id: "network.ping",
        expected: "a range that contains this group",
        why: "ping needs a raw socket, and with it a privilege, where the range is empty",
        source: "man 7 icmp (ping_group_range)",
        severity: FindingSeverity::Note,
        change: "sysctl net.ipv4.ping_group_range='0 2147483647'",
        observe: ping,
    },
];

fn congestion(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let name = input.text("proc/sys/net/ipv4/tcp_congestion_control")?;
    Ok(CheckResult::from_verdict(name == "cubic", name))
}

/// Checks the limit of automatic growth, the last of three numbers.
fn buffer(input: &CheckInput, path: &str) -> Result<CheckResult, CheckObstacle> {
    let text = input.text(path)?;
    let most = text.split_ascii_whitespace().last().and_then(|word| word.parse::<u64>().ok());
    let most =
        most.ok_or_else(|| CheckObstacle::unexpected_content(&format!("/{path}"), &text))?;
    let observed = phrase!("at-most", "at most {size}", size = size(most));
    // Keeps the current minimum and default, and never lowers the limit.
    let change = |needed: u64| {
        const MIB: u64 = 1 << 20;
        let largest = needed.div_ceil(MIB).saturating_mul(MIB).max(most).min(MAX_BUFFER_BYTES);
        let before = text.rsplit_once(|it: char| it.is_ascii_whitespace());
        let before = before.map_or("4096 131072", |(before, _)| before.trim_end());
        let before = before.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        let name = path.rsplit('/').next().unwrap_or_default();
        format!("sysctl net.ipv4.{name}='{before} {largest}'")
    };
    let asked = input.network.path.as_ref();
    let Some((asked, under_way)) = asked.and_then(|it| Some((it, it.bandwidth_delay_bytes()?)))
    else {
        return Ok(CheckResult::from_verdict(most >= BUFFER_BYTES, observed)
            .with_change(change(BUFFER_BYTES)));
    };
    let needed = under_way * BUFFER_PER_PAYLOAD;
    let quantity = |value: Option<f64>, unit| Quantity::new(value.unwrap_or_default(), unit);
    let why = phrase!(
        "under-way",
        "{speed} × {round_trip} = {under_way} under way, which needs {needed}",
        speed = quantity(asked.link_bit_per_s, Unit::BitPerSecond),
        round_trip = quantity(asked.round_trip_s, Unit::Second),
        under_way = size(under_way as u64),
        needed = size(needed as u64),
    );
    let said = Phrase::list("; ", [observed, why]);
    Ok(CheckResult::from_verdict(most as f64 >= needed, said)
        .with_change(change(needed as u64)))
}

fn ping(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let text = input.text("proc/sys/net/ipv4/ping_group_range")?;
    let mut numbers = text.split_ascii_whitespace().filter_map(|word| word.parse::<u64>().ok());
    let range = numbers.next().zip(numbers.next());
    let Some((from, to)) = range else {
        return Err(CheckObstacle::unexpected_content("ping_group_range", &text));
    };
    let shown =
        phrase!("range", "{low} to {high}", low = from.to_string(), high = to.to_string());
    Ok(match from <= to {
        true => CheckResult::ok(shown),
        false => CheckResult::deviates(phrase!("nobody", "{range}: nobody", range = shown)),
    })
}
