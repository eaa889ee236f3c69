//! Advice on an error, by the part of the program that reported it.

use assay_model::failure::{ErrorArea, os_error};

use crate::locale::word;

/// Returns the advice on an error of a part of the program.
pub(super) fn advice(area: ErrorArea, causes: &[String]) -> String {
    let id = match area {
        ErrorArea::Stream => "area-stream",
        ErrorArea::Threads => "area-threads",
        ErrorArea::Latency => "area-latency",
        ErrorArea::PeakFlops => "area-peak-flops",
        ErrorArea::Linpack => "area-linpack",
        ErrorArea::Blas => "area-blas",
        ErrorArea::Storage => {
            return os_error::advice(&causes.join(": ")).unwrap_or(os_error::GONE).to_owned();
        }
        ErrorArea::Generator => "area-generator",
        ErrorArea::Network => "advice-check-address",
        ErrorArea::Icmp => "area-icmp",
        ErrorArea::Rdma => "area-rdma",
        ErrorArea::Launcher => "area-launcher",
        ErrorArea::Rank | ErrorArea::Process => "area-process",
        ErrorArea::Tool => "area-tool",
        ErrorArea::TemporaryFolder => "area-temporary-folder",
        ErrorArea::Host => "area-host",
        ErrorArea::OwnProgram => "area-own-program",
    };
    word(id).to_owned()
}
