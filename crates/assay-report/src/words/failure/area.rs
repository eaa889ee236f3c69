//! Advice on an error, by the part of the program that reported it.

use assay_model::failure::{Area, refusal};

use crate::locale::word;

/// Returns the advice on an error of a part of the program.
pub(super) fn advice(area: Area, causes: &[String]) -> String {
    let id = match area {
        Area::Stream => "area-stream",
        Area::Latency => "area-latency",
        Area::PeakFlops => "area-peak-flops",
        Area::Linpack => "area-linpack",
        Area::Blas => "area-blas",
        Area::Storage => {
            return refusal::advice(&causes.join(": ")).unwrap_or(refusal::GONE).to_owned();
        }
        Area::Generator => "area-generator",
        Area::Network => "advice-check-address",
        Area::Icmp => "area-icmp",
        Area::Rdma => "area-rdma",
        Area::Launcher => "area-launcher",
        Area::Rank | Area::Process => "area-process",
        Area::Tool => "area-tool",
        Area::TemporaryFolder => "area-temporary-folder",
        Area::Host => "area-host",
        Area::OwnProgram => "area-own-program",
    };
    word(id).to_owned()
}
