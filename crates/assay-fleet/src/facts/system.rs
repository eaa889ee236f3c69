//! Operating system, kernel, the name of the host, and the versions of what takes part.

use std::collections::BTreeMap;

use assay_model::facts::SystemFacts;

use super::kernel_parameters;
use super::virtualization::Virtualization;
use crate::root::Root;

/// Longest C library that is searched for its version; glibc has about 2 MB.
const MOST_LIBRARY_BYTES: u64 = 8 << 20;

pub(super) fn read(root: &Root, environment: &Virtualization) -> SystemFacts {
    SystemFacts {
        distribution: distribution(root),
        kernel: kernel(root),
        kernel_command_line: root
            .text("proc/cmdline")
            .map(|line| kernel_parameters::harmless(&line)),
        // The file exists since Linux 6.1; the program's own architecture is the machine's.
        architecture: root
            .text("proc/sys/kernel/arch")
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        virtualization: environment.name(),
        product: product(root),
        clock_source: root
            .text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
    }
}

/// What the machine calls itself.
#[must_use]
pub fn host_name(root: &Root) -> String {
    let name = root.text("proc/sys/kernel/hostname").or_else(|| root.text("etc/hostname"));
    name.unwrap_or_else(|| "localhost".into())
}

/// Versions of assay, the kernel and the C library.
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

/// `/proc/version` begins with `Linux version 6.1.0 …`.
fn kernel(root: &Root) -> String {
    let version = || {
        let version = root.text("proc/version")?;
        version.split_whitespace().nth(2).map(str::to_owned)
    };
    let release = root.text("proc/sys/kernel/osrelease").or_else(version);
    release.unwrap_or_else(|| "unknown".into())
}

/// The product name of DMI with its vendor, or the model of a device tree, which ends in a NUL.
fn product(root: &Root) -> Option<String> {
    let field = |name: &str| root.text(&format!("sys/class/dmi/id/{name}"));
    let product = field("product_name").map(|name| match field("sys_vendor") {
        Some(vendor) if !name.starts_with(&vendor) => format!("{vendor} {name}"),
        _ => name,
    });
    let model = || root.text("proc/device-tree/model");
    product.or_else(model).map(|name| name.trim_end_matches('\0').to_owned())
}

/// The C library that this process has mapped names its version in its own text.
fn c_library(root: &Root) -> Option<String> {
    let maps = root.text("proc/self/maps")?;
    let mapped = |name: &str| {
        let line = maps.lines().find(|line| line.contains(name))?;
        line.split_whitespace().nth(5).map(|path| path.trim_start_matches('/'))
    };
    let glibc = || {
        let library = root.bytes(mapped("/libc.so.6")?, MOST_LIBRARY_BYTES).ok()?;
        Some(format!("glibc {}", behind(&library, b"stable release version ")?))
    };
    let musl = || mapped("/ld-musl-").map(|_| "musl".to_owned());
    glibc().or_else(musl)
}

/// The version number that follows `mark`.
fn behind(bytes: &[u8], mark: &[u8]) -> Option<String> {
    let start = bytes.windows(mark.len()).position(|window| window == mark)? + mark.len();
    let number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let version: Vec<u8> = bytes[start..].iter().take_while(number).copied().collect();
    let version = String::from_utf8(version).ok()?.trim_end_matches('.').to_owned();
    (!version.is_empty()).then_some(version)
}
