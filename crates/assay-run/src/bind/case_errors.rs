//! Converts errors of kernels, networks, tools and programs to the reason why a case ended: an
//! interruption, a lack of threads, or a failure of its own area.

use assay_adapters::outputs::ToolError;
use assay_fleet::process::ProcessError;
use assay_fleet::remote::calls::CallError;
use assay_kernels::compute::linpack::LinpackError;
use assay_kernels::compute::peak_flops::PeakError;
use assay_kernels::memory::core_to_core::CoreToCoreError;
use assay_kernels::memory::latency::LatencyError;
use assay_kernels::memory::stream::StreamError;
use assay_model::failure::ErrorArea;

use crate::network::error::NetworkError;
use crate::program::ProgramStartError;
use crate::rdma::{self, RdmaTestError};
use crate::recorder::CaseError;

/// Converts the errors of a kernel: a cancellation, threads that did not start, and failures of the
/// kernel's own area.
macro_rules! from_kernel_errors {
    ($($error:ident { $threads:ident $(, $cancelled:ident)? } => $area:ident,)+) => {
        $(impl From<$error> for CaseError {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$cancelled => Self::Interrupted,)?
                    $error::$threads(_) => Self::from_error(ErrorArea::Threads, &error),
                    other => Self::from_error(ErrorArea::$area, &other),
                }
            }
        })+
    };
}

from_kernel_errors! {
    CoreToCoreError { StartThreads, Cancelled } => Latency,
    LatencyError { StartThread, Cancelled } => Latency,
    StreamError { StartTeam, Cancelled } => Stream,
    PeakError { Team } => PeakFlops,
    LinpackError { Team, Cancelled } => Linpack,
}

impl From<NetworkError> for CaseError {
    fn from(error: NetworkError) -> Self {
        match error {
            NetworkError::Interrupted | NetworkError::Call(CallError::Interrupted) => {
                Self::Interrupted
            }
            error => {
                let failed = Self::Failed(error.to_case_failure());
                match error.lack() {
                    Some(what) => failed.with_lack(what),
                    None => failed,
                }
            }
        }
    }
}

impl From<RdmaTestError> for CaseError {
    fn from(error: RdmaTestError) -> Self {
        Self::Failed(rdma::to_case_failure(&error.failure()))
    }
}

impl From<ToolError> for CaseError {
    fn from(error: ToolError) -> Self {
        Self::with_advice(ErrorArea::Tool, &error, error.advice())
    }
}

impl From<ProgramStartError> for CaseError {
    fn from(error: ProgramStartError) -> Self {
        match error {
            ProgramStartError::Process(ProcessError::Cancelled { .. }) => Self::Interrupted,
            other => Self::with_advice(ErrorArea::Process, &other, other.advice()),
        }
    }
}
