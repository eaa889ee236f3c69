//! OCI image of a release: the program and the C library of this machine or of its cross compiler,
//! nothing else. Written without a container engine, so that equal files give an equal image.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Release;
use super::program_check::{STREAM, try_program};
use super::symbols::find_libraries;
use crate::command;

/// User and group of the program, without any rights.
const USER: &str = "65534:65534";
/// Working directory, which is meant for a volume.
const FOLDER: &str = "/data";
const LAYER_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";
const CONFIG_TYPE: &str = "application/vnd.oci.image.config.v1+json";
const MANIFEST_TYPE: &str = "application/vnd.oci.image.manifest.v1+json";

/// Packs the program with its libraries as an archive that `podman load` and `skopeo` read.
pub(super) fn pack(release: &Release, contents: &Path) -> Result<PathBuf> {
    let place = tempfile::tempdir()?;
    let (system, layout) = (place.path().join("system"), place.path().join("layout"));
    let blobs = layout.join("blobs/sha256");
    for folder in [&system, &blobs] {
        fs::create_dir_all(folder)?;
    }
    fill_system(release, contents, &system)?;
    let layer = place.path().join("layer.tar");
    archive(release, &system, &layer, ("--create", "u=rwX,go=rX"))?;
    let writable = place.path().join("writable");
    for folder in ["tmp", FOLDER.trim_start_matches('/')] {
        fs::create_dir_all(writable.join(folder))?;
    }
    archive(release, &writable, &layer, ("--append", "1777"))?;
    let layer_sum = sha256(&layer)?;
    let mut gzip = release.reproducible("gzip");
    command::run(gzip.arg("-n").arg(format!("-{}", release.compression())).arg(&layer))?;
    let layer = add_blob(&blobs, &place.path().join("layer.tar.gz"), LAYER_TYPE)?;
    let add = |value: &Value, media_type: &str| {
        let file = place.path().join("blob.json");
        fs::write(&file, value.to_string())?;
        add_blob(&blobs, &file, media_type)
    };
    let config = add(&describe_image(release, &layer_sum)?, CONFIG_TYPE)?;
    let manifest = json!({
        "schemaVersion": 2, "mediaType": MANIFEST_TYPE, "config": config, "layers": [layer],
    });
    let mut manifest = add(&manifest, MANIFEST_TYPE)?;
    manifest["annotations"] =
        json!({ "org.opencontainers.image.ref.name": format!("assay:{}", release.version) });
    let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
    fs::write(layout.join("index.json"), index.to_string())?;
    fs::write(layout.join("oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#)?;
    let name = format!("assay-{}-{}-oci.tar", release.version, release.machine.name);
    let file = release.output().join(name);
    archive(release, &layout, &file, ("--create", "u=rwX,go=rX"))?;
    Ok(file)
}

/// Copies the program, its libraries and the licences of all of them.
fn fill_system(release: &Release, contents: &Path, system: &Path) -> Result<()> {
    let documents = system.join("usr/share/doc");
    let libraries = system.join(release.machine.library_folder);
    for folder in [&documents, &libraries, &system.join("usr/bin")] {
        fs::create_dir_all(folder)?;
    }
    fs::copy(contents.join("bin/assay"), system.join("usr/bin/assay"))?;
    let mut copy = release.reproducible("cp");
    command::run(
        copy.arg("--recursive").arg(contents.join("share/doc/assay")).arg(&documents),
    )?;
    let read = |option: &str| {
        let mut read = release.reproducible("readelf");
        command::output(read.args(["--wide", option]).arg(&release.program))
    };
    let interpreter = read("--program-headers")?;
    let interpreter =
        interpreter.split_once("interpreter: ").and_then(|it| it.1.split_once(']'));
    let (interpreter, _) = interpreter.context("the program has no loader")?;
    let loader = system.join(interpreter.trim_start_matches('/'));
    fs::create_dir_all(loader.parent().context("a loader lies in a folder")?)?;
    let name =
        loader.file_name().context("a loader has a name")?.to_string_lossy().into_owned();
    fs::copy(find_library(release, &name)?, &loader)?;
    for library in find_libraries(&read("--dynamic")?).filter(|it| *it != name) {
        fs::copy(find_library(release, library)?, libraries.join(library))?;
    }
    copy_library_licences(release, &documents.join("libc6"))
}

/// Returns the file of a library of the release's machine.
fn find_library(release: &Release, name: &str) -> Result<PathBuf> {
    let folders = match release.machine.is_native() {
        true => vec![
            format!("/{}", release.machine.library_folder),
            "/lib64".to_owned(),
            "/lib".to_owned(),
        ],
        false => vec![format!("{}/lib", release.machine.cross_folder())],
    };
    let mut files = folders.iter().map(|folder| Path::new(folder).join(name));
    let machine = release.machine.name;
    files.find(|file| file.exists()).with_context(|| {
        format!("{name} for {machine} is missing in {}", folders.join(" and "))
    })
}

/// Copies the licences of the C library, where Debian keeps them.
fn copy_library_licences(release: &Release, folder: &Path) -> Result<()> {
    let package = match release.machine.is_native() {
        true => "libc6".to_owned(),
        false => format!("libc6-{}-cross", release.machine.debian_name),
    };
    let file = Path::new("/usr/share/doc").join(package).join("copyright");
    if file.exists() {
        fs::create_dir_all(folder)?;
        fs::copy(file, folder.join("copyright"))?;
    }
    Ok(())
}

/// Archives a folder with owners, times and order that do not depend on this machine.
fn archive(
    release: &Release,
    folder: &Path,
    file: &Path,
    (action, mode): (&str, &str),
) -> Result<()> {
    let mut tar = release.reproducible("tar");
    tar.args([action, "--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--format=gnu", &format!("--mode={mode}")])
        .arg(format!("--mtime=@{}", release.epoch))
        .arg("--file")
        .arg(file)
        .arg("--directory")
        .arg(folder);
    let mut names: Vec<_> =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<Result<_>>()?;
    names.sort();
    command::run(tar.args(names))
}

fn describe_image(release: &Release, layer_sum: &str) -> Result<Value> {
    let created = release.format_date("%FT%TZ")?;
    Ok(json!({
        "created": created,
        "architecture": release.machine.debian_name,
        "os": "linux",
        "config": {
            "User": USER,
            "Env": ["PATH=/usr/bin", format!("HOME={FOLDER}")],
            "Entrypoint": ["/usr/bin/assay"],
            "WorkingDir": FOLDER,
            "Volumes": { FOLDER: {} },
            "Labels": {
                "org.opencontainers.image.title": "assay",
                "org.opencontainers.image.version": release.version,
                "org.opencontainers.image.licenses": "(MIT OR Apache-2.0) AND LGPL-2.1-or-later",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer_sum}")] },
        "history": [{ "created": created, "created_by": "cargo xtask dist" }],
    }))
}

/// Moves a file to the blobs and returns its descriptor.
fn add_blob(blobs: &Path, file: &Path, media_type: &str) -> Result<Value> {
    let sum = sha256(file)?;
    let bytes = fs::metadata(file)?.len();
    fs::rename(file, blobs.join(&sum))?;
    Ok(json!({ "mediaType": media_type, "digest": format!("sha256:{sum}"), "size": bytes }))
}

fn sha256(file: &Path) -> Result<String> {
    let folder = file.parent().context("a file lies in a folder")?;
    let sum = command::output(command::at_root(folder, "sha256sum").arg(file))?;
    Ok(sum.split_whitespace().next().unwrap_or_default().to_owned())
}

/// Reads the image with skopeo, unpacks it, and runs the program in it: as a root folder without
/// anything else, as the image's user where this user may change the root.
pub(super) fn check(release: &Release, file: &Path) -> Result<()> {
    let mut inspect = release.reproducible("skopeo");
    let reference = format!("oci-archive:{}", file.display());
    let config = command::output(inspect.args(["inspect", "--config", &reference]))?;
    let config: Value = serde_json::from_str(&config).context("skopeo prints no JSON")?;
    ensure!(
        config["architecture"] == release.machine.debian_name
            && config["config"]["User"] == USER
            && config["config"]["Entrypoint"][0] == "/usr/bin/assay",
        "skopeo prints {config}"
    );
    let place = tempfile::tempdir()?;
    let mut unpack = release.reproducible("sh");
    unpack.args(["-c", "tar -xf \"$1\" -C \"$2\" && cd \"$2\" && mkdir system && \
        for blob in blobs/sha256/*; do gzip -dc \"$blob\" 2>/dev/null | tar -xC system 2>/dev/null; done; \
        chmod 755 . system; [ -x system/usr/bin/assay ]", "sh"]);
    command::run(unpack.arg(file).arg(place.path()))?;
    let system = place.path().join("system");
    if !release.machine.is_native() {
        let mut version = release.start_below(&system, &system.join("usr/bin/assay"));
        command::run(version.arg("--version"))?;
        return Ok(());
    }
    try_program(release, &system.join("usr/bin/assay"))?;
    run_in_root(release, &system)
}

/// Runs the program with the image's files as the root folder, where this user may change it.
fn run_in_root(release: &Release, system: &Path) -> Result<()> {
    if !release.is_root()? {
        println!("dist: only root can try the image's files as the root folder");
        return Ok(());
    }
    let program = "/usr/bin/assay";
    command::run(&mut release.enter(system, USER, &[program, "--version"]))?;
    let run = [&[program][..], &STREAM, &["--store", FOLDER]].concat();
    let output = command::output(&mut release.enter(system, USER, &run))?;
    ensure!(!output.is_empty(), "the program prints nothing in the image");
    Ok(())
}
