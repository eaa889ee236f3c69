//! Line prefixes of launchers and log collectors: a file has the same account with them.

/// Prefix of a line, by its number.
pub(super) type LinePrefix = (&'static str, fn(usize) -> String);

pub(super) const PREFIXES: &[LinePrefix] = &[
    ("srun --label", |_| " 0: ".to_owned()),
    ("Open MPI 4 --tag-output", |_| "[1,0]<stdout>:".to_owned()),
    ("Open MPI 5 --tag-output", |_| "[prterun-n1-7@1,0]<stdout>: ".to_owned()),
    ("Open MPI --timestamp-output", |_| "Wed Jan  4 10:00:00 2023[1,0]<stdout>:".to_owned()),
    ("mpiexec -l", |_| "[0] ".to_owned()),
    ("docker compose", |_| "client  | ".to_owned()),
    ("docker", |at| format!("2023-01-04T10:00:{:02}.5Z ", at % 60)),
    ("kubectl", |_| "[pod/fio-1/fio] 2023-01-04T10:00:00.123456789Z ".to_owned()),
    ("ts", |at| format!("Jan  4 10:00:{:02} ", at % 60)),
    ("ts of ISO", |at| format!("2023-01-04 10:00:{:02} ", at % 60)),
    ("ts of seconds", |at| format!("16728264{:02}.5 ", at % 60)),
    ("journalctl", |_| "Jan  4 10:00:00 node7 job.sh[4711]: ".to_owned()),
    ("pdsh", |_| "node7: ".to_owned()),
    ("mail", |_| "> ".to_owned()),
    ("listing", |_| "    ".to_owned()),
    ("colours", |_| "\u{1b}[32m\u{1b}[0m".to_owned()),
];

/// Puts a prefix before every line.
pub(super) fn prefix_lines(file: &[u8], prefix: fn(usize) -> String) -> Vec<u8> {
    let lines = file.split_inclusive(|byte| *byte == b'\n').enumerate();
    lines.flat_map(|(at, line)| [prefix(at).as_bytes(), line].concat()).collect()
}
