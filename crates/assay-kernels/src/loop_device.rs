//! File or device behind a loop device, as reported by the kernel: names in `/sys` may belong to
//! another namespace.

use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;

/// File or device behind a loop device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopBacking {
    /// Major and minor number of the device that holds the file.
    pub device: (u32, u32),
    /// Inode of the file.
    pub inode: u64,
    /// Major and minor number of the backing device, if the backing is a device.
    pub backing_device: Option<(u32, u32)>,
}

/// `struct loop_info64` of `linux/loop.h`.
#[repr(C)]
struct LoopInfo64 {
    device: u64,
    inode: u64,
    is_device: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encryption: u32,
    key_size: u32,
    flags: u32,
    file_name: [u8; 64],
    encryption_name: [u8; 64],
    key: [u8; 32],
    init: [u64; 2],
}

/// Returns the backing of the loop device at `path`; `None` if it has none or access is denied.
pub fn find_backing(path: &Path) -> Option<LoopBacking> {
    /// `LOOP_GET_STATUS64` of `linux/loop.h`.
    const GET_STATUS64: u32 = 0x4C05;
    let file = File::open(path).ok()?;
    let mut info = MaybeUninit::<LoopInfo64>::zeroed();
    // SAFETY: the request fills one `loop_info64`, which `info` is, or fails; all-zero bytes are a valid one.
    let info = unsafe {
        if libc::ioctl(file.as_raw_fd(), GET_STATUS64 as _, info.as_mut_ptr()) != 0 {
            return None;
        }
        info.assume_init()
    };
    Some(LoopBacking {
        device: decode_device_number(info.device),
        inode: info.inode,
        backing_device: (info.is_device != 0).then(|| decode_device_number(info.is_device)),
    })
}

/// Unpacks a device number of 12 and 20 bits, `new_encode_dev` of `linux/kdev_t.h`.
const fn decode_device_number(packed: u64) -> (u32, u32) {
    let major = (packed & 0xfff00) >> 8;
    let minor = (packed & 0xff) | ((packed >> 12) & 0xfff00);
    (major as u32, minor as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_kernel_device_numbers() {
        for (packed, expected) in
            [(0xfe00, (254, 0)), (0x0703, (7, 3)), (0x0101_03aa, (0x103, 0x10aa))]
        {
            assert_eq!(decode_device_number(packed), expected, "{packed:#x}");
        }
        assert_eq!(find_backing(Path::new("/dev/null")), None);
    }
}
