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

impl From<CoreToCoreError> for CaseError {
    fn from(error: CoreToCoreError) -> Self {
        match error {
            CoreToCoreError::Cancelled => Self::Interrupted,
            CoreToCoreError::StartThreads(_) => Self::from_error(ErrorArea::Threads, &error),
            other => Self::from_error(ErrorArea::Latency, &other),
        }
    }
}

impl From<LatencyError> for CaseError {
    fn from(error: LatencyError) -> Self {
        match error {
            LatencyError::Cancelled => Self::Interrupted,
            LatencyError::StartThread(_) => Self::from_error(ErrorArea::Threads, &error),
            other => Self::from_error(ErrorArea::Latency, &other),
        }
    }
}

impl From<StreamError> for CaseError {
    fn from(error: StreamError) -> Self {
        match error {
            StreamError::Cancelled => Self::Interrupted,
            StreamError::StartTeam(_) => Self::from_error(ErrorArea::Threads, &error),
            other => Self::from_error(ErrorArea::Stream, &other),
        }
    }
}

impl From<PeakError> for CaseError {
    fn from(error: PeakError) -> Self {
        match error {
            PeakError::Team(_) => Self::from_error(ErrorArea::Threads, &error),
            other => Self::from_error(ErrorArea::PeakFlops, &other),
        }
    }
}

impl From<LinpackError> for CaseError {
    fn from(error: LinpackError) -> Self {
        match error {
            LinpackError::Cancelled => Self::Interrupted,
            LinpackError::Team(_) => Self::from_error(ErrorArea::Threads, &error),
            other => Self::from_error(ErrorArea::Linpack, &other),
        }
    }
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
