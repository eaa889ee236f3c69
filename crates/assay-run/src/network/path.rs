//! Path of the traffic as far as this end can see it: loopback, or a device with its speed.

use std::net::IpAddr;

use assay_fleet::network_device;
use assay_fleet::root::Root;
use assay_kernels::network::device;
use assay_model::attribute::{Attribute, AttributeValue};
use assay_model::entry::MeasurementEntry;

use super::setup::is_same_machine;

/// Facts about the path between a local and a remote address.
pub(crate) fn path_facts(local: IpAddr, remote: IpAddr) -> Vec<MeasurementEntry> {
    let fact = |name: Attribute, value: AttributeValue| MeasurementEntry::Fact(name, value);
    if is_same_machine(local, remote) {
        return vec![fact(Attribute::Path, "loopback".into())];
    }
    let mut facts = vec![fact(Attribute::Path, "network".into())];
    let Some(name) = device::find_name(local) else { return facts };
    let device = network_device::read(&Root::machine(), &name);
    facts.push(fact(Attribute::Device, name.into()));
    let speed =
        device.link_bit_per_s.map(|speed| (Attribute::LinkBitPerS, (speed as f64).into()));
    let mtu = device.mtu_bytes.map(|mtu| (Attribute::MtuBytes, mtu.into()));
    let module = device.kernel_module.map(|module| (Attribute::KernelModule, module.into()));
    let known = [speed, mtu, module].into_iter().flatten();
    facts.extend(known.map(|(name, value)| fact(name, value)));
    facts
}
