//! Systems that lack something: calls of newer kernels, `/sys`, the rights of root, a home that can be
//! written, a folder for programs.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::program::World;

/// Runs a program whose system calls after Linux 3.10 the kernel refuses as unknown (seccomp(2)):
/// `statx`, `preadv2`, `pwritev2`, `copy_file_range`, `getrandom`, `memfd_create`, and all from 424 on, which
/// have the same numbers on all machines: `io_uring_setup`, `clone3`, `openat2`, `fchmodat2`.
const OLD_KERNEL: &str = r"
import ctypes, errno, os, platform, struct, sys
numbers = {
    'x86_64': [332, 327, 328, 326, 318, 319],
    'aarch64': [291, 286, 287, 285, 278, 279],
}[platform.machine()]
FIRST_COMMON, KILLED, ALLOWED = 424, 0x7ffc0000, 0x7fff0000
REFUSED = 0x00050000 | errno.ENOSYS
def statement(code, k, jt=0, jf=0):
    return struct.pack('=HBBI', code, jt, jf, k)
program = [statement(0x20, 0)]
for number in numbers:
    program += [statement(0x15, number, 0, 1), statement(0x06, REFUSED)]
program += [statement(0x35, FIRST_COMMON, 0, 1), statement(0x06, REFUSED), statement(0x06, ALLOWED)]
code = ctypes.create_string_buffer(b''.join(program))
class Filter(ctypes.Structure):
    _fields_ = [('length', ctypes.c_ushort), ('code', ctypes.c_void_p)]
libc = ctypes.CDLL(None, use_errno=True)
filter = Filter(len(program), ctypes.cast(code, ctypes.c_void_p))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(filter)):
    sys.exit('no filter: ' + os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
";

const ONE_CASE: &str = "name = \"one\"\nbudget = \"500ms\"\n\
    [[measure]]\nbenchmark = \"storage\"\noperation = \"read\"\npattern = \"random\"\n\
    bs = [\"4KiB\"]\nsize = \"1MiB\"\ndepth = 4\n";

/// Brief measurement of the memory, at every placement that is visible.
const STREAM: [&str; 8] =
    ["stream", "--placement", "all", "--array-size", "4MiB", "--budget", "shortest", "--json"];

/// Job of Vdbench on a tree of files.
const FILE_JOB: &str = "fsd=fsd1,anchor=TREE,depth=1,width=1,files=2,size=4k\n\
    fwd=fwd1,fsd=fsd1,operation=read,fileio=random,threads=1\n\
    rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=2,interval=1\n";

/// Creates a world that every user may enter, with a program that every user may run.
fn open_world() -> World {
    let world = World::new();
    let copy = world.copy_of_program();
    for path in [world.path("."), copy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    world
}

/// Runs the program behind other words; `None` and the reason if they are not possible here.
fn run_behind(test: &str, world: &World, words: &[&str], arguments: &[&str]) -> Option<Output> {
    let command = |more: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(more).current_dir(world.path("."));
        command.env("XDG_DATA_HOME", world.path(".")).env_remove("ASSAY_STORE");
        command.stdin(Stdio::null()).output()
    };
    if !command(&["true"]).is_ok_and(|it| it.status.success()) {
        eprintln!("SKIPPED {test}: not allowed here: {}", words.join(" "));
        return None;
    }
    let program = world.path("other-assay");
    Some(command(&[&[program.to_str().unwrap()][..], arguments].concat()).unwrap())
}

#[track_caller]
fn read_document(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[track_caller]
fn assert_complete(document: &Value) {
    assert_eq!(document["run"]["status"], "complete", "{document:#}");
    assert_eq!(document["failures"], Value::Array(Vec::new()), "{document:#}");
    assert!(!document["results"].as_array().unwrap().is_empty());
}

#[test]
fn measures_on_kernel_without_newer_calls() {
    let test = "measures_on_kernel_without_newer_calls";
    let world = open_world();
    let script = world.write("old-kernel.py", OLD_KERNEL);
    let words = ["python3", script.to_str().unwrap()];
    world.write("one.toml", ONE_CASE);
    world.write("job", &FILE_JOB.replace("TREE", world.path("tree").to_str().unwrap()));
    let run = ["run", "./one.toml", "--target", "file", "--json"];
    let Some(output) = run_behind(test, &world, &words, &run) else { return };
    let document = read_document(&output);
    assert_complete(&document);
    let text = document.to_string();
    assert!(text.contains("libaio"), "{document:#}");
    for arguments in [
        &STREAM[..],
        &["verify"],
        &["ior", "-a", "POSIX", "-b", "64k", "-t", "64k", "-o", "ior-file"],
        &["vdbench", "-f", "job"],
        &["storage", "clean"],
    ] {
        let output = run_behind(test, &world, &words, arguments).expect("it could run before");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    }
}

#[test]
fn measures_without_sys() {
    let test = "measures_without_sys";
    let world = open_world();
    let words = ["unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys && exec \"$@\"", "sh"];
    let run = STREAM;
    let Some(output) = run_behind(test, &world, &words, &run) else { return };
    assert_complete(&read_document(&output));
    let output = run_behind(test, &world, &words, &["doctor", "--json"]).unwrap();
    let document = read_document(&output);
    let findings = document["findings"].as_array().unwrap();
    let hidden = findings.iter().filter(|it| it["outcome"] == "not-visible");
    assert!(hidden.count() > 0, "what cannot be read is named: {document:#}");
}

#[test]
fn ordinary_user_without_home_needs_a_store() {
    let test = "ordinary_user_without_home_needs_a_store";
    let world = open_world();
    fs::create_dir(world.path("shut")).unwrap();
    let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let home = format!("HOME={}", world.path("shut").display());
    let words = [&user[..], &["env", "-u", "XDG_DATA_HOME", &home]].concat();
    let run = STREAM;
    let Some(output) = run_behind(test, &world, &words, &run) else { return };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{output:?}");
    assert!(said.contains("--store") && said.contains("ermission denied"), "{said}");
    fs::create_dir(world.path("store")).unwrap();
    fs::set_permissions(world.path("store"), fs::Permissions::from_mode(0o777)).unwrap();
    let stored = [&run[..], &["--store", "store"]].concat();
    assert_complete(&read_document(&run_behind(test, &world, &words, &stored).unwrap()));
}

#[test]
fn host_without_folder_for_programs_is_named() {
    let test = "host_without_folder_for_programs_is_named";
    let world = open_world();
    let mounts = ["/dev/shm", "/var/tmp", "/tmp"]
        .map(|it| format!("mount -t tmpfs -o noexec none {it}"))
        .join(" && ");
    let words = ["unshare", "-m", "sh", "-c", &format!("{mounts} && exec \"$@\""), "sh"];
    if run_behind(test, &world, &words, &["--version"]).is_none() {
        return;
    }
    let via = format!(
        "host=$1; shift; PATH=/usr/bin:/bin HOME=/proc TMPDIR=/tmp \
         exec unshare -m sh -c '{mounts} && exec \"$@\"' sh \"$@\"\n"
    );
    world.write("via.sh", &via);
    let mut doctor = Command::new(world.path("other-assay"));
    doctor.args(["doctor", "--hosts", "shut", "--via", "sh via.sh {host}", "--json"]);
    let output = doctor.current_dir(world.path(".")).stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let failure = &document["hosts"][0]["failure"];
    assert_eq!(failure["id"], "no-folder-for-programs", "{failure}");
    assert!(failure["reason"].as_str().unwrap().contains("/dev/shm"), "{failure}");
    assert!(failure["advice"].as_str().unwrap().contains("noexec"), "{failure}");
}
