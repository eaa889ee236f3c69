//! Files of the machine that a program under qemu's user emulation sees: this machine's, except
//! those that describe the processor.
//!
//! With `-L`, qemu looks up every path in a folder before it takes the machine's own (qemu's
//! manual, "Command line options" of user mode). That folder contains links to existing files, and
//! own files where they differ.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::{Context, Result};

const CPUS: &str = "sys/devices/system/cpu";
/// Maximum size of a last-level cache; an array is four times as large.
const MAX_CACHE_KIB: u64 = 1024;
/// Linux's description of such a processor (arch/arm64/kernel/cpuinfo.c), with qemu's own name for
/// its emulation.
const CPUINFO: &str = "processor\t: 0\nmodel name\t: QEMU TCG, aarch64\nBogoMIPS\t: 100.00\n\
    Features\t: fp asimd\nCPU implementer\t: 0x00\nCPU architecture: 8\n";

/// Fills the folder with links to the aarch64 root and the description of the processor.
pub(super) fn create_prefix(folder: &Path, far_root: &Path) -> Result<()> {
    link_entries(far_root, folder)?;
    replace_with_folder(folder, "proc")?;
    replace_with_file(&folder.join("proc/cpuinfo"), CPUINFO)?;
    replace_with_folder(folder, CPUS)?;
    for cpu in list_names(&Path::new("/").join(CPUS))? {
        let caches = format!("{CPUS}/{cpu}/cache");
        let is_cpu = cpu.strip_prefix("cpu").is_some_and(|it| it.parse::<u32>().is_ok());
        if !is_cpu || !Path::new("/").join(&caches).exists() {
            continue;
        }
        replace_with_folder(folder, &format!("{CPUS}/{cpu}"))?;
        replace_with_folder(folder, &caches)?;
        for index in list_names(&Path::new("/").join(&caches))? {
            let cache = format!("{caches}/{index}");
            let size = fs::read_to_string(format!("/{cache}/size")).unwrap_or_default();
            if parse_kib(&size).is_some_and(|it| it > MAX_CACHE_KIB) {
                replace_with_folder(folder, &cache)?;
                replace_with_file(
                    &folder.join(&cache).join("size"),
                    &format!("{MAX_CACHE_KIB}K\n"),
                )?;
            }
        }
    }
    Ok(())
}

/// Parses `491520K`, the format of sysfs.
fn parse_kib(size: &str) -> Option<u64> {
    size.trim().strip_suffix('K')?.parse().ok()
}

/// Replaces a link to a folder by a folder with links to its contents.
fn replace_with_folder(folder: &Path, path: &str) -> Result<()> {
    let own = folder.join(path);
    if own.is_symlink() {
        fs::remove_file(&own)?;
    }
    fs::create_dir_all(&own)?;
    link_entries(&Path::new("/").join(path), &own)
}

fn replace_with_file(file: &Path, text: &str) -> Result<()> {
    if file.is_symlink() {
        fs::remove_file(file)?;
    }
    Ok(fs::write(file, text)?)
}

fn link_entries(from: &Path, to: &Path) -> Result<()> {
    for name in list_names(from)? {
        symlink(from.join(&name), to.join(&name))?;
    }
    Ok(())
}

fn list_names(folder: &Path) -> Result<Vec<String>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let names = entries.flatten().filter_map(|it| it.file_name().into_string().ok());
    Ok(names.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_cache_sizes_and_links_other_files() {
        let (folder, far_root) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(far_root.path().join("lib")).unwrap();
        create_prefix(folder.path(), far_root.path()).unwrap();
        assert!(folder.path().join("lib").exists());
        let cpus = folder.path().join(CPUS);
        assert_eq!(
            fs::read_to_string(cpus.join("online")).unwrap(),
            fs::read_to_string(Path::new("/").join(CPUS).join("online")).unwrap()
        );
        for cpu in list_names(&cpus).unwrap() {
            let caches = cpus.join(cpu).join("cache");
            let Ok(found) = list_names(&caches) else { continue };
            for index in found.iter().filter(|it| it.starts_with("index")) {
                let size = fs::read_to_string(caches.join(index).join("size")).unwrap();
                assert!(parse_kib(&size).unwrap() <= MAX_CACHE_KIB, "{index}: {size}");
                assert!(caches.join(index).join("level").exists());
            }
        }
        let cpuinfo = fs::read_to_string(folder.path().join("proc/cpuinfo")).unwrap();
        assert!(cpuinfo.contains("QEMU TCG"), "{cpuinfo}");
    }
}
