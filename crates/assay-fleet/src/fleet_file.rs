//! Fleet file in TOML: hosts with their transports, addresses, roles and labels.

use std::collections::BTreeSet;
use std::num::NonZeroU8;
use std::ops::Range;

use assay_model::host_names::address_error;
use assay_model::run::ALL_HOSTS;
use assay_model::workload::RdmaDevice;
use serde::Deserialize;
use toml::Spanned;

use crate::hosts;
use crate::remote::Via;

/// Example that `assay help fleet-file` prints.
pub const EXAMPLE: &str = include_str!("../tests/golden/fleet.toml");

/// Host of a fleet file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FleetHost {
    /// Name.
    pub name: String,
    /// Transport command; `None` = the common one.
    pub via: Option<String>,
    /// Name or address for data connections; `None` = any reachable address.
    pub address: Option<String>,
    /// Labels of the groups that the host belongs to.
    pub labels: Vec<String>,
    /// Whether the host is only the far end of pairs and does not measure by itself.
    pub is_far_end: bool,
    /// RDMA device for pairs, as far as specified.
    pub rdma: RdmaDevice,
}

impl FleetHost {
    /// Creates a host with only a name.
    pub fn from_name(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }
}

/// Error in a fleet file with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FleetFileError {
    /// Description of the error.
    pub message: String,
    /// Byte range in the text.
    pub span: Range<usize>,
    /// Correction to suggest.
    pub help: &'static str,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FleetFile {
    via: Option<Spanned<String>>,
    #[serde(default)]
    labels: Vec<Spanned<String>>,
    #[serde(default, rename = "host")]
    hosts: Vec<HostEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HostEntry {
    name: Spanned<String>,
    via: Option<Spanned<String>>,
    address: Option<Spanned<String>>,
    #[serde(default)]
    labels: Vec<Spanned<String>>,
    role: Option<Role>,
    #[serde(rename = "rdma-device")]
    rdma_device: Option<Spanned<String>>,
    #[serde(rename = "rdma-port")]
    rdma_port: Option<NonZeroU8>,
    #[serde(rename = "rdma-gid-index")]
    rdma_gid_index: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    Client,
    FarEnd,
}

/// Parses a fleet file; returns the hosts in its order.
///
/// # Errors
/// [`FleetFileError`] for invalid TOML, unknown keys, duplicate hosts, or undeclared labels.
pub fn parse(text: &str) -> Result<Vec<FleetHost>, FleetFileError> {
    let file: FleetFile = toml::from_str(text).map_err(|error| FleetFileError {
        message: error.message().to_owned(),
        span: error.span().unwrap_or(0..0),
        help: "`assay help fleet-file` prints a complete example",
    })?;
    if let Some(via) = &file.via {
        check_via(via)?;
    }
    let mut fleet: Vec<FleetHost> = Vec::new();
    for entry in &file.hosts {
        for host in expand_entry(entry, &file)? {
            if fleet.iter().any(|it| it.name == host.name) {
                let message = format!("{} is named twice", host.name);
                return Err(error_at(&entry.name, message, "leave out one of them"));
            }
            fleet.push(host);
        }
    }
    if fleet.iter().all(|host| host.is_far_end) {
        let message = match fleet.len() {
            0 => "no host is named",
            _ => "every host is a far end, and none measures",
        };
        let help = "write a table [[host]] with a name for each host, or each range of hosts";
        return Err(FleetFileError { message: message.to_owned(), span: 0..0, help });
    }
    check_labels(&file, &fleet)?;
    Ok(fleet)
}

/// Expands an entry, which may name a range of hosts.
fn expand_entry(entry: &HostEntry, file: &FleetFile) -> Result<Vec<FleetHost>, FleetFileError> {
    let names = hosts::expand(entry.name.get_ref())
        .map_err(|error| error_at(&entry.name, error.to_string(), "write it like vm[1-24]"))?;
    if let Some(via) = &entry.via {
        check_via(via)?;
    }
    if let Some(address) = &entry.address
        && names.len() > 1
        && !address.get_ref().contains("{host}")
    {
        let message = "several hosts would have one address".to_owned();
        let help = "give each host a table of its own, or write {host} where its name goes";
        return Err(error_at(address, message, help));
    }
    if let Some(address) = &entry.address
        && let Some(message) = address_error(address.get_ref())
    {
        return Err(error_at(address, message, "write it like 10.0.0.1, or name a host"));
    }
    if let Some(device) = &entry.rdma_device
        && !RdmaDevice::is_valid_name(device.get_ref())
    {
        let message = format!("{:?} is not a valid name of an RDMA device", device.get_ref());
        let help = "list them with `ls /sys/class/infiniband` on that host";
        return Err(error_at(device, message, help));
    }
    let rdma = RdmaDevice {
        name: entry.rdma_device.as_ref().map(|it| it.get_ref().clone()),
        device_port: entry.rdma_port.map(NonZeroU8::get),
        gid_index: entry.rdma_gid_index.map(u32::from),
        ..RdmaDevice::default()
    };
    let via = entry.via.as_ref().or(file.via.as_ref());
    let host = |name: String| FleetHost {
        via: via.map(|via| via.get_ref().clone()),
        address: entry.address.as_ref().map(|it| it.get_ref().replace("{host}", &name)),
        labels: entry.labels.iter().map(|label| label.get_ref().clone()).collect(),
        is_far_end: entry.role == Some(Role::FarEnd),
        rdma: rdma.clone(),
        name,
    };
    Ok(names.into_iter().map(host).collect())
}

