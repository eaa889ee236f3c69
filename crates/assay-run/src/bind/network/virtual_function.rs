//! Whether the virtual function under a synthetic device carried the traffic: its counters before and
//! after say so, a setting in a portal does not.

use std::net::IpAddr;

use assay_fleet::network_device;
use assay_fleet::root::Root;
use assay_kernels::network::device;
use assay_model::event::Parameter;
use assay_model::warning::Warning;

use crate::recorder::Recorder;

/// Below this share of a device's bytes its function did not carry the test: the rest of the traffic
/// of a host under test is small.
const CARRIES: f64 = 0.5;

/// What every device with a virtual function under it had carried at one moment.
pub(super) struct Carried(Vec<Function>);

struct Function {
    device: String,
    name: String,
    device_bytes: u64,
    bytes: u64,
}

impl Carried {
    pub(super) fn by_all() -> Self {
        let root = Root::machine();
        let devices = network_device::names(&root).into_iter();
        Self(devices.filter_map(|device| Function::of(&root, device)).collect())
    }

    /// What happened since on the device that has this address; nothing where it has no function.
    pub(super) fn learn(&self, local: IpAddr, recorder: &mut Recorder<'_, '_>) {
        let device = device::name_of(local);
        let Some(before) = self.0.iter().find(|it| Some(&it.device) == device.as_ref()) else {
            return;
        };
        let after = Function::of(&Root::machine(), before.device.clone());
        let Some(share) = after.and_then(|after| before.share_until(&after)) else { return };
        let name = || before.name.clone();
        recorder.learn(None, "virtual_function", Parameter::Text(name()));
        recorder.learn(None, "virtual_function_share", Parameter::Number(share));
        if share < CARRIES {
            recorder.doubt(Warning::new(
                "function-bypassed",
                format!(
                    "the virtual function {} carried {:.0} % of what {} carried during the test",
                    name(),
                    share * 100.0,
                    before.device
                ),
                "accelerated networking is set up and not in use: look for `Data path switched` in \
                 the kernel's log",
            ));
        }
    }
}

impl Function {
    fn of(root: &Root, device: String) -> Option<Self> {
        let name = network_device::virtual_function(root, &device)?;
        let device_bytes = network_device::carried_bytes(root, &device)?;
        let bytes = network_device::carried_bytes(root, &name)?;
        Some(Self { device, name, device_bytes, bytes })
    }

    /// Share of the device's bytes since then that the function carried; `None` when nothing moved.
    fn share_until(&self, after: &Self) -> Option<f64> {
        let all = after.device_bytes.checked_sub(self.device_bytes).filter(|all| *all > 0)?;
        let own = after.bytes.checked_sub(self.bytes)?;
        Some(own as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(device_bytes: u64, bytes: u64) -> Function {
        let (device, name) = ("eth0".to_owned(), "enP1s1".to_owned());
        Function { device, name, device_bytes, bytes }
    }

    #[test]
    fn the_share_is_of_what_moved_meanwhile() {
        for (before, after, expected) in [
            (at(1000, 900), at(2000, 1900), Some(1.0)),
            (at(1000, 900), at(2000, 900), Some(0.0)),
            (at(1000, 900), at(2000, 1150), Some(0.25)),
            (at(1000, 900), at(1000, 900), None),
            (at(1000, 900), at(10, 5), None),
        ] {
            assert_eq!(before.share_until(&after), expected);
        }
    }
}
