//! Values of iperf3's options.
//!
//! Sizes and rates follow iperf3: `k` is 1024 in a size and 1000 in a rate.

use std::net::IpAddr;

use assay_console::options;
use assay_dialects::iperf3::units::{self, RateFormat};
use assay_dialects::wire::iperf3::parameters::{CPU_LIMIT, FLOW_LABEL_LIMIT};
use assay_kernels::network::socket::Keepalive;
use assay_run::network::iperf3_server::RateLimit;

pub(super) fn parse_iperf3_host(text: &str) -> Result<String, String> {
    options::parse_host(text, Some("-p"))
}

/// Address to listen on or to send from, and the device after `%`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BoundAddress {
    pub(crate) address: IpAddr,
    pub(crate) device: Option<String>,
}

pub(super) fn parse_bound_address(text: &str) -> Result<BoundAddress, String> {
    let (address, device) = match text.split_once('%') {
        Some((address, device)) => (address, Some(device.to_owned())),
        None => (text, None),
    };
    match address.parse() {
        Ok(address) => Ok(BoundAddress { address, device }),
        Err(_) => Err("expected an address, like 192.0.2.1 or ::1".to_owned()),
    }
}

pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    units::parse_size(text)
        .ok_or_else(|| format!("`{text}` is not a size; write it like 128K or 1M"))
}

pub(super) fn parse_rate(text: &str) -> Result<u64, String> {
    units::parse_rate(text)
        .ok_or_else(|| format!("`{text}` is not a rate; write it like 100M or 1G"))
}

pub(super) fn parse_rate_and_burst(text: &str) -> Result<(u64, u32), String> {
    match text.split_once('/') {
        None => parse_rate(text).map(|rate| (rate, 0)),
        Some((first, burst)) => match burst.parse() {
            Ok(burst @ 1..=1000) => parse_rate(first).map(|rate| (rate, burst)),
            _ => Err(format!("expected a burst of 1 to 1000 blocks, found `{burst}`")),
        },
    }
}

/// Parses a limit with the time over which the measured rate is averaged, 5 s by default as in
/// iperf3.
pub(super) fn parse_rate_limit(text: &str) -> Result<RateLimit, String> {
    let (rate, interval) = text.split_once('/').unwrap_or((text, "5"));
    let interval_s: f64 = interval
        .parse()
        .ok()
        .filter(|seconds| *seconds == 0.0 || (0.1..=60.0).contains(seconds))
        .ok_or_else(|| format!("expected 0 or 0.1 to 60 seconds, found `{interval}`"))?;
    Ok(RateLimit { bit_per_s: parse_rate(rate)?, interval_s })
}

fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

pub(super) fn parse_flow_label(text: &str) -> Result<u32, String> {
    parse_number(text).filter(|label| (1..=FLOW_LABEL_LIMIT).contains(label)).ok_or_else(|| {
        format!("expected a number from 1 to {FLOW_LABEL_LIMIT}, found `{text}`")
    })
}

pub(super) fn parse_affinity(text: &str) -> Result<(u32, Option<u32>), String> {
    let cpu = |text: &str| {
        let number = parse_number(text).filter(|cpu| *cpu <= CPU_LIMIT);
        number.ok_or_else(|| format!("expected a CPU from 0 to {CPU_LIMIT}, found `{text}`"))
    };
    match text.split_once(',') {
        None => Ok((cpu(text)?, None)),
        Some((here, there)) => Ok((cpu(here)?, Some(cpu(there)?))),
    }
}

/// Parses `IDLE/INTERVAL/COUNT`, of which each part may be missing.
pub(super) fn parse_keepalive(text: &str) -> Result<Keepalive, String> {
    let number = |text: &str| match text {
        "" => Ok(None),
        text => match text.parse() {
            Ok(number @ 1..=32767) => Ok(Some(number)),
            _ => Err(format!("expected a number from 1 to 32767, found `{text}`")),
        },
    };
    let parts: Vec<&str> = text.split('/').collect();
    let [idle, interval, count] = match parts[..] {
        [idle] => [idle, "", ""],
        [idle, interval] => [idle, interval, ""],
        [idle, interval, count] => [idle, interval, count],
        _ => return Err(format!("expected IDLE/INTERVAL/COUNT, found `{text}`")),
    };
    let keepalive = Keepalive {
        idle_s: number(idle)?,
        interval_s: number(interval)?,
        count: number(count)?,
    };
    let probes_s = keepalive.interval_s.unwrap_or(0) * keepalive.count.unwrap_or(0);
    match keepalive.idle_s {
        Some(idle_s) if idle_s <= probes_s => Err(format!(
            "expected an idle time above the {probes_s} s of all probes, found {idle_s} s"
        )),
        _ => Ok(keepalive),
    }
}

