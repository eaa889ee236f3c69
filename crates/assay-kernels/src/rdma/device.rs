//! RDMA devices: the verbs library, its list of devices, and their attributes in sysfs, which need
//! no library.

use std::ffi::{CStr, c_int};
use std::fs;
use std::path::Path;
use std::slice;
use std::sync::OnceLock;

use super::abi::Opaque;
use super::calls::VerbsCalls;
use super::error::RdmaError;
use crate::library::{SharedLibrary, SymbolScope};

/// Folder in which the kernel lists devices.
const SYSFS: &str = "/sys/class/infiniband";
/// Folder of the device files.
const DEVICE_FILES: &str = "/dev/infiniband";

/// Whether the kernel lists any device.
pub fn has_devices() -> bool {
    fs::read_dir(SYSFS).is_ok_and(|mut found| found.next().is_some())
}

/// Returns the reason the library finds no device; `root` is the root folder of the machine.
fn missing_device_error(root: &Path) -> RdmaError {
    let names = |folder: &Path| -> Vec<String> {
        let found = fs::read_dir(root.join(folder.strip_prefix("/").unwrap_or(folder)));
        let name = |it: fs::DirEntry| it.file_name().to_string_lossy().into_owned();
        found.into_iter().flatten().flatten().map(name).collect()
    };
    let mut devices = names(Path::new(SYSFS));
    if devices.is_empty() {
        return RdmaError::NoDevice;
    }
    devices.sort();
    let devices = devices.join(", ");
    match names(Path::new(DEVICE_FILES)).iter().any(|name| name.starts_with("uverbs")) {
        true => RdmaError::NoProvider { devices },
        false => RdmaError::NoVerbsFile { devices },
    }
}

/// Whether a GID of RoCE is of version 2, whose packets are routed as UDP.
pub(super) fn is_routable(device: &str, port: u8, index: u32) -> bool {
    let file = Path::new(SYSFS).join(format!("{device}/ports/{port}/gid_attrs/types/{index}"));
    fs::read_to_string(file).is_ok_and(|kind| kind.trim() == "RoCE v2")
}

/// Returns the library's functions; it is opened once and never closed.
pub(super) fn verbs_calls() -> Result<&'static VerbsCalls, RdmaError> {
    static CALLS: OnceLock<VerbsCalls> = OnceLock::new();
    if let Some(calls) = CALLS.get() {
        return Ok(calls);
    }
    let library = SharedLibrary::open("libibverbs.so.1", SymbolScope::Local)
        .map_err(|reason| RdmaError::NoLibrary { reason })?;
    let calls = VerbsCalls::load(&library).map_err(RdmaError::NoFunction)?;
    Ok(CALLS.get_or_init(|| calls))
}

/// Device list of the library, freed when dropped.
pub(super) struct DeviceList {
    calls: &'static VerbsCalls,
    devices: *mut *mut Opaque,
    count: usize,
}

impl DeviceList {
    pub(super) fn read() -> Result<Self, RdmaError> {
        let calls = verbs_calls()?;
        let mut count: c_int = 0;
        // SAFETY: the count can be written.
        let devices = unsafe { (calls.get_device_list)(&raw mut count) };
        let count = usize::try_from(count).unwrap_or(0);
        if devices.is_null() || count == 0 {
            if !devices.is_null() {
                // SAFETY: the library's list, freed once.
                unsafe { (calls.free_device_list)(devices) };
            }
            return Err(missing_device_error(Path::new("/")));
        }
        Ok(Self { calls, devices, count })
    }

    /// Returns name and address of every device.
    fn entries(&self) -> Vec<(String, *mut Opaque)> {
        // SAFETY: the library's list has `count` devices until it is freed.
        let all = unsafe { slice::from_raw_parts(self.devices, self.count) };
        let one = |device: &*mut Opaque| {
            // SAFETY: a device of the list.
            let name = unsafe { (self.calls.get_device_name)(*device) };
            // SAFETY: the library's own string, which lives as long as the list.
            let name = unsafe { CStr::from_ptr(name) };
            (name.to_string_lossy().into_owned(), *device)
        };
        all.iter().map(one).collect()
    }

    /// Returns the device of this name, or the first one without a name.
    pub(super) fn find(&self, name: Option<&str>) -> Result<(String, *mut Opaque), RdmaError> {
        let all = self.entries();
        let Some(asked) = name else {
            return all.into_iter().next().ok_or(RdmaError::NoDevice);
        };
        let found = all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>().join(", ");
        let has_name = |(name, _): &(String, *mut Opaque)| name == asked;
        let missing = || RdmaError::NoSuchDevice { asked: asked.to_owned(), found };
        all.into_iter().find(has_name).ok_or_else(missing)
    }
}

impl Drop for DeviceList {
    fn drop(&mut self) {
        // SAFETY: the library's list, freed once.
        unsafe { (self.calls.free_device_list)(self.devices) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_device_error_depends_on_the_machine() {
        for (at, (files, said, advice)) in [
            (&[][..], "there is no RDMA device on this machine", "rdma link add"),
            (
                &["sys/class/infiniband/mlx5_1", "sys/class/infiniband/mlx5_0"],
                "lists mlx5_0, mlx5_1, but there is no file /dev/infiniband/uverbs*",
                "modprobe ib_uverbs",
            ),
            (
                // Files of ib_umad do not imply that verbs are available.
                &["sys/class/infiniband/rxe0", "dev/infiniband/umad0"],
                "lists rxe0, but there is no file",
                "--device=/dev/infiniband",
            ),
            (
                &["sys/class/infiniband/rxe0", "dev/infiniband/uverbs0"],
                "lists rxe0, but libibverbs finds no device",
                "ibverbs-providers",
            ),
        ]
        .into_iter()
        .enumerate()
        {
            let root =
                std::env::temp_dir().join(format!("assay-unseen-{}-{at}", std::process::id()));
            for file in files {
                fs::create_dir_all(root.join(file)).unwrap();
            }
            let error = missing_device_error(&root);
            let _ = fs::remove_dir_all(&root);
            assert!(error.to_string().contains(said), "{error}");
            assert!(error.advice().contains(advice), "{}", error.advice());
        }
    }
}
