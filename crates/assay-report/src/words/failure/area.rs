//! What to do about an error, by the part of the program it came from.

use assay_model::failure::{Area, refusal};

/// What to do about an error of this part.
pub(super) fn advice(area: Area, causes: &[String]) -> &'static str {
    match area {
        Area::Stream => {
            "smaller arrays (--bytes) need less memory; wrong contents mean defective memory or an overclocked machine"
        }
        Area::Latency => {
            "choose a smaller working set (`to` in a suite file), and see `assay doctor`"
        }
        Area::PeakFlops => {
            "`assay doctor` shows what keeps threads from their CPUs; a wrong sum means a defective processor"
        }
        Area::Linpack => "choose a smaller system with --n or --memory",
        Area::Blas => {
            "install the library (Debian: libopenblas0-pthread, libblis4-pthread) or give its full path"
        }
        Area::Storage => refusal::advice(&causes.join(": ")).unwrap_or(refusal::GONE),
        Area::Generator => "the generator alone must run anywhere: report this",
        Area::Network => "check the address and the route to it",
        Area::Icmp => {
            "`sysctl net.ipv4.ping_group_range=\"0 2147483647\"` allows everybody to ping; or run as root"
        }
        Area::Launcher => "see whether the launcher can be executed",
        Area::Rank | Area::Process => "run the recorded command by hand to see what is wrong",
        Area::Tool => {
            "look at the stored raw output; if it is a version of the tool that assay does not know, report it with that output"
        }
        Area::TemporaryFolder => "free some space in the folder for temporary files",
        Area::Host => "see the warning about that host",
        Area::OwnProgram => "start assay by its path, from a folder that still exists",
    }
}