fn check_via(via: &Spanned<String>) -> Result<(), FleetFileError> {
    let help = "for example via = \"ssh {host}\"";
    Via::parse(via.get_ref()).map(drop).map_err(|error| error_at(via, error.to_string(), help))
}

/// Labels name groups of hosts in results; a typing error would create a group of its own.
fn check_labels(file: &FleetFile, fleet: &[FleetHost]) -> Result<(), FleetFileError> {
    let known: BTreeSet<&str> =
        file.labels.iter().map(|label| label.get_ref().as_str()).collect();
    for label in &file.labels {
        let name = label.get_ref().as_str();
        if name == ALL_HOSTS || fleet.iter().any(|host| host.name == name) {
            let message =
                format!("{name} cannot be a label: results by that name are those of hosts");
            return Err(error_at(label, message, "choose another word"));
        }
    }
    let used = file.hosts.iter().flat_map(|host| &host.labels);
    for label in used {
        if !known.contains(label.get_ref().as_str()) {
            let message = format!("label {} is not declared", label.get_ref());
            return Err(error_at(
                label,
                message,
                "declare all labels above the first host: labels = [\"near\", \"far\"]",
            ));
        }
    }
    Ok(())
}

fn error_at<T>(place: &Spanned<T>, message: String, help: &'static str) -> FleetFileError {
    FleetFileError { message, span: place.span(), help }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_complete_file() {
        assert!(include_str!("../../../docs/hosts.md").contains(EXAMPLE));
        let fleet = parse(EXAMPLE).unwrap();
        let shown: Vec<String> = fleet
            .iter()
            .map(|it| {
                let via = it.via.as_deref().unwrap_or("-");
                let address = it.address.as_deref().unwrap_or("-");
                let role = if it.is_far_end { " far-end" } else { "" };
                let RdmaDevice { name, device_port, gid_index, .. } = &it.rdma;
                let rdma = match it.rdma.is_open() {
                    true => String::new(),
                    false => format!(" | {name:?} {device_port:?} {gid_index:?}"),
                };
                format!("{} | {via} | {address} | {}{role}{rdma}", it.name, it.labels.join(" "))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "north1 | ssh -o BatchMode=yes {host} | north1.data.example | near north",
                "north2 | ssh -o BatchMode=yes {host} | north2.data.example | near north",
                "east1 | ssh -o BatchMode=yes -J gate {host} | 192.0.2.31 | far east | Some(\"mlx5_ib0\") None Some(3)",
                "sink | ssh -o BatchMode=yes {host} | - |  far-end",
            ]
        );
    }

    #[test]
    fn errors_have_positions() {
        for (text, expected) in [
            ("", "1:1: no host is named"),
            ("host = 3", "1:8: invalid type: integer `3`, expected a sequence"),
            (
                "[[host]]\nnam = \"a\"",
                "2:1: unknown field `nam`, expected one of `name`, `via`, `address`, `labels`, `role`, `rdma-device`, `rdma-port`, `rdma-gid-index`",
            ),
            (
                "[[host]]\nname = \"a\"\nrole = \"king\"",
                "3:8: unknown variant `king`, expected `client` or `far-end`",
            ),
            ("[[host]]\nvia = \"ssh {host}\"", "1:1: missing field `name`"),
            ("[[host]]\nname = \"a[1-2]\"\n[[host]]\nname = \"a2\"", "4:8: a2 is named twice"),
            (
                "[[host]]\nname = \"a\"\nrdma-device = \"../mlx5_0\"",
                "3:15: \"../mlx5_0\" is not a valid name of an RDMA device",
            ),
            (
                "[[host]]\nname = \"a\"\nrdma-port = 0",
                "3:13: invalid value: integer `0`, expected a nonzero u8",
            ),
            (
                "[[host]]\nname = \"a\"\nrdma-gid-index = 256",
                "3:18: invalid value: integer `256`, expected u8",
            ),
            (
                "[[host]]\nname = \"a\"\nvia = \"sudo\"",
                "3:7: the placeholder {host} is missing: write it where the host's name goes, as in 'ssh {host}'",
            ),
            (
                "labels = [\"near\"]\n[[host]]\nname = \"a\"\nlabels = [\"neer\"]",
                "4:11: label neer is not declared",
            ),
            (
                "labels = [\"a\"]\n[[host]]\nname = \"a\"",
                "1:11: a cannot be a label: results by that name are those of hosts",
            ),
            (
                "[[host]]\nname = \"a[1-2]\"\naddress = \"192.0.2.1\"",
                "3:11: several hosts would have one address",
            ),
            (
                "[[host]]\nname = \"a\"\naddress = \"999.1\"",
                "3:11: `999.1` is neither an address nor a name",
            ),
            ("[[host]]\nname = \"a[\"", "2:8: \"a[\": column 3: unclosed bracket"),
            (
                "[[host]]\nname = \"a\"\nrole = \"far-end\"",
                "1:1: every host is a far end, and none measures",
            ),
        ] {
            let error = parse(text).unwrap_err();
            let before = &text[..error.span.start];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().len() + 1;
            assert_eq!(format!("{line}:{column}: {}", error.message), expected, "{text}");
        }
    }
}
