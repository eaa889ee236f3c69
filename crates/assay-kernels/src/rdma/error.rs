//! Errors of RDMA measurements, with advice on each.

use std::io;

use thiserror::Error;

use crate::mapping::MapError;

/// Error of an RDMA measurement.
#[derive(Debug, Error)]
pub enum RdmaError {
    /// The library is not installed.
    #[error("cannot open libibverbs.so.1: {reason}")]
    NoLibrary {
        /// Error message of the loader.
        reason: String,
    },
    /// The library lacks a function: it is another library, or too old.
    #[error("libibverbs.so.1 has no function {0}")]
    NoFunction(&'static str),
    /// The layout of the library's structures differs from the interface.
    #[error("libibverbs.so.1 does not match binary interface 1.1: unexpected position of {0}")]
    InterfaceMismatch(&'static str),
    /// The machine has no RDMA.
    #[error("there is no RDMA device on this machine")]
    NoDevice,
    /// The kernel lists devices, but their files are missing.
    #[error(
        "the kernel lists {devices}, but there is no file /dev/infiniband/uverbs* through which programs reach it"
    )]
    NoVerbsFile {
        /// Devices that the kernel lists.
        devices: String,
    },
    /// The kernel lists devices, but the library has no driver for them.
    #[error("the kernel lists {devices}, but libibverbs finds no device")]
    NoProvider {
        /// Devices that the kernel lists.
        devices: String,
    },
    /// There is no device of the requested name.
    #[error("there is no RDMA device {asked}; available: {found}")]
    NoSuchDevice {
        /// Requested name.
        asked: String,
        /// Names of the available devices.
        found: String,
    },
    /// The device has no such port.
    #[error("{device} has no port {asked}; it has {ports}, counted from 1")]
    NoSuchPort {
        /// Name of the device.
        device: String,
        /// Requested port.
        asked: u8,
        /// Number of its ports.
        ports: u8,
    },
    /// The request exceeds a limit of the device.
    #[error("{asked} {what} exceed the limit of {device}: {most}", what = what.description())]
    ExceedsDevice {
        /// Name of the device.
        device: String,
        /// Limited resource.
        what: DeviceResource,
        /// Requested number.
        asked: u64,
        /// Limit of the device.
        most: u64,
    },
    /// The port is not active.
    #[error("port {port} of {device} is not active: {state}")]
    PortDown {
        /// Name of the device.
        device: String,
        /// Number of the port.
        port: u8,
        /// Name of its state.
        state: &'static str,
    },
    /// The port has no suitable GID, which RoCE uses as address.
    #[error("port {port} of {device} has no GID of a RoCE v2 address")]
    NoGid {
        /// Name of the device.
        device: String,
        /// Number of the port.
        port: u8,
    },
    /// The requested GID does not exist.
    #[error("port {port} of {device} has no GID {index}")]
    NoSuchGid {
        /// Name of the device.
        device: String,
        /// Number of the port.
        port: u8,
        /// Requested index.
        index: u32,
    },
    /// The message does not fit into a datagram.
    #[error(
        "a message of {bytes} B does not fit the path MTU of {mtu} B, and UD does not split messages"
    )]
    TooLong {
        /// Size of the message.
        bytes: u64,
        /// MTU of the path.
        mtu: u32,
    },
    /// The requested MTU exceeds that of the port.
    #[error("a path MTU of {asked} B exceeds the {mtu} B of the port")]
    MtuTooLarge {
        /// Requested MTU.
        asked: u32,
        /// MTU of the port.
        mtu: u32,
    },
    /// The memory for the messages could not be mapped.
    #[error(transparent)]
    Memory(#[from] MapError),
    /// A call of the library or the driver failed.
    #[error("{call} failed")]
    CallFailed {
        /// Name of the function.
        call: &'static str,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A work request failed.
    #[error("a work request ended with status {code}, {status} (vendor error {vendor})")]
    Completion {
        /// `enum ibv_wc_status`.
        code: u32,
        /// Description of the status by the library.
        status: String,
        /// Error number of the device.
        vendor: u32,
    },
    /// No request completed within the time limit.
    #[error("no request completed for {seconds} s")]
    Stalled {
        /// Time limit in seconds.
        seconds: u64,
    },
    /// The user interrupted the measurement.
    #[error("interrupted")]
    Interrupted,
}

/// Resource that is limited on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceResource {
    /// Queue pairs.
    QueuePairs,
    /// Requests in flight on one queue pair.
    Requests,
    /// Receive requests on one queue pair.
    Receives,
    /// Requests in flight on all queue pairs.
    Completions,
    /// Receive requests on all queue pairs.
    Arrivals,
    /// Reads in flight at the same time.
    Reads,
}

