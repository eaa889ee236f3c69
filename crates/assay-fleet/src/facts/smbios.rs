//! Memory modules from the SMBIOS structure table (DMTF DSP0134, version 3.7, section 7.18: Memory
//! Device, type 17).
//!
//! A table is accepted as a whole or not at all, because one invented module would give a false
//! limit. Crates that decode all of SMBIOS exist, but only one of its forty structures is needed
//! here.

use assay_model::facts::MemoryModule;

/// Highest plausible rate in million transfers per second. DDR5 ends at 8800 in the standard (JEDEC
/// JESD79-5C) and HBM3 at 6400 per pin.
const MAX_MTS: u64 = 20_000;

const MEMORY_DEVICE: u8 = 17;
const END_OF_TABLE: u8 = 127;

/// Kinds of main memory by their number in the standard (section 7.18.2). Kinds that only
/// hypervisors show (`RAM`, `DRAM`, `Other`, `Unknown`) are excluded on purpose.
const MEMORY_KINDS: [(u8, &str); 13] = [
    (0x12, "DDR"),
    (0x13, "DDR2"),
    (0x14, "DDR2"),
    (0x18, "DDR3"),
    (0x1a, "DDR4"),
    (0x1c, "LPDDR2"),
    (0x1d, "LPDDR3"),
    (0x1e, "LPDDR4"),
    (0x20, "HBM"),
    (0x21, "HBM2"),
    (0x22, "DDR5"),
    (0x23, "LPDDR5"),
    (0x24, "HBM3"),
];

/// Flash (the firmware on some boards) and persistent memory: listed as memory devices, but not
/// main memory.
const OTHER_KINDS: [u8; 2] = [0x09, 0x1f];

/// Returns the populated modules; `None` unless every one of them is plausible.
pub(super) fn modules(table: &[u8]) -> Option<Vec<MemoryModule>> {
    let devices = structures(table).filter(|structure| structure.kind == MEMORY_DEVICE);
    let memory = |device: &SmbiosStructure| {
        !device.byte(0x12).is_some_and(|kind| OTHER_KINDS.contains(&kind))
    };
    let populated = devices.filter(|device| memory(device) && size_bytes(device) != Some(0));
    let modules: Vec<MemoryModule> =
        populated.map(|device| module(&device)).collect::<Option<_>>()?;
    (!modules.is_empty()).then_some(modules)
}

/// Structure: its formatted area and the strings after it.
struct SmbiosStructure<'a> {
    kind: u8,
    formatted: &'a [u8],
    strings: Vec<&'a [u8]>,
}

impl SmbiosStructure<'_> {
    fn byte(&self, offset: usize) -> Option<u8> {
        self.formatted.get(offset).copied()
    }

    fn word(&self, offset: usize) -> Option<u16> {
        let bytes = self.formatted.get(offset..offset + 2)?;
        Some(u16::from_le_bytes(bytes.try_into().ok()?))
    }

    fn double_word(&self, offset: usize) -> Option<u32> {
        let bytes = self.formatted.get(offset..offset + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    }

    /// Returns the string whose number (from 1) is at `offset`; 0 means no string.
    fn string(&self, offset: usize) -> Option<String> {
        let number = usize::from(self.byte(offset)?).checked_sub(1)?;
        Some(String::from_utf8_lossy(self.strings.get(number)?).trim().to_owned())
    }
}

/// Iterates over the structures up to the end of the table or the first damaged one.
fn structures(table: &[u8]) -> impl Iterator<Item = SmbiosStructure<'_>> {
    let mut rest = table;
    std::iter::from_fn(move || {
        let (kind, length) = (*rest.first()?, usize::from(*rest.get(1)?));
        // The header has four bytes; a smaller length never ends this loop.
        if kind == END_OF_TABLE || length < 4 {
            return None;
        }
        let formatted = rest.get(..length)?;
        let behind = &rest[length..];
        // A double NUL ends the strings, even if there are none.
        let end = behind.windows(2).position(|pair| pair == [0, 0])?;
        let strings = behind[..end].split(|byte| *byte == 0).collect();
        rest = &behind[end + 2..];
        Some(SmbiosStructure { kind, formatted, strings })
    })
}

fn module(device: &SmbiosStructure) -> Option<MemoryModule> {
    let kind = device.byte(0x12)?;
    let (_, kind) = MEMORY_KINDS.iter().find(|(number, _)| *number == kind)?;
    // Width without error correction bits. 0xffff means unknown.
    let width_bits = u32::from(device.word(0x0a).filter(|width| (8..=1024).contains(width))?);
    let locator = device.string(0x10).filter(|name| is_specified(name))?;
    Some(MemoryModule {
        locator,
        bank: device.string(0x11).filter(|name| is_specified(name)).unwrap_or_default(),
        bytes: size_bytes(device)?,
        width_bits,
        transfers_per_s: transfers_per_s(device)?,
        kind: (*kind).to_owned(),
    })
}

fn is_specified(name: &str) -> bool {
    !["", "Not Specified", "Unknown"].contains(&name)
}

/// Returns the size in bytes: 0 is an empty slot, `None` an unknown or damaged size. Bit 15 of the
/// short field selects KiB instead of MiB; 0x7fff refers to the extended field, in MiB.
fn size_bytes(device: &SmbiosStructure) -> Option<u64> {
    match device.word(0x0c)? {
        0xffff => None,
        0x7fff => Some(u64::from(device.double_word(0x1c)? & 0x7fff_ffff) << 20),
        kib if kib & 0x8000 != 0 => Some(u64::from(kib & 0x7fff) << 10),
        mib => Some(u64::from(mib) << 20),
    }
}

/// Returns the configured speed, or the rated one as an upper bound if the configured one is
/// missing.
///
/// Before version 3.2 of the standard the configured field was called a clock, and firmware of that
/// time may store MHz, half the transfers. A value of exactly half the rated speed is treated as
/// such a clock.
fn transfers_per_s(device: &SmbiosStructure) -> Option<u64> {
    let rated = speed_mts(device, 0x15, 0x54);
    let configured = speed_mts(device, 0x20, 0x58);
    let speed = match (configured, rated) {
        (Some(clock), Some(rated)) if clock * 2 == rated => rated,
        (configured, rated) => configured.or(rated)?,
    };
    (speed <= MAX_MTS).then_some(speed * 1_000_000)
}

/// Reads a speed: 0 is unknown; 0xffff refers to the extended field.
fn speed_mts(device: &SmbiosStructure, short: usize, extended: usize) -> Option<u64> {
    let speed = match device.word(short)? {
        0xffff => u64::from(device.double_word(extended)? & 0x7fff_ffff),
        speed => u64::from(speed),
    };
    (speed > 0).then_some(speed)
}

#[cfg(test)]
mod tests;
