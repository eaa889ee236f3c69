//! Files at the place of the program on a host. A file that others can change never runs; another build is replaced by a
//! copy.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::World;

/// Folder that only this user and root can write, like all its ancestors.
struct PrivateFolder(tempfile::TempDir);

impl PrivateFolder {
    /// Creates the folder below that of the build or below the home folder. `None`, with the reason
    /// printed, if others can write both.
    fn new(test: &str) -> Option<Self> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let parents = [Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR"))), home];
        let folder = parents.into_iter().flatten().find_map(|parent| {
            let folder = tempfile::tempdir_in(parent).ok()?;
            is_private(folder.path()).then_some(Self(folder))
        });
        if folder.is_none() {
            eprintln!(
                "SKIPPED {test}: others can write the folders of the build and of the user"
            );
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Returns whether only this user and root can write the folder and all its ancestors.
fn is_private(folder: &Path) -> bool {
    let own = fs::metadata(folder).unwrap().uid();
    folder.canonicalize().unwrap().ancestors().all(|ancestor| {
        let metadata = fs::metadata(ancestor).unwrap();
        metadata.mode() & 0o022 == 0 && [0, own].contains(&metadata.uid())
    })
}

/// Copies the program and appends a byte, which makes it another build with the same behaviour.
fn copy_as_build(file: &Path, last: &str) {
    let script = format!("cp {} \"$1\" && printf {last} >>\"$1\"", env!("CARGO_BIN_EXE_assay"));
    let status = Command::new("sh").args(["-c", &script, "sh"]).arg(file).status().unwrap();
    assert!(status.success());
}

/// Examines the host behind the world's `via.sh` with that program, which must succeed.
fn examine_host(world: &World, program: &Path) {
    let output = Command::new(program)
        .args(["doctor", "--hosts", "vm1", "--via", "sh via.sh {host}", "--json"])
        .args(["--host-deadline", "50s"])
        .current_dir(world.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Replaces the running program by a script of the same size. The script must not run, and the host
/// must reply from a sent copy.
fn check_planted_script(world: &World, program: &Path, more: &str) {
    copy_as_build(program, "A");
    let ran = world.path("ran");
    let script = format!("#!/bin/sh\n: >{}\nexit 1\n", ran.display());
    let planted = world.write("planted", &script);
    fs::set_permissions(&planted, fs::Permissions::from_mode(0o755)).unwrap();
    let bytes = fs::metadata(program).unwrap().len();
    fs::File::options().write(true).open(&planted).unwrap().set_len(bytes).unwrap();
    let place = program.display();
    let via = format!(
        "rm -f {place}; cp {} {place}; {more}; PATH=/usr/bin:/bin; shift; exec \"$@\"\n",
        planted.display()
    );
    world.write("via.sh", &via);
    examine_host(world, program);
    assert!(!ran.exists(), "a planted file ran: {more}");
}

#[test]
fn planted_program_does_not_run() {
    let world = World::new();
    check_planted_script(&world, &world.path("other-assay"), "true");
    let Some(private) = PrivateFolder::new("planted_program_does_not_run") else { return };
    let program = private.path("assay");
    check_planted_script(&world, &program, "true");
    check_planted_script(
        &world,
        &program,
        &format!("chmod 777 {}", private.path("").display()),
    );
}

#[test]
fn planted_program_of_another_user_does_not_run() {
    let test = "planted_program_of_another_user_does_not_run";
    let Some(private) = PrivateFolder::new(test) else { return };
    if fs::metadata(private.path("")).unwrap().uid() != 0 {
        eprintln!("SKIPPED {test}: only root can give files to nobody");
        return;
    }
    let (world, program) = (World::new(), private.path("assay"));
    check_planted_script(&world, &program, &format!("chown nobody {}", program.display()));
    check_planted_script(
        &world,
        &program,
        &format!("chown nobody {}", private.path("").display()),
    );
}

#[test]
fn host_with_another_build_gets_copy_on_retry() {
    let test = "host_with_another_build_gets_copy_on_retry";
    let Some(private) = PrivateFolder::new(test) else { return };
    let (world, program) = (World::new(), private.path("assay"));
    copy_as_build(&program, "A");
    copy_as_build(&private.path("build-b"), "B");
    // The host computes the hash of build A for every file, so that only the program reveals its build.
    let hash = Command::new("sha256sum").arg(&program).output().unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    fs::create_dir(world.path("bin")).unwrap();
    world.write("bin/openssl", &format!("#!/bin/sh\necho {}\n", &hash[..64]));
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path("bin/openssl"), executable).unwrap();
    let via = format!(
        "echo start >>starts; cp --remove-destination {} {}; \
         PATH=$PWD/bin:/usr/bin:/bin; shift; exec \"$@\"\n",
        private.path("build-b").display(),
        program.display()
    );
    world.write("via.sh", &via);
    examine_host(&world, &program);
    assert_eq!(fs::read_to_string(world.path("starts")).unwrap(), "start\nstart\n");
}
