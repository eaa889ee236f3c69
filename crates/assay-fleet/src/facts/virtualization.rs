//! Detection of hypervisors and container engines.
//!
//! Reads files only: loads no module and executes no special instruction. Uses the signs documented
//! by systemd-detect-virt(1), as far as files show them.

use std::collections::BTreeSet;

use crate::cpuinfo;
use crate::root::Root;

/// Layers between this process and the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Virtualization {
    /// `kvm`, `xen`, `hyperv`, `vmware` …, or `unknown` if only the CPU flag indicates a guest.
    pub(super) hypervisor: Option<String>,
    /// `docker`, `podman`, `kubernetes`, `lxc`, `apptainer` …
    pub(super) container: Option<String>,
}

impl Virtualization {
    /// Formats the layers: `kvm`, `docker`, `kvm, docker`.
    pub(super) fn name(&self) -> Option<String> {
        let layers: Vec<&str> = [&self.hypervisor, &self.container]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        (!layers.is_empty()).then(|| layers.join(", "))
    }
}

/// Product and vendor names of virtual machines. The first match decides. Clouds built on KVM map
/// to `kvm`.
const PRODUCTS: [(&str, &str); 13] = [
    ("VMware", "vmware"),
    ("VirtualBox", "virtualbox"),
    ("innotek GmbH", "virtualbox"),
    ("Microsoft Corporation Virtual Machine", "hyperv"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Xen", "xen"),
    ("Apple Virtualization", "apple"),
    ("Amazon EC2", "kvm"),
    ("Google Compute Engine", "kvm"),
    ("OpenStack", "kvm"),
    ("KVM", "kvm"),
    ("QEMU", "kvm"),
];

/// Model name of QEMU's software-emulated processor (target/i386/cpu.c, of `max`).
const EMULATED_MODEL: &str = "QEMU TCG";

/// Clock sources specific to one hypervisor.
const CLOCK_SOURCES: [(&str, &str); 3] =
    [("kvm-clock", "kvm"), ("hyperv_clocksource", "hyperv"), ("xen", "xen")];

/// Container engines by words in the path of a control group.
const GROUPS: [(&str, &str); 6] = [
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("crio", "cri-o"),
    ("containerd", "containerd"),
    ("lxc", "lxc"),
];

/// First line of the `/etc/hosts` that the kubelet writes for its containers
/// (`pkg/kubelet/kubelet_pods.go`). Groups of version 2 are visible only from outside, and marks of
/// other engines belong to the runtime below the kubelet.
const POD_HOSTS_HEADER: &str = "# Kubernetes-managed hosts file";

/// Files that container engines create in the root of their containers.
const MARKER_FILES: [(&str, &str); 3] = [
    (".dockerenv", "docker"),
    ("run/.containerenv", "podman"),
    (".singularity.d", "apptainer"),
];

pub(super) fn read(root: &Root) -> Virtualization {
    Virtualization { hypervisor: hypervisor(root), container: container(root) }
}

/// Detects the hypervisor. On x86 the CPU flag decides, because bare-metal cloud machines have the
/// product names of guests. Other architectures lack the flag; the product name decides, and names
/// with `metal` are no guest.
fn hypervisor(root: &Root) -> Option<String> {
    let block =
        cpuinfo::read(root, &BTreeSet::from([0])).into_iter().next().unwrap_or_default();
    let flagged = cpuinfo::has_flag(&block, "hypervisor");
    if block.contains_key("flags") && !flagged {
        return None;
    }
    // Emulated guests have the same product names as KVM guests.
    if block.get("model name").is_some_and(|model| model.contains(EMULATED_MODEL)) {
        return Some(assay_model::facts::EMULATOR.to_owned());
    }
    let identity = format!(
        "{} {}",
        root.text("sys/class/dmi/id/sys_vendor").unwrap_or_default(),
        root.text("sys/class/dmi/id/product_name").unwrap_or_default()
    );
    let product = || find_name(&PRODUCTS, &identity).filter(|_| !identity.contains("metal"));
    let clocks = root.text("sys/devices/system/clocksource/clocksource0/available_clocksource");
    let clock = || find_name(&CLOCK_SOURCES, &clocks.unwrap_or_default());
    root.text("sys/hypervisor/type")
        .or_else(product)
        .or_else(clock)
        .or_else(|| flagged.then(|| "unknown".to_owned()))
}

fn container(root: &Root) -> Option<String> {
    let mark = || {
        let mark = MARKER_FILES.iter().find(|(path, _)| root.exists(path));
        mark.map(|(_, name)| (*name).to_owned())
    };
    let groups = || find_name(&GROUPS, &root.text("proc/self/cgroup").unwrap_or_default());
    let pod = || {
        let hosts = root.text("etc/hosts").unwrap_or_default();
        hosts.starts_with(POD_HOSTS_HEADER).then(|| "kubernetes".to_owned())
    };
    root.text("run/systemd/container").or_else(groups).or_else(pod).or_else(mark)
}

fn find_name(table: &[(&str, &str)], text: &str) -> Option<String> {
    let row = table.iter().find(|(sign, _)| text.contains(sign));
    row.map(|(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinguishes_emulation_from_kvm() {
        let folder = tempfile::tempdir().unwrap();
        for folder_of in ["proc", "sys/class/dmi/id"] {
            std::fs::create_dir_all(folder.path().join(folder_of)).unwrap();
        }
        std::fs::write(folder.path().join("sys/class/dmi/id/sys_vendor"), "QEMU\n").unwrap();
        for (model, expected) in [
            ("QEMU TCG CPU version 2.5+", "qemu"),
            ("QEMU Virtual CPU version 2.5+", "kvm"),
            ("Intel Xeon Processor (Skylake)", "kvm"),
        ] {
            let cpus =
                format!("processor\t: 0\nmodel name\t: {model}\nflags\t\t: fpu hypervisor\n");
            std::fs::write(folder.path().join("proc/cpuinfo"), cpus).unwrap();
            let found = read(&Root::from_directory(folder.path()));
            assert_eq!(found.hypervisor.as_deref(), Some(expected), "{model}");
        }
    }

    #[test]
    fn recognises_pod_by_hosts_file() {
        let folder = tempfile::tempdir().unwrap();
        for folder_of in ["proc/self", "etc", "run"] {
            std::fs::create_dir_all(folder.path().join(folder_of)).unwrap();
        }
        let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text);
        write("proc/self/cgroup", "0::/\n").unwrap();
        write("run/.containerenv", "").unwrap();
        let found = || read(&Root::from_directory(folder.path())).container;
        assert_eq!(found().as_deref(), Some("podman"));
        write(
            "etc/hosts",
            "# Kubernetes-managed hosts file (host network).\n127.0.0.1 localhost\n",
        )
        .unwrap();
        assert_eq!(found().as_deref(), Some("kubernetes"));
    }
}
