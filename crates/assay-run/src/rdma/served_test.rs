//! Parts that both servers of an RDMA test share: the report, the device and the version check.

use assay_model::workload::RdmaDevice;

use super::wire::MessageChannel;
use super::{RdmaTestError, resolve_device};

/// Report on a served test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RdmaServerReport {
    /// Address of the leading end.
    pub peer: String,
    /// Device of this end.
    pub device: String,
    /// Number of sizes that were measured.
    pub sizes: usize,
}

/// Resolves the device of this end. A leading end that connected over the network cannot choose it.
pub(super) fn resolve_own_device(
    line: &MessageChannel,
    own: &RdmaDevice,
    asked: &RdmaDevice,
) -> RdmaDevice {
    if line.is_between_agents() {
        resolve_device(&own.with_defaults(asked))
    } else {
        resolve_device(own)
    }
}

/// Checks the version, because the protocol differs by version.
pub(super) fn check_version(line: &MessageChannel, far: &str) -> Result<(), RdmaTestError> {
    let own = env!("CARGO_PKG_VERSION");
    if far == own {
        return Ok(());
    }
    let said = format!("it is version {far}, and this is {own}");
    Err(RdmaTestError::ProtocolMismatch { peer: line.peer().to_owned(), said })
}
