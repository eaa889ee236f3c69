//! Detects whether the virtual function below a synthetic device carried the traffic, by its
//! counters before and after; a setting in a cloud portal does not prove it.

use std::net::IpAddr;

use assay_fleet::network_device;
use assay_fleet::root::Root;
use assay_kernels::network::device;
use assay_model::attribute::Attribute;
use assay_model::doubt::Doubt;

use crate::recorder::Recorder;

/// Smallest share of a device's bytes that the function carries if it is in use; other traffic of a
/// host under test is small.
const CARRIED_SHARE: f64 = 0.5;

/// Byte counters of every device with a virtual function, read at one moment.
pub(super) struct FunctionCounters(Vec<FunctionCounter>);

struct FunctionCounter {
    device: String,
    name: String,
    device_bytes: u64,
    bytes: u64,
}

impl FunctionCounters {
    pub(super) fn read() -> Self {
        let root = Root::machine();
        let devices = network_device::names(&root).into_iter();
        Self(devices.filter_map(|device| FunctionCounter::read(&root, device)).collect())
    }

    /// Records the change since then of the device with this address; does nothing if it has no
    /// function.
    pub(super) fn record_change(&self, local: IpAddr, recorder: &mut Recorder<'_, '_>) {
        let device = device::find_name(local);
        let Some(before) = self.0.iter().find(|it| Some(&it.device) == device.as_ref()) else {
            return;
        };
        let after = FunctionCounter::read(&Root::machine(), before.device.clone());
        let Some(share) = after.and_then(|after| before.share_until(&after)) else { return };
        recorder.add_fact(Attribute::VirtualFunction, before.name.as_str());
        recorder.add_fact(Attribute::VirtualFunctionShare, share);
        if share < CARRIED_SHARE {
            let (function, device) = (before.name.clone(), before.device.clone());
            recorder.add_doubt(Doubt::FunctionBypassed { function, device, share });
        }
    }
}

impl FunctionCounter {
    fn read(root: &Root, device: String) -> Option<Self> {
        let name = network_device::virtual_function(root, &device)?;
        let device_bytes = network_device::carried_bytes(root, &device)?;
        let bytes = network_device::carried_bytes(root, &name)?;
        Some(Self { device, name, device_bytes, bytes })
    }

    /// Share of the device's bytes since then that the function carried; `None` if nothing was
    /// transferred.
    fn share_until(&self, after: &Self) -> Option<f64> {
        let all = after.device_bytes.checked_sub(self.device_bytes).filter(|all| *all > 0)?;
        let own = after.bytes.checked_sub(self.bytes)?;
        Some(own as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(device_bytes: u64, bytes: u64) -> FunctionCounter {
        let (device, name) = ("eth0".to_owned(), "enP1s1".to_owned());
        FunctionCounter { device, name, device_bytes, bytes }
    }

    #[test]
    fn share_of_bytes_between_two_readings() {
        for (before, after, expected) in [
            (function(1000, 900), function(2000, 1900), Some(1.0)),
            (function(1000, 900), function(2000, 900), Some(0.0)),
            (function(1000, 900), function(2000, 1150), Some(0.25)),
            (function(1000, 900), function(1000, 900), None),
            (function(1000, 900), function(10, 5), None),
        ] {
            assert_eq!(before.share_until(&after), expected);
        }
    }
}
