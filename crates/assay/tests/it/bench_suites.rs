//! Suites of `cargo xtask bench`: each is valid and can be planned with the peers that are installed.

use std::path::Path;
use std::process::Command;

/// Programs that the suites name themselves, beside `sh` and assay.
const PEERS: [&str; 2] = ["hpcc", "cargo"];

#[test]
fn every_suite_is_planned() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let program = Path::new(env!("CARGO_BIN_EXE_assay"));
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = program.parent().map(Path::to_owned).into_iter();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&others))).unwrap();
    let mut planned = 0;
    for file in std::fs::read_dir(root.join("suites/bench")).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_none_or(|it| it != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        if let Some(missing) =
            PEERS.into_iter().find(|it| text.contains(it) && !is_on(&path, it))
        {
            println!("{}: {missing} is not installed", file.display());
            continue;
        }
        let mut dry = Command::new(program);
        dry.arg("run").arg(&file).arg("--dry-run").env("PATH", &path).current_dir(&root);
        let output = dry.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {errors}", file.display());
        planned += 1;
    }
    assert!(planned > 8, "{planned} suites");
}

fn is_on(path: &std::ffi::OsStr, program: &str) -> bool {
    std::env::split_paths(path).any(|folder| folder.join(program).is_file())
}
