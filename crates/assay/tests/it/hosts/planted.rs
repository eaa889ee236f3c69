//! Files in the place of the program on a host: one that others can change is never run, and one that is another build is
//! replaced by a copy.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::World;

/// A folder below those of the build, which only this user and root can write.
struct Closed(tempfile::TempDir);

impl Closed {
    /// `None`, with the reason said, where the folders of the build can be written by others.
    fn new(test: &str) -> Option<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let own = fs::metadata(folder.path()).unwrap().uid();
        let is_closed = |folder: &Path| {
            let it = fs::metadata(folder).unwrap();
            it.mode() & 0o022 == 0 && [0, own].contains(&it.uid())
        };
        let real = folder.path().canonicalize().unwrap();
        if let Some(open) = real.ancestors().find(|it| !is_closed(it)) {
            eprintln!("SKIPPED {test}: {} can be written by others", open.display());
            return None;
        }
        Some(Self(folder))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A copy of the program with one more byte at its end, which makes it another build that does the same.
fn build(file: &Path, last: &str) {
    let script = format!("cp {} \"$1\" && printf {last} >>\"$1\"", env!("CARGO_BIN_EXE_assay"));
    let status = Command::new("sh").args(["-c", &script, "sh"]).arg(file).status().unwrap();
    assert!(status.success());
}

/// Asks the host behind the world's `via.sh` with that program; it has to answer.
fn answers(world: &World, program: &Path) {
    let output = Command::new(program)
        .args(["doctor", "--hosts", "vm1", "--via", "sh via.sh {host}", "--json"])
        .args(["--host-deadline", "50s"])
        .current_dir(world.path("."))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Puts a script of the same size in the place of the program while that runs. The script must not be run, and the host
/// must answer with a copy.
fn plant(world: &World, program: &Path, more: &str) {
    build(program, "A");
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
    answers(world, program);
    assert!(!ran.exists(), "a planted file ran: {more}");
}

#[test]
fn a_planted_program_is_not_run() {
    let world = World::new();
    plant(&world, &world.path("other-assay"), "true");
    let Some(closed) = Closed::new("a_planted_program_is_not_run") else { return };
    let program = closed.path("assay");
    plant(&world, &program, "true");
    plant(&world, &program, &format!("chmod 777 {}", closed.path("").display()));
}

#[test]
fn a_planted_program_of_another_user_is_not_run() {
    let test = "a_planted_program_of_another_user_is_not_run";
    let Some(closed) = Closed::new(test) else { return };
    if fs::metadata(closed.path("")).unwrap().uid() != 0 {
        eprintln!("SKIPPED {test}: only root can give files to nobody");
        return;
    }
    let (world, program) = (World::new(), closed.path("assay"));
    plant(&world, &program, &format!("chown nobody {}", program.display()));
    plant(&world, &program, &format!("chown nobody {}", closed.path("").display()));
}

#[test]
fn a_host_whose_program_is_another_build_gets_a_copy_at_the_second_try() {
    let test = "a_host_whose_program_is_another_build_gets_a_copy_at_the_second_try";
    let Some(closed) = Closed::new(test) else { return };
    let (world, program) = (World::new(), closed.path("assay"));
    build(&program, "A");
    build(&closed.path("build-b"), "B");
    // The hash that the host computes is that of build A, whatever it is computed of: only the program tells.
    let hash = Command::new("sha256sum").arg(&program).output().unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    fs::create_dir(world.path("bin")).unwrap();
    world.write("bin/sha256sum", &format!("#!/bin/sh\necho {}\n", &hash[..64]));
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(world.path("bin/sha256sum"), executable).unwrap();
    let via = format!(
        "echo start >>starts; cp --remove-destination {} {}; \
         PATH=$PWD/bin:/usr/bin:/bin; shift; exec \"$@\"\n",
        closed.path("build-b").display(),
        program.display()
    );
    world.write("via.sh", &via);
    answers(&world, &program);
    assert_eq!(fs::read_to_string(world.path("starts")).unwrap(), "start\nstart\n");
}
