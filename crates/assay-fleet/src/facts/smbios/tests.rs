//! SMBIOS tables built byte by byte after DSP0134, section 7.18.

use proptest::prelude::*;

use super::*;

/// Memory device with the fields that the tests vary.
#[derive(Clone)]
struct TestDevice {
    length: usize,
    data_width: u16,
    size: u16,
    extended_size: u32,
    kind: u8,
    rated: u16,
    configured: u16,
    extended_configured: u32,
    strings: Vec<&'static str>,
}

/// 16 GiB of DDR5-4800 in 64 data bits, with all fields of version 3.7.
fn device() -> TestDevice {
    TestDevice {
        length: 0x64,
        data_width: 64,
        size: 0x4000,
        extended_size: 0,
        kind: 0x22,
        rated: 4800,
        configured: 4800,
        extended_configured: 0,
        strings: vec!["DIMM A0", "P0 CHANNEL A"],
    }
}

impl TestDevice {
    fn bytes(&self) -> Vec<u8> {
        let mut formatted = vec![0_u8; 0x64];
        let mut put = |offset: usize, bytes: &[u8]| {
            formatted[offset..offset + bytes.len()].copy_from_slice(bytes);
        };
        put(0x00, &[MEMORY_DEVICE, u8::try_from(self.length).unwrap()]);
        put(0x08, &80_u16.to_le_bytes());
        put(0x0a, &self.data_width.to_le_bytes());
        put(0x0c, &self.size.to_le_bytes());
        put(0x10, &[u8::from(!self.strings.is_empty()), 2 * u8::from(self.strings.len() > 1)]);
        put(0x12, &[self.kind]);
        put(0x15, &self.rated.to_le_bytes());
        put(0x1c, &self.extended_size.to_le_bytes());
        put(0x20, &self.configured.to_le_bytes());
        put(0x58, &self.extended_configured.to_le_bytes());
        formatted.truncate(self.length);
        formatted.extend(strings(&self.strings));
        formatted
    }
}

fn strings(strings: &[&str]) -> Vec<u8> {
    let mut bytes: Vec<u8> = strings.iter().flat_map(|text| text.bytes().chain([0])).collect();
    bytes.extend(if strings.is_empty() { vec![0, 0] } else { vec![0] });
    bytes
}

/// Builds a table with a structure of another type first and the end-of-table structure last.
fn table(devices: &[TestDevice]) -> Vec<u8> {
    let mut bytes = [vec![1, 6, 0, 1, 1, 2], strings(&["Maker", "Product"])].concat();
    bytes.extend(devices.iter().flat_map(TestDevice::bytes));
    bytes.extend([END_OF_TABLE, 4, 0, 9, 0, 0]);
    bytes
}

fn check(name: &str, devices: &[TestDevice], expected: Option<&[(u64, u64, &str)]>) {
    let modules = modules(&table(devices));
    let seen = modules.as_ref().map(|modules| {
        let module = |module: &MemoryModule| {
            (module.bytes >> 20, module.transfers_per_s / 1_000_000, module.kind.clone())
        };
        modules.iter().map(module).collect::<Vec<_>>()
    });
    let expected = expected.map(|expected| {
        expected.iter().map(|(mib, mts, kind)| (*mib, *mts, (*kind).to_owned())).collect()
    });
    assert_eq!(seen, expected, "{name}");
}

fn changed_device(change: impl FnOnce(&mut TestDevice)) -> TestDevice {
    let mut device = device();
    change(&mut device);
    device
}

#[test]
fn plausible_modules_are_read() {
    let plain: &[(u64, u64, &str)] = &[(16384, 4800, "DDR5")];
    check("plain", &[device()], Some(plain));
    check("empty slot", &[changed_device(|d| d.size = 0), device()], Some(plain));
    check("flash", &[changed_device(|d| d.kind = 0x09), device()], Some(plain));
    check("persistent memory", &[changed_device(|d| d.kind = 0x1f), device()], Some(plain));
    let slower = changed_device(|d| d.configured = 4400);
    check(
        "configured",
        &[device(), slower],
        Some(&[(16384, 4800, "DDR5"), (16384, 4400, "DDR5")]),
    );
    let clock = changed_device(|d| (d.kind, d.rated, d.configured) = (0x1a, 3200, 1600));
    check("clock for transfers", &[clock], Some(&[(16384, 3200, "DDR4")]));
    check("rated only", &[changed_device(|d| d.configured = 0)], Some(plain));
    let old = changed_device(|d| (d.length, d.kind, d.rated) = (0x1b, 0x18, 1333));
    check("version 2.3", &[old], Some(&[(16384, 1333, "DDR3")]));
    let large = changed_device(|d| (d.size, d.extended_size) = (0x7fff, 131_072));
    check("extended size", &[large], Some(&[(131_072, 4800, "DDR5")]));
    let small = changed_device(|d| d.size = 0x8000 | 2048);
    check("size in KiB", &[small], Some(&[(2, 4800, "DDR5")]));
    let fast = changed_device(|d| (d.configured, d.extended_configured) = (0xffff, 12_800));
    check("extended speed", &[fast], Some(&[(16384, 12_800, "DDR5")]));
}

#[test]
fn reads_names_and_width() {
    let module = modules(&table(&[device()])).unwrap().remove(0);
    assert_eq!((module.locator.as_str(), module.bank.as_str()), ("DIMM A0", "P0 CHANNEL A"));
    assert_eq!(module.width_bits, 64);
    let module =
        modules(&table(&[changed_device(|d| d.strings = vec!["DIMM 1"])])).unwrap().remove(0);
    assert_eq!((module.locator.as_str(), module.bank.as_str()), ("DIMM 1", ""));
}

#[test]
fn one_implausible_module_discards_all() {
    for (name, invented) in [
        (
            "QEMU: RAM of unknown speed",
            changed_device(|d| (d.kind, d.rated, d.configured) = (7, 0, 0)),
        ),
        ("no speed", changed_device(|d| (d.rated, d.configured) = (0, 0))),
        ("VMware: DRAM", changed_device(|d| d.kind = 0x03)),
        (
            "Amazon: locator not specified",
            changed_device(|d| d.strings = vec!["Not Specified"]),
        ),
        ("no locator", changed_device(|d| d.strings = vec![])),
        ("unknown width", changed_device(|d| d.data_width = 0xffff)),
        ("no width", changed_device(|d| d.data_width = 0)),
        ("unknown size", changed_device(|d| d.size = 0xffff)),
        ("too fast", changed_device(|d| d.configured = 30_000)),
        ("cut short", changed_device(|d| d.length = 0x11)),
    ] {
        check(name, &[device(), invented], None);
    }
    check("no modules", &[], None);
    check("only empty slots", &[changed_device(|d| d.size = 0)], None);
}

proptest! {
    #[test]
    fn damaged_tables_cause_no_panic(
        noise in prop::collection::vec(any::<u8>(), 0..300),
        place in 0_usize..250,
        value: u8,
    ) {
        let _ = modules(&noise);
        let mut bytes = table(&[device(), device()]);
        let place = place % bytes.len();
        bytes[place] = value;
        let _ = modules(&bytes);
        let _ = modules(&bytes[..place]);
    }
}
