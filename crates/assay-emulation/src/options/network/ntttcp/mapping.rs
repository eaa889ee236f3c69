//! Value of `-m`, which Windows' ntttcp has, too.

use assay_console::options;
use assay_dialects::wire::ntttcp::MAX_PORTS;

/// Ports, CPU and host of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NtttcpMapping {
    pub(crate) ports: u32,
    /// CPU of all threads; `None` = any.
    pub(crate) cpu: Option<usize>,
    pub(crate) host: Option<String>,
}

/// Parses `8,*,192.0.2.1`; the parts after the first may be missing.
pub(super) fn parse(text: &str) -> Result<NtttcpMapping, String> {
    let mut parts = text.split(',');
    let ports = parts.next().unwrap_or_default();
    let ports = match ports.parse() {
        Ok(ports) if (1..=MAX_PORTS).contains(&ports) => ports,
        _ => return Err(format!("expected 1 to {MAX_PORTS} ports, found `{ports}`")),
    };
    let cpu = match parts.next() {
        None | Some("*" | "-1") => None,
        Some(cpu) => {
            Some(cpu.parse().map_err(|_| format!("expected * or a CPU, found `{cpu}`"))?)
        }
    };
    let host = match parts.next() {
        None | Some("*") => None,
        Some(host) => Some(options::parse_plain_host(host)?),
    };
    match parts.next() {
        None => Ok(NtttcpMapping { ports, cpu, host }),
        Some(more) => Err(format!(
            "expected PORTS,CPU,HOST, found `{more}` after them; one -m is possible"
        )),
    }
}
