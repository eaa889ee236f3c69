//! What to do about an error, by the part of the program it came from.

use assay_model::failure::Area;

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
        Area::Storage => refusal(&causes.join(": ")).unwrap_or(GONE),
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
        Area::OwnProgram => "start assay by its path, from a folder that still exists",
    }
}

/// Numbers of errors (`errno(3)`) and what to do about them.
const BY_NUMBER: &[(u32, &str)] = &[
    (1, PERMISSION),
    (5, "the device or the server reports damage: look at the kernel's messages with `dmesg`"),
    (6, GONE),
    (13, PERMISSION),
    (19, GONE),
    (24, "allow more open files with `ulimit -n`"),
    (
        28,
        "free some room, or use less of the target; holes in a file need room when they are written",
    ),
    (30, "name a target on a file system that is not mounted read-only"),
    (107, GONE),
    (116, GONE),
    (122, "free some room within the quota, or use less of the target"),
];

const PERMISSION: &str =
    "name a target that this user may open, or be a user who may, with `sudo`";
const GONE: &str = "see that the target is there and stays there while it is measured";
const SHORT: &str = "the target is shorter than it was when the test began: see who changes it";

/// What a user can do about a refusal of the operating system, by the number in its words.
#[must_use]
pub fn refusal(reason: &str) -> Option<&'static str> {
    if let Some((_, rest)) = reason.split_once("(os error ") {
        let number: u32 = rest.split(')').next()?.parse().ok()?;
        return BY_NUMBER.iter().find(|(it, _)| *it == number).map(|(_, advice)| *advice);
    }
    reason.contains(": short: ").then_some(SHORT)
}
