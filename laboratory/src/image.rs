//! Image of the guests: a kernel and a root file system from Debian's packages, built once and
//! cached in `$XDG_CACHE_HOME/assay-lab`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use workbench::command;

/// Source of this file. Its checksum, together with that of [`INIT`], is part of the name of the
/// image, which is rebuilt when one of them changes.
const IMAGE_SOURCE: &str = include_str!("image.rs");
/// Debian packages that the scenarios' scripts use; required libraries are added.
const PACKAGES: &[&str] = &[
    "busybox-static",
    "dash",
    "dmsetup",
    "ibverbs-providers",
    "ioping",
    "iproute2",
    "libc-bin",
    "libgcc-s1",
    "mdadm",
    "munge",
    "netbase",
    "nfs-common",
    "nfs-kernel-server",
    "openssh-client",
    "openssh-server",
    "perftest",
    "rpcbind",
    "slurm-client",
    "slurm-wlm-basic-plugins",
    "slurmctld",
    "slurmd",
    "tcpdump",
    "util-linux",
];
/// Libraries and folders that no script uses, half of the image otherwise.
const UNUSED_LIBRARIES: [&str; 3] = ["libperl", "libpython", "libicu"];
const UNUSED_FOLDERS: [&str; 3] = ["usr/share/doc", "usr/share/locale", "usr/share/man"];
/// Kernel modules that scenarios load; required modules are added.
const MODULES: &[&str] = &[
    "af_packet",
    "crc32_generic",
    "crc32c_generic",
    "dm-delay",
    "dm-flakey",
    "dm-mod",
    "ext4",
    "ib_uverbs",
    "ipv6",
    "loop",
    "macvlan",
    "md_mod",
    "nfsd",
    "nfsv3",
    "nfsv4",
    "null_blk",
    "nvme",
    "raid0",
    "rdma_rxe",
    "rdma_ucm",
    "sch_fq",
    "sch_netem",
    "veth",
    "virtio_blk",
    "virtio_net",
    "virtio_pci",
    "zram",
];
/// `/etc/passwd`, with the users of the daemons.
const USERS: &str = "\
root:x:0:0::/root:/bin/sh
_rpc:x:100:65534::/run/rpcbind:/bin/false
sshd:x:101:65534::/run/sshd:/bin/false
nobody:x:65534:65534::/:/bin/false
";
/// Init script: mounts file systems, sets the host name and, with several guests, the address, then
/// runs the scenario's script with its output on the second serial line. `guest` and `guests` are
/// parameters of the kernel's command line.
const INIT: &str = include_str!("../scripts/init.sh");

/// Kernel and root file system of the guests.
#[derive(Debug)]
pub struct Image {
    pub(crate) kernel: PathBuf,
    /// Root file system, a cpio archive for the kernel.
    pub(crate) base: PathBuf,
    /// Folder of the image.
    pub(crate) folder: PathBuf,
}

/// Returns the laboratory's cache folder, which remains when the image is rebuilt.
pub(crate) fn cache_folder() -> Result<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")));
    Ok(cache.context("neither XDG_CACHE_HOME nor HOME is set")?.join("assay-lab"))
}

/// Returns the image; builds it if necessary.
pub fn ensure_image(root: &Path) -> Result<Image> {
    let kernel = kernel_package(root)?;
    let cache = cache_folder()?;
    let recipe = crc32fast::hash([IMAGE_SOURCE, INIT].concat().as_bytes());
    let folder = cache.join(format!("{kernel}-{recipe:08x}"));
    let image =
        Image { kernel: folder.join("vmlinuz"), base: folder.join("base.cpio"), folder };
    if image.base.exists() {
        return Ok(image);
    }
    println!("lab: building the image {}", image.folder.display());
    fs::create_dir_all(&image.folder)?;
    let work = tempfile::tempdir_in(&cache)?;
    build_image(&kernel, work.path(), &image)?;
    Ok(image)
}

/// Returns the current dependency of `linux-image-amd64`, e.g. `linux-image-6.1.0-56-amd64`.
fn kernel_package(root: &Path) -> Result<String> {
    let dependencies = command::output(
        command::at_root(root, "apt-cache").args(["depends", "linux-image-amd64"]),
    )?;
    let name = dependencies
        .split_whitespace()
        .find(|word| word.starts_with("linux-image-") && *word != "linux-image-amd64");
    name.map(str::to_owned)
        .context("linux-image-amd64 depends on no kernel: run `apt-get update`")
}

