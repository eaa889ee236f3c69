//! `/proc/cpuinfo`: one block of `name : value` lines per CPU. Values are not interpreted here.

use std::collections::{BTreeMap, BTreeSet};

use crate::root::Root;

/// Fields of one CPU by the kernel's names.
pub(crate) type CpuinfoBlock = BTreeMap<String, String>;

/// Reads the blocks of `cpus` in file order. Architectures without numbered blocks have one for all
/// CPUs.
pub(crate) fn read(root: &Root, cpus: &BTreeSet<u32>) -> Vec<CpuinfoBlock> {
    let text = root.text("proc/cpuinfo").unwrap_or_default();
    let blocks: Vec<CpuinfoBlock> =
        text.split("\n\n").map(parse_block).filter(|block| !block.is_empty()).collect();
    let wanted = |block: &&CpuinfoBlock| {
        let number = block.get("processor").and_then(|number| number.parse().ok());
        number.is_some_and(|number: u32| cpus.contains(&number))
    };
    let chosen: Vec<CpuinfoBlock> = blocks.iter().filter(wanted).cloned().collect();
    if chosen.is_empty() { blocks.into_iter().take(1).collect() } else { chosen }
}

/// Returns whether the flag `name` is in a block's list of instruction-set flags.
pub(crate) fn has_flag(block: &CpuinfoBlock, name: &str) -> bool {
    flags(block).any(|flag| flag == name)
}

/// Returns the instruction-set flags: `flags` on x86, `Features` on ARM, `isa` on RISC-V.
pub(crate) fn flags(block: &CpuinfoBlock) -> impl Iterator<Item = &str> {
    let line = ["flags", "Features", "isa"].iter().find_map(|name| block.get(*name));
    line.map(String::as_str).unwrap_or_default().split_whitespace()
}

fn parse_block(text: &str) -> CpuinfoBlock {
    let field = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(field).collect()
}
