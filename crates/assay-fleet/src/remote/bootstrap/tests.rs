//! Runs the script in each installed shell, with programs that other users can and cannot change.

use std::fs;
use std::io::{BufReader, Read as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::*;
use crate::process::find_executable;
use crate::shells;

/// Program that prints its path when it is started as an agent.
const PROGRAM: &str = "#!/bin/sh\n[ $1 = agent ] && echo ran $0 || echo 1.0\n";
/// Program of the same size with another hash.
const PLANTED: &str = "#!/bin/sh\n[ $1 = agent ] && echo BAD $0 || echo 1.0\n";
/// Commands that the script calls, besides the shell and the hash commands.
const SCRIPT_COMMANDS: [&str; 10] =
    ["chmod", "head", "id", "ls", "mktemp", "readlink", "rm", "rmdir", "uname", "wc"];
const NOBODY: u32 = 65534;
const PATIENCE: Duration = Duration::from_secs(60);

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn write_program(path: &Path, content: &str) {
    // A separate process writes the file: children of parallel tests would inherit its descriptor,
    // and the file could not be executed.
    let script = "printf '%s' \"$2\" >\"$1\"; chmod 755 \"$1\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(path).arg(content);
    assert!(shell.status().unwrap().success());
}

/// Folders of one test: `place` for the installed program, `copies`, and `bin` for `PATH`.
struct BootstrapFolders {
    folder: tempfile::TempDir,
    program: Program,
}

impl BootstrapFolders {
    /// Returns `None` and prints the reason if others can write the folder of this test.
    fn new(test: &str) -> Option<Self> {
        let test_program = std::env::current_exe().unwrap().canonicalize().unwrap();
        let folder = tempfile::tempdir_in(test_program.parent().unwrap()).unwrap();
        let own_uid = fs::metadata(folder.path()).unwrap().uid();
        let is_protected = |folder: &&Path| {
            let metadata = fs::metadata(folder).unwrap();
            metadata.mode() & 0o022 == 0 && [0, own_uid].contains(&metadata.uid())
        };
        if let Some(writable) = folder.path().ancestors().find(|it| !is_protected(it)) {
            eprintln!("SKIPPED {test}: {} can be written by others", writable.display());
            return None;
        }
        for name in ["place", "copies", "bin"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            set_mode(&folder.path().join(name), 0o755);
        }
        let installed = folder.path().join("place/assay");
        write_program(&installed, PROGRAM);
        write_program(&folder.path().join("sent"), PROGRAM);
        let system = rustix::system::uname();
        let machine = [system.sysname(), system.machine()].map(|it| it.to_string_lossy());
        let sent = folder.path().join("sent");
        let program = Program::read(&sent, installed, machine.join(" ")).unwrap();
        Some(Self { folder, program })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the script in a shell with this `PATH`. Returns the output of the program that the
    /// script runs.
    fn run_script(&self, shell: &[&str], path: &str, is_copied: bool) -> String {
        let mut child = Command::new(find_executable(shell[0]).unwrap())
            .args(&shell[1..])
            .env("PATH", path)
            .env("TMPDIR", self.path("copies"))
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        start((&mut input, &mut output), &self.program, is_copied, PATIENCE).unwrap();
        drop(input);
        let mut printed = String::new();
        output.read_to_string(&mut printed).unwrap();
        child.wait().unwrap();
        printed.trim().to_owned()
    }

    fn assert_no_copies(&self) {
        assert_eq!(fs::read_dir(self.path("copies")).unwrap().count(), 0);
    }

    /// Creates a folder for `PATH` with the commands of the script and the given ones.
    fn path_with(&self, extra_commands: &[&str]) -> String {
        let bin = self.path("bin");
        for entry in fs::read_dir(&bin).unwrap() {
            fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for name in SCRIPT_COMMANDS.iter().chain(extra_commands) {
            symlink(find_executable(name).unwrap(), bin.join(name)).unwrap();
        }
        bin.display().to_string()
    }
}

fn usual_path() -> String {
    std::env::var("PATH").unwrap()
}

#[test]
fn shells_parse_every_script() {
    let running = Program::running().unwrap();
    for path in ["/opt/assay", "", "/it's/a \"$HOME\" `x`/!#/a\nb", "-n", "a\\", "ü/BYTES"] {
        let mut program =
            Program::read(Path::new("/dev/null"), path.into(), String::new()).unwrap();
        program.hash.clone_from(&running.hash);
        for is_copied in [false, true] {
            for patience in [Duration::ZERO, PATIENCE, Duration::MAX] {
                let script = script("0123456789abcdef", &program, is_copied, patience);
                assert_eq!(shells::check_syntax(&script), Ok(()), "{path:?} {is_copied}");
            }
        }
    }
}

/// Change that makes the program's file writable for others, or replaces it.
type Change = fn(&BootstrapFolders);

#[test]
fn runs_installed_program_that_others_cannot_change() {
    let test = "runs_installed_program_that_others_cannot_change";
    const SAME: [(&str, Change); 4] = [
        ("as it is", |_| {}),
        ("only its user may read the folder", |it| set_mode(&it.path("place"), 0o700)),
        ("a link to it", |it| {
            fs::rename(it.path("place/assay"), it.path("place/assay-1")).unwrap();
            symlink("assay-1", it.path("place/assay")).unwrap();
        }),
        ("a folder that is a link", |it| {
            fs::rename(it.path("place"), it.path("place-1")).unwrap();
            symlink("place-1", it.path("place")).unwrap();
        }),
    ];
    for shell in shells::installed_shells() {
        for (case, change) in SAME {
            let Some(folders) = BootstrapFolders::new(test) else { return };
            change(&folders);
            let real = folders.path("place/assay").canonicalize().unwrap();
            let ran = folders.run_script(shell, &usual_path(), false);
            assert_eq!(ran, format!("ran {}", real.display()), "{shell:?}: {case}");
            assert_eq!(
                folders.run_script(shell, &usual_path(), true),
                "ran ./assay",
                "{shell:?}"
            );
            folders.assert_no_copies();
        }
    }
}

#[test]
fn never_runs_program_that_others_can_change() {
    let test = "never_runs_program_that_others_can_change";
    const FOREIGN: [(&str, Change); 8] = [
        ("another one of the same size", |it| write_program(&it.path("place/assay"), PLANTED)),
        ("a file that a group may write", |it| set_mode(&it.path("place/assay"), 0o775)),
        ("a file that others may write", |it| set_mode(&it.path("place/assay"), 0o757)),
        ("a folder that a group may write", |it| set_mode(&it.path("place"), 0o775)),
        ("a folder that others may write", |it| set_mode(&it.path("place"), 0o757)),
        ("a folder like /tmp", |it| set_mode(&it.path("place"), 0o1777)),
        ("a folder above that others may write", |it| set_mode(it.folder.path(), 0o1777)),
        ("a link to where others may write", |it| {
            fs::create_dir(it.path("open")).unwrap();
            set_mode(&it.path("open"), 0o777);
            fs::rename(it.path("place/assay"), it.path("open/assay")).unwrap();
            symlink("../open/assay", it.path("place/assay")).unwrap();
        }),
    ];
    const OF_NOBODY: [(&str, Change); 2] = [
        ("a file of nobody", |it| chown(it.path("place/assay"), Some(NOBODY), None).unwrap()),
        ("a folder of nobody", |it| chown(it.path("place"), Some(NOBODY), None).unwrap()),
    ];
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let of_nobody = if is_root { &OF_NOBODY[..] } else { &[] };
    for shell in shells::installed_shells() {
        for (case, change) in FOREIGN.iter().chain(of_nobody) {
            let Some(folders) = BootstrapFolders::new(test) else { return };
            change(&folders);
            let ran = folders.run_script(shell, &usual_path(), false);
            assert_eq!(ran, "ran ./assay", "{shell:?}: {case}");
            folders.assert_no_copies();
        }
    }
}

#[test]
fn needs_a_hash_command_for_installed_program() {
    let test = "needs_a_hash_command_for_installed_program";
    let Some(folders) = BootstrapFolders::new(test) else { return };
    let expected = format!("ran {}", folders.path("place/assay").display());
    assert_eq!(folders.run_script(&["sh"], &folders.path_with(&[]), false), "ran ./assay");
    for command in ["openssl", "sha256sum", "shasum"] {
        if find_executable(command).is_some() {
            let ran = folders.run_script(&["sh"], &folders.path_with(&[command]), false);
            assert_eq!(ran, expected, "{command}");
        }
    }
}

#[test]
fn runs_copy_although_its_folder_is_renamed() {
    let Some(folders) = BootstrapFolders::new("runs_copy_although_its_folder_is_renamed")
    else {
        return;
    };
    set_mode(&folders.path("copies"), 0o777);
    write_program(&folders.path("planted"), PLANTED);
    let path = folders.path_with(&["cp", "mkdir", "mv"]);
    fs::remove_file(folders.path("bin/head")).unwrap();
    let head = format!(
        "#!/bin/sh\ncd {}\nfor f in tmp.*; do mv $f aside; mkdir $f; cp ../planted $f/assay; done\n\
         exec {} \"$@\"\n",
        folders.path("copies").display(),
        find_executable("head").unwrap().display()
    );
    write_program(&folders.path("bin/head"), &head);
    assert_eq!(folders.run_script(&["sh"], &path, true), "ran ./assay");
    assert!(folders.path("copies/aside").is_dir());
}