fn build_image(kernel: &str, work: &Path, image: &Image) -> Result<()> {
    let (debs, system, root) = (work.join("debs"), work.join("system"), work.join("root"));
    for folder in [&debs, &system, &root] {
        fs::create_dir_all(folder)?;
    }
    let mut names: BTreeSet<String> = PACKAGES.iter().map(|&name| name.to_owned()).collect();
    names.extend(required_libraries(&debs, PACKAGES)?);
    command::run(
        command::at_root(&debs, "apt-get").args(["download", "--quiet=2", kernel]).args(&names),
    )?;
    let mut files: Vec<PathBuf> =
        fs::read_dir(&debs)?.map(|it| Ok(it?.path())).collect::<Result<_>>()?;
    files.sort();
    for file in &files {
        let is_kernel = file
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("linux-image"));
        let destination = if is_kernel { &system } else { &root };
        command::run(
            command::at_root(work, "dpkg-deb").arg("--extract").args([file, destination]),
        )?;
    }
    for folder in
        UNUSED_FOLDERS.map(|folder| root.join(folder)).into_iter().filter(|it| it.exists())
    {
        fs::remove_dir_all(folder)?;
    }
    copy_modules(kernel, &system, &root)?;
    fs::write(root.join("etc/passwd"), USERS)?;
    let init = root.join("init");
    fs::write(&init, INIT)?;
    command::run(command::at_root(work, "chmod").arg("755").arg(&init))?;
    let version = kernel.trim_start_matches("linux-image-");
    fs::copy(system.join(format!("boot/vmlinuz-{version}")), &image.kernel)?;
    let archive = work.join("base.cpio");
    pack_cpio(&root, &archive)?;
    // Rename last: the existence of the archive means that the image is complete.
    fs::rename(&archive, &image.base)?;
    Ok(())
}

/// Returns the libraries that the packages depend on according to `apt-cache`.
pub(crate) fn required_libraries(folder: &Path, packages: &[&str]) -> Result<Vec<String>> {
    let dependencies = command::output(
        command::at_root(folder, "apt-cache")
            .args([
                "depends",
                "--recurse",
                "--no-recommends",
                "--no-suggests",
                "--no-conflicts",
            ])
            .args(["--no-breaks", "--no-replaces", "--no-enhances"])
            .args(packages),
    )?;
    let is_library = |name: &&str| {
        (name.starts_with("lib") || name.starts_with("zlib"))
            && !UNUSED_LIBRARIES.iter().any(|prefix| name.starts_with(prefix))
    };
    Ok(dependencies
        .lines()
        .filter(|line| !line.starts_with([' ', '|', '<']))
        .filter(is_library)
        .map(str::to_owned)
        .collect())
}

/// Copies the modules that scenarios load, and their dependencies.
fn copy_modules(kernel: &str, system: &Path, root: &Path) -> Result<()> {
    let version = kernel.trim_start_matches("linux-image-");
    command::run(command::at_root(system, "depmod").arg("--basedir").arg(system).arg(version))?;
    let tree = format!("lib/modules/{version}");
    let mut paths: BTreeSet<String> =
        ["modules.builtin", "modules.order"].map(|file| format!("{tree}/{file}")).into();
    for &module in MODULES {
        let output = command::capture(
            command::at_root(system, "modprobe").arg("--dirname").arg(system).args([
                "--set-version",
                version,
                "--show-depends",
                module,
            ]),
        )?;
        // A module that is built into the kernel has no file.
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        let files = output.split_whitespace().filter_map(|word| word.split_once(&tree));
        paths.extend(files.map(|(_, rest)| format!("{tree}{rest}")));
    }
    for file in &paths {
        let destination = root.join(file);
        fs::create_dir_all(destination.parent().expect("every file has a parent folder"))?;
        fs::copy(system.join(file), &destination)
            .with_context(|| format!("cannot copy {file}"))?;
    }
    let count = paths.iter().filter(|file| file.contains(".ko")).count();
    if count < MODULES.len() / 2 {
        bail!("only {count} modules were found for {version}");
    }
    command::run(
        command::at_root(root, "depmod")
            .arg("--errsyms")
            .arg("--basedir")
            .arg(root)
            .arg(version),
    )
}

/// Packs a folder into a cpio archive for the kernel.
pub(crate) fn pack_cpio(folder: &Path, archive: &Path) -> Result<()> {
    // Sort the names, so that the archive is reproducible.
    command::run(
        command::at_root(folder, "sh")
            .args([
                "-c",
                "find . | LC_ALL=C sort | cpio --quiet -o -H newc --owner 0:0 > \"$0\"",
            ])
            .arg(archive),
    )
}
