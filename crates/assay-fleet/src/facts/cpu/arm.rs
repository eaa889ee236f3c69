//! Names of ARM processors. Their `/proc/cpuinfo` shows the fields of the main ID register as
//! numbers.
//!
//! Numbers from the kernel's arch/arm64/include/asm/cputype.h; only cores of servers and
//! development boards. Unknown numbers are shown as numbers.

use crate::cpuinfo::CpuinfoBlock;

const IMPLEMENTERS: [(u32, &str); 12] = [
    (0x41, "ARM"),
    (0x42, "Broadcom"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x4e, "NVIDIA"),
    (0x50, "Applied Micro"),
    (0x51, "Qualcomm"),
    (0x53, "Samsung"),
    (0x61, "Apple"),
    (0x6d, "Microsoft"),
    (0xc0, "Ampere"),
];

const PARTS: [(u32, u32, &str); 24] = [
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd83, "Neoverse-V3AE"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x43, 0x0a1, "ThunderX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "Kunpeng 920"),
    (0x6d, 0xd49, "Cobalt 100"),
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1a"),
];

pub(super) fn vendor(block: &CpuinfoBlock) -> Option<String> {
    let implementer = number(block, "CPU implementer")?;
    let known = IMPLEMENTERS.iter().find(|(number, _)| *number == implementer);
    Some(known.map_or_else(|| format!("{implementer:#04x}"), |(_, name)| (*name).to_owned()))
}

pub(super) fn model(block: &CpuinfoBlock) -> Option<String> {
    let (implementer, part) = (number(block, "CPU implementer")?, number(block, "CPU part")?);
    let known = PARTS.iter().find(|row| (row.0, row.1) == (implementer, part));
    Some(known.map_or_else(|| format!("part {part:#05x}"), |(_, _, name)| (*name).to_owned()))
}

/// Formats implementer, part, and revision as ARM writes it: `0x41/0xd40/r1p1`.
pub(super) fn signature(block: &CpuinfoBlock) -> Option<String> {
    Some(format!(
        "{:#04x}/{:#05x}/r{}p{}",
        number(block, "CPU implementer")?,
        number(block, "CPU part")?,
        number(block, "CPU variant")?,
        number(block, "CPU revision")?
    ))
}

fn number(block: &CpuinfoBlock, name: &str) -> Option<u32> {
    let text = block.get(name)?;
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