/// Parses a format of strftime. `%c`, `%x` and `%X` are those of the C locale, which iperf3 has.
pub(super) fn parse_time_format(text: &str) -> Result<String, String> {
    let format = text
        .replace("%c", "%a %b %e %H:%M:%S %Y")
        .replace("%x", "%m/%d/%y")
        .replace("%X", "%H:%M:%S");
    match jiff::fmt::strtime::format(&format, &jiff::Zoned::now()) {
        Ok(_) => Ok(format),
        Err(error) => Err(format!("`{text}` is not a format of times: {error}")),
    }
}

pub(super) fn parse_byte(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed
        .map(u32::from)
        .map_err(|_| format!("expected a number from 0 to 255, found `{text}`"))
}

/// Parses a DSCP value into the upper six bits of the type of service (RFC 2474). Names are from
/// RFC 2597, RFC 3246 and RFC 5865.
pub(super) fn parse_dscp(text: &str) -> Result<u32, String> {
    let name = text.to_ascii_lowercase();
    let digit = |at: usize| name.as_bytes().get(at).map(|it| u32::from(it.wrapping_sub(b'0')));
    let point = match (&*name, digit(2), digit(3)) {
        ("ef", ..) => Some(46),
        ("voice-admit" | "va", ..) => Some(44),
        ("be" | "default", ..) => Some(0),
        (_, Some(class @ 0..=7), None) if name.starts_with("cs") => Some(class * 8),
        (_, Some(class @ 1..=4), Some(drop @ 1..=3))
            if name.starts_with("af") && name.len() == 4 =>
        {
            Some(class * 8 + drop * 2)
        }
        _ => match name.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => name.parse().ok(),
        },
    };
    point.filter(|point| *point < 64).map(|point| point << 2).ok_or_else(|| {
        format!("expected a number from 0 to 63 or a name like ef, af41 or cs1, found `{text}`")
    })
}

pub(super) fn parse_format_letter(text: &str) -> Result<RateFormat, String> {
    RateFormat::from_letter(text)
        .ok_or_else(|| format!("expected k, m, g, t, K, M, G or T, found `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_values_with_several_parts() {
        let keepalive = |idle_s, interval_s, count| Keepalive { idle_s, interval_s, count };
        for (text, expected) in [
            ("", Some(keepalive(None, None, None))),
            ("30", Some(keepalive(Some(30), None, None))),
            ("30/5/3", Some(keepalive(Some(30), Some(5), Some(3)))),
            ("//3", Some(keepalive(None, None, Some(3)))),
            ("15/5/3", None),
            ("0", None),
            ("1/1/1/1", None),
            ("x", None),
        ] {
            assert_eq!(parse_keepalive(text).ok(), expected, "{text}");
        }
        for (text, expected) in [
            ("0", Some((0, None))),
            ("3,0x4", Some((3, Some(4)))),
            ("1025", None),
            ("1,", None),
            (",1", None),
        ] {
            assert_eq!(parse_affinity(text).ok(), expected, "{text}");
        }
        for (text, expected) in [
            ("10M", Some((10_000_000, 5.0))),
            ("1G/0.5", Some((1_000_000_000, 0.5))),
            ("1G/0", Some((1_000_000_000, 0.0))),
            ("1G/61", None),
            ("1G/x", None),
            ("fast", None),
        ] {
            let found = parse_rate_limit(text).ok().map(|it| (it.bit_per_s, it.interval_s));
            assert_eq!(found, expected, "{text}");
        }
        for (text, expected) in
            [("1", Some(1)), ("0xfffff", Some(0xF_FFFF)), ("0x100000", None), ("0", None)]
        {
            assert_eq!(parse_flow_label(text).ok(), expected, "{text}");
        }
        assert!(parse_time_format("%H:%M:%S ").is_ok() && parse_time_format("%c %Q%").is_err());
    }

    #[test]
    fn address_may_name_its_device() {
        for (text, expected) in [
            ("127.0.0.1", Some(("127.0.0.1", None))),
            ("10.0.0.1%eth0", Some(("10.0.0.1", Some("eth0")))),
            ("fe80::1%eth0", Some(("fe80::1", Some("eth0")))),
            ("eth0", None),
        ] {
            let found = parse_bound_address(text).ok();
            let found = found.map(|it| (it.address.to_string(), it.device));
            let expected = expected.map(|it| (it.0.to_owned(), it.1.map(str::to_owned)));
            assert_eq!(found, expected, "{text}");
        }
    }
}
