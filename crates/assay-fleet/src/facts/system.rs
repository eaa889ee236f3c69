//! Operating system, kernel, host name, and versions of software.

use std::collections::BTreeMap;

use assay_model::facts::SystemFacts;

use super::kernel_parameters;
use super::virtualization::Virtualization;
use crate::root::Root;

/// Maximum size of a C library to search for its version; glibc has about 2 MB.
const MAX_LIBRARY_BYTES: u64 = 8 << 20;

pub(super) fn read(root: &Root, environment: &Virtualization) -> SystemFacts {
    SystemFacts {
        distribution: distribution(root),
        kernel: kernel(root),
        kernel_command_line: root
            .text("proc/cmdline")
            .map(|line| kernel_parameters::filter_command_line(&line)),
        // The file exists since Linux 6.1. Falls back to the architecture of this program.
        architecture: root
            .text("proc/sys/kernel/arch")
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        virtualization: environment.name(),
        product: product(root),
        clock_source: root
            .text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
    }
}

/// Returns the host name of the machine.
pub fn host_name(root: &Root) -> String {
    let name = root.text("proc/sys/kernel/hostname").or_else(|| root.text("etc/hostname"));
    name.unwrap_or_else(|| "localhost".into())
}

/// Returns the versions of assay, the kernel and the C library.
pub(super) fn versions(root: &Root, system: &SystemFacts) -> BTreeMap<String, String> {
    let mut versions = BTreeMap::from([
        ("assay".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("kernel".to_owned(), system.kernel.clone()),
    ]);
    if let Some(version) = c_library(root) {
        versions.insert("libc".to_owned(), version);
    }
    versions
}

fn distribution(root: &Root) -> Option<String> {
    let release = root.text("etc/os-release").or_else(|| root.text("usr/lib/os-release"))?;
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches(['"', '\'']).to_owned())
}

/// Returns the kernel release; `/proc/version` begins with `Linux version 6.1.0 …`.
fn kernel(root: &Root) -> String {
    let version = || {
        let version = root.text("proc/version")?;
        version.split_whitespace().nth(2).map(str::to_owned)
    };
    let release = root.text("proc/sys/kernel/osrelease").or_else(version);
    release.unwrap_or_else(|| "unknown".into())
}

/// Returns DMI's product name with its vendor, or the model of a device tree, which ends in a NUL.
fn product(root: &Root) -> Option<String> {
    let field = |name: &str| root.text(&format!("sys/class/dmi/id/{name}"));
    let product = field("product_name").map(|name| match field("sys_vendor") {
        Some(vendor) if !name.starts_with(&vendor) => format!("{vendor} {name}"),
        _ => name,
    });
    let model = || root.text("proc/device-tree/model");
    let product = azure_product(root).or(product);
    product.or_else(model).map(|name| name.trim_end_matches('\0').to_owned())
}

/// Asset tag of Azure guests; their product name is that of any Hyper-V guest. cloud-init's data
/// source uses the same tag.
const AZURE_ASSET_TAG: &str = "7783-7084-3265-9085-8269-3286-77";

/// Returns the VM size of an Azure guest from cloud-init's stored metadata. Uses no network.
fn azure_product(root: &Root) -> Option<String> {
    root.text("sys/class/dmi/id/chassis_asset_tag").filter(|tag| tag == AZURE_ASSET_TAG)?;
    let data: Option<serde_json::Value> = root
        .text("run/cloud-init/instance-data.json")
        .and_then(|text| serde_json::from_str(&text).ok());
    let told = data.as_ref().and_then(|it| it.pointer("/ds/meta_data/imds/compute/vmSize"));
    let size = told.and_then(serde_json::Value::as_str).filter(is_plain_name);
    Some(format!("Microsoft Azure {}", size.unwrap_or("Virtual Machine")))
}

/// Accepts letters, digits and `_-.`, so that no control character of the file is printed.
fn is_plain_name(text: &&str) -> bool {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || "_-.".contains(it);
    !text.is_empty() && text.len() <= 64 && text.chars().all(is_of_name)
}

/// Finds the version of the C library mapped by this process in the library's own text.
fn c_library(root: &Root) -> Option<String> {
    let maps = root.text("proc/self/maps")?;
    let mapped = |name: &str| {
        let line = maps.lines().find(|line| line.contains(name))?;
        line.split_whitespace().nth(5).map(|path| path.trim_start_matches('/'))
    };
    let glibc = || {
        let library = root.read_bytes(mapped("/libc.so.6")?, MAX_LIBRARY_BYTES).ok()?;
        Some(format!("glibc {}", version_after(&library, b"stable release version ")?))
    };
    let musl = || mapped("/ld-musl-").map(|_| "musl".to_owned());
    glibc().or_else(musl)
}

/// Returns the version number after `mark`.
fn version_after(bytes: &[u8], mark: &[u8]) -> Option<String> {
    let start = memchr::memmem::find(bytes, mark)? + mark.len();
    let number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let version: Vec<u8> = bytes[start..].iter().take_while(number).copied().collect();
    let version = String::from_utf8(version).ok()?.trim_end_matches('.').to_owned();
    (!version.is_empty()).then_some(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::write_file;

    /// An Azure guest is recognised by its asset tag, its size by cloud-init's metadata.
    #[test]
    fn recognises_azure_guest_and_its_size() {
        let told = |size: &str| {
            format!(r#"{{"ds":{{"meta_data":{{"imds":{{"compute":{{"vmSize":{size}}}}}}}}}}}"#)
        };
        for (tag, data, expected) in [
            (
                AZURE_ASSET_TAG,
                told("\"Standard_HB120rs_v3\""),
                "Microsoft Azure Standard_HB120rs_v3",
            ),
            (AZURE_ASSET_TAG, told("7"), "Microsoft Azure Virtual Machine"),
            (AZURE_ASSET_TAG, told("\"a b\\u001b\""), "Microsoft Azure Virtual Machine"),
            (AZURE_ASSET_TAG, "no JSON".to_owned(), "Microsoft Azure Virtual Machine"),
            (AZURE_ASSET_TAG, String::new(), "Microsoft Azure Virtual Machine"),
            ("", told("\"Standard_HB120rs_v3\""), "Microsoft Corporation Virtual Machine"),
            ("1234", String::new(), "Microsoft Corporation Virtual Machine"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let write = |path: &str, text: &str| write_file(folder.path(), path, text);
            write("sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n");
            write("sys/class/dmi/id/product_name", "Virtual Machine\n");
            write("sys/class/dmi/id/chassis_asset_tag", &format!("{tag}\n"));
            write("run/cloud-init/instance-data.json", &data);
            assert_eq!(
                product(&Root::from_directory(folder.path())).as_deref(),
                Some(expected),
                "{tag} {data}"
            );
        }
    }
}
