//! Robustness of the readers: no file content causes a panic.

use std::fs;

use assay_fleet::{doctor, facts, state};
use assay_model::network_setup::{DeviceSetup, NetworkPath, NetworkSetup, NumericSetting};
use proptest::prelude::*;

use crate::test_host::TestHost;

/// Malformed contents that resemble those of real files.
const MALFORMED: [&str; 14] = [
    "",
    "\n",
    "\0",
    "-1",
    "0",
    "NaN",
    "inf",
    "18446744073709551615",
    "99999999999999999999999",
    "0-4294967295",
    "4294967295",
    "some avg10=nan avg60=",
    "cpu  1 2 3 4 5 6 7 18446744073709551615 18446744073709551615",
    "MemTotal: 18446744073709551615 kB\nMemAvailable: 18446744073709551615 kB\nDirty: 9 kB\n",
];

/// Runs all readers. The host has no `/proc/2`, so that the doctor does not spend time on sampling
/// processes.
fn read_all(host: &TestHost) {
    let root = host.root();
    let (facts, state) = (facts::read(&root), state::read(&root));
    let findings = doctor::examine(&root, &facts, &state, &full_network_setup());
    assert!(findings.iter().all(|finding| !finding.observed.is_empty()));
    let _ = state::find_disturbances(&state, &state::read(&root), 1.0, false);
    let _ = assay_model::limit::memory_bandwidth(&facts);
}

/// Fills all values that drivers report, so that every check also reads files.
fn full_network_setup() -> NetworkSetup {
    let device = DeviceSetup {
        device: "eth0".to_owned(),
        receive_queues: Some(NumericSetting { now: u32::MAX, most: u32::MAX }),
        ..DeviceSetup::default()
    };
    let path = NetworkPath {
        host: Some("far".to_owned()),
        round_trip_s: Some(f64::MAX),
        link_bit_per_s: Some(f64::MAX),
        ..NetworkPath::default()
    };
    NetworkSetup { devices: vec![device], path: Some(path) }
}

fn host() -> TestHost {
    let host = TestHost::load("container-v2");
    host.write("sys/firmware/dmi/tables/DMI", &[17, 40, 0, 0]);
    host
}

#[test]
fn malformed_files_and_directories_cause_no_panic() {
    let host = host();
    for path in host.files() {
        let original = fs::read(host.path(&path)).unwrap();
        for odd in MALFORMED {
            host.write(&path, odd.as_bytes());
            read_all(&host);
        }
        host.remove(&path);
        fs::create_dir(host.path(&path)).unwrap();
        read_all(&host);
        host.remove(&path);
        read_all(&host);
        host.write(&path, &original);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn random_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let host = host();
        for path in host.files() {
            let original = fs::read(host.path(&path)).unwrap();
            host.write(&path, &bytes);
            read_all(&host);
            // Damage after a valid beginning reaches later code of a reader.
            let half = [&original[..original.len() / 2], &bytes].concat();
            host.write(&path, &half);
            read_all(&host);
            host.write(&path, &original);
        }
    }
}
