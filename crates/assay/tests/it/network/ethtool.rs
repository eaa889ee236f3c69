//! Settings of every device of this machine, read by assay and by `ethtool`.

use std::collections::BTreeMap;
use std::process::Command;

use assay_kernels::network::ethtool;
use assay_model::network_setup::{Coalescing, DeviceSetup, KernelModule, NumericSetting};

use super::is_installed;

/// Returns the lines `name: value` that ethtool prints with this option, by section and name; empty
/// where the driver does not support it.
fn ethtool_rows(option: &str, device: &str) -> BTreeMap<String, String> {
    let output = Command::new("ethtool").args([option, device]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (has_sections, mut section) = (option == "-g" || option == "-l", "");
    let mut found = BTreeMap::new();
    for (name, value) in text.lines().filter_map(|line| line.trim().split_once(':')) {
        if !has_sections {
            found.insert(name.to_owned(), value.trim().to_owned());
        } else if value.is_empty() {
            section = name;
        } else {
            found.insert(format!("{section}/{name}"), value.trim().to_owned());
        }
    }
    if output.status.success() { found } else { BTreeMap::new() }
}

/// Returns the current and the greatest setting, added over these rows; `None` where ethtool
/// reports no maximum.
fn extent(rows: &BTreeMap<String, String>, names: &[&str]) -> Option<NumericSetting> {
    let sum = |section: &str| -> u32 {
        let values = names.iter().filter_map(|name| rows.get(&format!("{section}/{name}")));
        values.filter_map(|value| value.parse::<u32>().ok()).sum()
    };
    let (now, most) = (sum("Current hardware settings"), sum("Pre-set maximums"));
    (most > 0).then_some(NumericSetting { now, most })
}

fn check(device: &str, read: &DeviceSetup) {
    let driver = ethtool_rows("-i", device);
    let module = (!driver.is_empty()).then(|| KernelModule {
        name: driver["driver"].clone(),
        version: driver["version"].clone(),
        firmware: driver["firmware-version"].clone(),
    });
    assert_eq!(read.kernel_module, module, "{device}");

    let features = ethtool_rows("-k", device);
    if let Some(offloads) = &read.offloads {
        for (name, switch) in [
            ("tcp-segmentation-offload", offloads.tcp_segmentation),
            ("generic-segmentation-offload", offloads.generic_segmentation),
            ("generic-receive-offload", offloads.generic_receive),
            ("large-receive-offload", offloads.large_receive),
            ("rx-checksumming", offloads.receive_checksum),
            ("tx-checksumming", offloads.send_checksum),
        ] {
            let reported = features[name].split(' ').next();
            assert_eq!(reported, Some(if switch.on { "on" } else { "off" }), "{device} {name}");
        }
    } else {
        assert!(features.is_empty(), "{device} {features:?}");
    }

    let rings = ethtool_rows("-g", device);
    assert_eq!(read.receive_ring, extent(&rings, &["RX"]), "{device} {rings:?}");
    assert_eq!(read.send_ring, extent(&rings, &["TX"]), "{device} {rings:?}");
    let channels = ethtool_rows("-l", device);
    let queues = extent(&channels, &["RX", "Combined"]);
    assert_eq!(read.receive_queues, queues, "{device} {channels:?}");

    let waits = ethtool_rows("-c", device);
    let number = |name: &str| waits.get(name).and_then(|it| it.parse().ok()).unwrap_or(0);
    let coalescing = (!waits.is_empty()).then(|| Coalescing {
        receive_us: number("rx-usecs"),
        receive_frames: number("rx-frames"),
        send_us: number("tx-usecs"),
        adaptive_receive: waits["Adaptive RX"].starts_with("on"),
    });
    assert_eq!(read.coalescing, coalescing, "{device} {waits:?}");
}

#[test]
fn device_settings_agree_with_ethtool() {
    if !is_installed("ethtool", "device_settings_agree_with_ethtool") {
        return;
    }
    let devices = std::fs::read_dir("/sys/class/net").unwrap();
    let names = devices.map(|it| it.unwrap().file_name().into_string().unwrap());
    // Other tests create and remove devices meanwhile, in their own namespaces.
    let mut checked = 0;
    for name in names {
        check(&name, &ethtool::read(&name).unwrap());
        checked += 1;
    }
    assert!(checked > 0, "even loopback is a device");
}
