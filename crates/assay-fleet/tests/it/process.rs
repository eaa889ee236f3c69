//! Children of `/bin/sh`: their results, and that none of their processes remains.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_fleet::process::{
    ChildCommand, ChildStatus, CompletedChild, ProcessError, find_executable, run,
};

fn shell(script: &str) -> ChildCommand {
    let mut command = ChildCommand::new("/bin/sh");
    command.arguments = vec!["-c".into(), script.into()];
    command
}

fn run_to_end(command: &ChildCommand) -> CompletedChild {
    run(command, &AtomicBool::new(false)).unwrap()
}

fn expect_error(command: &ChildCommand) -> ProcessError {
    run(command, &AtomicBool::new(false)).unwrap_err()
}

fn stdout(command: &ChildCommand) -> String {
    String::from_utf8(run_to_end(command).output.stdout).unwrap()
}

/// Returns whether a process is alive; zombies do not count.
fn is_alive(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, fields)| !fields.starts_with(['Z', 'X']))
}

#[test]
fn reports_exit_code_or_signal() {
    for (script, expected) in [
        ("exit 0", ChildStatus::Exited(0)),
        ("exit 3", ChildStatus::Exited(3)),
        ("kill -SEGV $$", ChildStatus::Killed(11)),
    ] {
        let completed = run_to_end(&shell(script));
        assert_eq!(completed.status, expected, "{script}");
        assert_eq!(completed.is_success(), script == "exit 0");
    }
}

#[test]
fn captures_both_streams_completely() {
    let script = "head -c 3000000 /dev/zero & head -c 2000000 /dev/zero >&2 & wait; echo end; echo end >&2";
    let output = run_to_end(&shell(script)).output;
    assert_eq!((output.stdout.len(), output.stderr.len()), (3_000_004, 2_000_004));
    assert!(output.stdout.ends_with(b"end\n") && output.stderr.ends_with(b"end\n"));
}

#[test]
fn passes_arguments_environment_and_empty_stdin() {
    let mut command = shell(r#"printf '%s|' "$@" "$SET" "${CARGO_MANIFEST_DIR-gone}"; cat"#);
    command.arguments.extend(["name".into(), "a b".into(), "*".into()]);
    command.environment =
        vec![("SET".into(), Some("x y".into())), ("CARGO_MANIFEST_DIR".into(), None)];
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert_eq!(stdout(&command), "a b|*|x y|gone|");
}

#[test]
fn removes_temporary_working_directory() {
    let first = PathBuf::from(stdout(&shell("touch left; pwd")).trim());
    assert!(first.is_absolute() && !first.exists());
    assert_ne!(stdout(&shell("pwd")).trim(), first.to_str().unwrap());
}

#[test]
fn keeps_given_working_directory() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = shell("pwd; touch made");
    command.directory = Some(directory.path().to_owned());
    assert_eq!(stdout(&command).trim(), directory.path().to_str().unwrap());
    assert!(directory.path().join("made").exists());
    command.directory = Some(directory.path().join("missing"));
    assert!(matches!(expect_error(&command), ProcessError::Directory { .. }));
}

#[test]
fn writes_input_files_and_reads_output_files() {
    let mut command = shell("cat in/HPL.dat > out; printf '\\0\\377' >> out");
    command.input_files = vec![("in/HPL.dat".into(), b"N 8\n".to_vec())];
    command.output_files = vec!["out".into(), "never-made".into()];
    let expected = BTreeMap::from([(PathBuf::from("out"), b"N 8\n\0\xff".to_vec())]);
    assert_eq!(run_to_end(&command).files, expected);
}

#[test]
fn rejects_outside_paths_and_existing_files() {
    for path in ["/etc/x", "../x", "a/../../x", "", "."] {
        let mut command = shell("true");
        command.input_files = vec![(path.into(), Vec::new())];
        assert!(matches!(expect_error(&command), ProcessError::OutsidePath { .. }), "{path}");
        command.input_files.clear();
        command.output_files = vec![path.into()];
        assert!(matches!(expect_error(&command), ProcessError::OutsidePath { .. }), "{path}");
    }
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("mine"), "precious").unwrap();
    let mut command = shell("true");
    command.directory = Some(directory.path().to_owned());
    command.input_files = vec![("mine".into(), b"new".to_vec())];
    assert!(matches!(expect_error(&command), ProcessError::WriteFile { .. }));
    assert_eq!(fs::read(directory.path().join("mine")).unwrap(), b"precious");
}

#[test]
fn rejects_unreadable_or_large_output_files() {
    let mut command = shell("mkdir file");
    command.output_files = vec!["file".into()];
    assert!(matches!(expect_error(&command), ProcessError::ReadFile { .. }));
    let mut command = shell("head -c 1001 /dev/zero > file");
    command.output_files = vec!["file".into()];
    command.cap_bytes = 1000;
    assert!(matches!(expect_error(&command), ProcessError::TooLarge { .. }));
    command.cap_bytes = 1001;
    assert_eq!(run_to_end(&command).files.len(), 1);
}