impl DeviceResource {
    const fn description(self) -> &'static str {
        match self {
            Self::QueuePairs => "queue pairs",
            Self::Requests => "requests in flight on a queue pair",
            Self::Receives => "messages to receive on a queue pair",
            Self::Completions => "requests in flight on all queue pairs",
            Self::Arrivals => "messages to receive on all queue pairs",
            Self::Reads => "reads in flight at the same time",
        }
    }

    const fn advice(self) -> &'static str {
        match self {
            Self::QueuePairs => "give at most that number with -q",
            Self::Requests => "give at most that number with -t",
            Self::Receives => "give at most that number with -r",
            Self::Completions => "reduce -t or -q: the limit is for their product",
            Self::Arrivals => "reduce -r or -q: the limit is for their product",
            Self::Reads => "give at most that number with -o, or omit it",
        }
    }
}

impl RdmaError {
    /// Returns advice for the user.
    pub fn advice(&self) -> &'static str {
        match self {
            Self::NoLibrary { .. } | Self::NoFunction(_) | Self::InterfaceMismatch(_) => {
                "install libibverbs (Debian: `apt install libibverbs1 ibverbs-providers`)"
            }
            Self::NoDevice => {
                "`rdma link` lists devices; load the driver of the network card, or try software RoCE: `modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0`"
            }
            Self::NoVerbsFile { .. } => {
                "load the kernel's module (`modprobe ib_uverbs`); pass /dev/infiniband to a container (Docker: `--device=/dev/infiniband`)"
            }
            Self::NoProvider { .. } => {
                "install the library's drivers (Debian: `apt install ibverbs-providers`; Red Hat: `dnf install libibverbs`), in a container as well, and make sure that this user may open /dev/infiniband/uverbs*"
            }
            Self::NoSuchDevice { .. } => "choose one of those with -d",
            Self::NoSuchPort { .. } => "choose one of those with -i",
            Self::ExceedsDevice { what, .. } => what.advice(),
            Self::PortDown { .. } => {
                "bring the link up (`ip link set DEV up` for RoCE, a subnet manager for InfiniBand), or choose another port with -i"
            }
            Self::NoGid { .. } | Self::NoSuchGid { .. } => {
                "give the network interface of the device an IP address; `ls /sys/class/infiniband/DEV/ports/1/gids` shows the GIDs, -x chooses one"
            }
            Self::TooLong { .. } => "reduce the message size (-s), or use RC (-c RC)",
            Self::MtuTooLarge { .. } => {
                "omit -m, or raise the MTU of the network device at both ends (4192 B for a path MTU of 4096)"
            }
            Self::Memory(_) => "reduce the message size (-s)",
            Self::CallFailed { call, source }
                if *call == "ibv_reg_mr" || source.raw_os_error() == Some(libc::ENOMEM) =>
            {
                "raise the limit of locked memory: `ulimit -l unlimited`, or `memlock` in /etc/security/limits.conf"
            }
            Self::CallFailed { call: "ibv_modify_qp", .. } => {
                "choose GIDs of the same kind at both ends (IPv4 or IPv6) with -x; check the kernel's messages (`dmesg`)"
            }
            Self::CallFailed { .. } => {
                "check the permissions of /dev/infiniband/uverbs* and the kernel's messages (`dmesg`)"
            }
            Self::Completion { code, .. } => completion_advice(*code),
            Self::Stalled { .. } => "check whether the far end has ended, or drops packets",
            Self::Interrupted => "start again",
        }
    }
}

/// Returns advice on the codes of `enum ibv_wc_status` that have a remedy.
const fn completion_advice(code: u32) -> &'static str {
    match code {
        // Local and remote length errors.
        1 | 9 => "both ends must use the same size and version",
        // Protection and access.
        4 | 8 | 10 => {
            "both ends must use the same version of assay; otherwise this is a bug worth reporting"
        }
        // Flushed: an earlier error of the same queue pair.
        5 => "an earlier error has ended the queue pair; check the far end's message",
        // Transport retry counter exceeded.
        12 => {
            "the far end does not answer: it has ended, a link on the way is down, its GID or path MTU is different (-x, -m), or the network drops RoCE (UDP port 4791)"
        }
        // Receiver not ready.
        13 => {
            "the far end does not receive fast enough; try again with fewer messages in flight (-t)"
        }
        _ => "check the kernel's messages at both ends (`dmesg`)",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failed_call_and_status_has_advice() {
        let refused = |call, code| {
            let source = io::Error::from_raw_os_error(code);
            RdmaError::CallFailed { call, source }
        };
        let ended = |code| RdmaError::Completion { code, status: String::new(), vendor: 0 };
        for (error, remedy) in [
            (refused("ibv_reg_mr", libc::ENOMEM), "ulimit -l"),
            // Drivers of network cards lock the memory of queues as well.
            (refused("ibv_create_cq", libc::ENOMEM), "ulimit -l"),
            (refused("ibv_create_qp", libc::ENOMEM), "ulimit -l"),
            (refused("ibv_create_qp", libc::EACCES), "/dev/infiniband/uverbs*"),
            (refused("ibv_modify_qp", libc::EINVAL), "-x"),
            (ended(1), "the same size"),
            (ended(5), "an earlier error"),
            (ended(10), "same version"),
            (ended(12), "does not answer"),
            (ended(13), "-t"),
            (ended(99), "dmesg"),
        ] {
            assert!(error.advice().contains(remedy), "{error}: {}", error.advice());
        }
    }
}
