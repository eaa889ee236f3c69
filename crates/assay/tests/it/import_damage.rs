//! Damaged and large result files: a refusal names place and cause, nothing of it is stored, and an
//! import keeps to its memory.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{World, files_below};

const STREAM: &str =
    include_str!("../../../assay-adapters/tests/golden/stream/5.10-two-threads.out");
const FIO: &str = include_str!("../../../assay-adapters/tests/golden/fio/3.33-mix.out");
const OSU: &str = include_str!("../../../assay-adapters/tests/golden/osu/7.5-latency.out");
const IOR: &str = include_str!("../../../assay-adapters/tests/golden/ior/3.3.0-write.out");
const IPERF3: &str = include_str!("../../../assay-adapters/tests/import/iperf3/3.12-c.txt");

/// Prints each line twice, as two ranks do.
fn interleave(text: &str) -> Vec<u8> {
    text.lines().map(|line| format!("{line}\n{line}\n")).collect::<String>().into_bytes()
}

fn encode_utf16(text: &str) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(u16::to_le_bytes).collect()
}

fn half(text: &str) -> &str {
    &text[..text.floor_char_boundary(text.len() / 2)]
}

#[test]
fn damaged_files_are_refused_with_place_and_cause() {
    let last_digit = OSU.trim_end().len() - 1;
    let nul = OSU.replacen("0.1", "0\0.1", 1);
    let world = World::new();
    for (name, bytes, cause) in [
        ("cut.json", half(FIO).as_bytes().to_vec(), "truncated"),
        ("cut-stream", half(STREAM).as_bytes().to_vec(), "truncated"),
        ("cut-ior", half(IOR).as_bytes().to_vec(), "truncated"),
        ("cut-iperf3", half(IPERF3).as_bytes().to_vec(), "truncated"),
        ("cut-number", OSU.as_bytes()[..last_digit].to_vec(), "its last line is incomplete"),
        ("cut-wide", encode_utf16(half(STREAM)), "truncated"),
        ("nul", nul.into_bytes(), "contains a NUL byte"),
        ("interleaved-osu", interleave(OSU), "several processes printed at once"),
        ("interleaved-iperf3", interleave(IPERF3), "several processes printed at once"),
        ("doubled-cut.json", format!("{FIO}{}", half(FIO)).into_bytes(), "truncated"),
        (
            "latin1",
            b"Ger\xe4t 5 \xb5s\n".to_vec(),
            "unknown format; it begins with \"Gerät 5 µs\"",
        ),
    ] {
        fs::write(world.path(name), &bytes).unwrap();
        let refused = world.assay(&["import", name]).failed_with(4).err;
        let has_place = refused.contains(&format!("[{name}:")) || refused.contains(": line ");
        assert!(has_place, "{name}: {refused}");
        for part in [format!("{name} was not imported"), cause.to_owned()] {
            assert!(refused.contains(&part), "{name}: {part}: {refused}");
        }
    }
    fs::File::create(world.path("sparse")).unwrap().set_len(1 << 30).unwrap();
    let refused = world.assay(&["import", "sparse"]).failed_with(4).err;
    assert!(refused.contains("it has 1 GiB, and at most 64 MiB are read"), "{refused}");
    assert!(world.json(&["list", "--json"])["runs"].as_array().unwrap().is_empty());
}

#[test]
fn copies_in_other_forms_are_imported_whole() {
    let world = World::new();
    for (name, bytes, measurements) in [
        // Equal documents are states of one run.
        ("doubled.json", format!("{FIO}{FIO}").into_bytes(), 1),
        ("doubled-stream", format!("{STREAM}{STREAM}").into_bytes(), 2),
        ("windows", OSU.replace('\n', "\r\n").into_bytes(), 1),
        ("wide", encode_utf16(IPERF3), 1),
        ("latin1", [b"Ger\xe4t\n".as_slice(), STREAM.as_bytes()].concat(), 1),
    ] {
        fs::write(world.path(name), bytes).unwrap();
        let imported = world.json(&["import", "--json", name]);
        assert_eq!(imported["imported"][0]["measurements"], measurements, "{name}: {imported}");
    }
}

#[test]
fn partial_import_stores_the_whole_ones_and_names_the_rest() {
    let world = World::new();
    world.write("both", &format!("{STREAM}{}", half(STREAM)));
    world.assay(&["import", "both"]).failed_with(4);
    let imported = world.json(&["import", "--partial", "--json", "both"]);
    let file = &imported["imported"][0];
    assert_eq!(file["measurements"], 1, "{imported}");
    let failed = file["failed"][0].as_str().unwrap();
    assert!(failed.starts_with("both:") && failed.contains("truncated"), "{imported}");
    assert_eq!(world.json(&["list", "--json"])["runs"].as_array().unwrap().len(), 1);
}

/// Returns the largest result file of each tool.
fn largest_inputs() -> Vec<PathBuf> {
    let goldens = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assay-adapters/tests/import");
    let folders = fs::read_dir(goldens).unwrap().map(|entry| entry.unwrap().path());
    let largest = |folder: PathBuf| {
        let files = files_below(&folder).into_iter();
        let files =
            files.filter(|it| it.extension().is_none_or(|it| it != "expected" && it != "md"));
        files.max_by_key(|file| file.metadata().unwrap().len())
    };
    folders.filter(|folder| folder.is_dir()).filter_map(largest).collect()
}

/// Imports a file with a limit on the memory that the program allocates, and returns its exit code.
fn import_within(world: &World, limit_bytes: usize, name: &str) -> Option<i32> {
    let script = format!("ulimit -d {} && exec \"$0\" \"$@\"", limit_bytes >> 10);
    let program = env!("CARGO_BIN_EXE_assay");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script, program, "import", "--partial", "--json", name]);
    command.current_dir(world.path(".")).env("XDG_DATA_HOME", world.path("."));
    command.output().unwrap().status.code()
}

/// Repeats the largest file of each tool to half a megabyte, or the number that is still accepted. Accepted
/// or refused, the program takes at most 64 MiB and three times the file (docs/security.md).
#[test]
fn large_files_take_bounded_memory() {
    const BYTES: usize = 1 << 19;
    let world = World::new();
    for input in largest_inputs() {
        let mut text = fs::read(&input).unwrap();
        if !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        let mut count = (BYTES / text.len()).max(1);
        loop {
            let repeated = text.repeat(count);
            fs::write(world.path("large"), &repeated).unwrap();
            let code = import_within(&world, (64 << 20) + 3 * repeated.len(), "large");
            assert!(matches!(code, Some(0 | 4)), "{} × {count}: {code:?}", input.display());
            if code == Some(0) || count == 1 {
                break;
            }
            count /= 2;
        }
    }
}