#[test]
fn stops_endless_output_at_cap() {
    for (script, expected) in [("yes", "standard output"), ("yes >&2", "standard error")] {
        let mut command = shell(script);
        command.cap_bytes = 100_000;
        let ProcessError::TooLarge { what, cap_bytes, .. } = expect_error(&command) else {
            panic!("{script} ended otherwise");
        };
        assert_eq!((what.as_str(), cap_bytes), (expected, 100_000));
    }
}

#[test]
fn distinguishes_missing_and_non_executable_programs() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    fs::write(&text, "no program").unwrap();
    for (program, executable, found) in [
        ("assay-no-such-program", false, false),
        ("/no/such/program", false, false),
        (text.to_str().unwrap(), false, true),
        (text.to_str().unwrap(), true, true),
    ] {
        let mode = if executable { 0o755 } else { 0o644 };
        fs::set_permissions(&text, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let error = expect_error(&ChildCommand::new(program));
        assert_eq!(matches!(error, ProcessError::NotExecutable { .. }), found, "{error}");
        assert_eq!(matches!(error, ProcessError::NotFound { .. }), !found, "{error}");
    }
    assert_eq!(find_executable("assay-no-such-program"), None);
    assert!(find_executable("sh").unwrap().is_absolute());
}

#[test]
fn affinity_applies_only_to_child() {
    let own = || {
        let status = fs::read_to_string("/proc/thread-self/status").unwrap();
        status.lines().find(|line| line.starts_with("Cpus_allowed_list")).unwrap().to_owned()
    };
    let before = own();
    let (_, list) = before.split_once(':').unwrap();
    let last: u32 = list.rsplit([',', '-', '\t']).next().unwrap().trim().parse().unwrap();
    let mut command = shell("grep Cpus_allowed_list /proc/self/status");
    command.cpus = vec![last];
    assert_eq!(stdout(&command), format!("Cpus_allowed_list:\t{last}\n"));
    assert_eq!(own(), before);
    for absent in [1023, 1024, u32::MAX] {
        command.cpus = vec![absent];
        assert!(matches!(expect_error(&command), ProcessError::Restrict { .. }), "{absent}");
    }
}

/// Script with three kinds of descendants: in the group of the child, in their own session, and
/// orphaned in their own session. Prints their process ids when all have started.
const FAMILY_SCRIPT: &str = "sleep 600 & echo $! >> ids; setsid sleep 600 & echo $! >> ids; \
    (setsid sh -c 'echo $$ >> ids; exec sleep 600' &); \
    while [ $(wc -l < ids) -lt 3 ]; do sleep 0.01; done; cat ids; ";

fn assert_all_gone(ids: &[u8], count: usize) {
    let ids = String::from_utf8(ids.to_vec()).unwrap();
    assert_eq!(ids.lines().count(), count);
    for id in ids.lines() {
        assert!(!is_alive(id), "{id} is still there");
    }
}

#[test]
fn deadline_kills_whole_family() {
    // The fourth descendant clears its environment, but is found while its parent lives.
    let mut command =
        shell(&format!("{FAMILY_SCRIPT} env -i setsid sleep 600 & echo $!; sleep 600"));
    // Long enough for a shell on a busy machine to start four programs.
    command.deadline = Some(Duration::from_secs(3));
    let ProcessError::Deadline { limit, output, .. } = expect_error(&command) else {
        panic!("a sleep ended before its time");
    };
    assert_eq!(limit, Duration::from_secs(3));
    assert_all_gone(&output.stdout, 4);
}

#[test]
fn kills_descendants_that_outlive_child() {
    assert_all_gone(&run_to_end(&shell(FAMILY_SCRIPT)).output.stdout, 3);
}

#[test]
fn cancellation_kills_child_that_ignores_sigterm() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = shell("trap '' TERM; echo $$ > id; while :; do sleep 1; done");
    command.directory = Some(directory.path().to_owned());
    let cancel = AtomicBool::new(false);
    let id = directory.path().join("id");
    let error = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&command, &cancel));
        while fs::read_to_string(&id).unwrap_or_default().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        cancel.store(true, Ordering::Relaxed);
        running.join().unwrap().unwrap_err()
    });
    assert!(matches!(error, ProcessError::Cancelled { .. }), "{error}");
    assert!(!is_alive(&fs::read_to_string(&id).unwrap()));
}

#[test]
fn raised_cancel_flag_ends_child_at_once() {
    let error = run(&shell("sleep 600"), &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, ProcessError::Cancelled { .. }), "{error}");
}

#[test]
fn parallel_children_do_not_kill_each_other() {
    let texts: Vec<String> = std::thread::scope(|scope| {
        let run = |number: u32| shell(&format!("sleep 0.{number}; echo {number}"));
        let running: Vec<_> =
            (1..6).map(|number| scope.spawn(move || stdout(&run(number)))).collect();
        running.into_iter().map(|running| running.join().unwrap()).collect()
    });
    assert_eq!(texts.concat(), "1\n2\n3\n4\n5\n");
}

#[test]
fn errors_name_program_and_reason() {
    let mut command = ChildCommand::new("/bin/sleep");
    command.arguments = vec!["600".into()];
    command.deadline = Some(Duration::from_millis(250));
    assert_eq!(expect_error(&command).to_string(), "/bin/sleep did not end within 0.25 s");
    assert_eq!(
        expect_error(&ChildCommand::new("nope")).to_string(),
        "cannot find the program nope"
    );
}
