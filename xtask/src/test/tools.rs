//! Tests whose result must not depend on installed tools, in two environments: no tool, and a stand-in for each.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::{env, fs};

use anyhow::Result;
use assay_adapters::tool::TOOLS;

use crate::command;

/// Modules whose tests start no tool.
const MODULES: [&str; 4] = ["bad_input::", "help_texts::", "planning::", "several_suites::"];

/// Runs them twice; a test that depends on installed tools fails in one environment.
pub(crate) fn check(root: &Path) -> Result<()> {
    let names: BTreeSet<&str> =
        TOOLS.iter().flat_map(|tool| tool.detect.programs).copied().collect();
    let [none, all] = ["none", "all"].map(|it| root.join("target/tools").join(it));
    let usual = env::var_os("PATH").unwrap_or_default();
    for folder in [&none, &all] {
        drop(fs::remove_dir_all(folder));
        fs::create_dir_all(folder)?;
    }
    for folder in env::split_paths(&usual) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            if !name.to_str().is_some_and(|it| names.contains(it)) {
                // The first of a name counts, as on PATH.
                drop(symlink(entry.path(), none.join(name)));
            }
        }
    }
    for name in names {
        symlink("/bin/sh", all.join(name))?;
    }
    let path = format!("{}:{}", usual.display(), all.display());
    for path in [none.display().to_string(), path] {
        let runner = format!("target.'cfg(unix)'.runner=['env', 'PATH={path}']");
        let mut cargo = command::cargo(root);
        cargo.args(["test", "--quiet", "--locked", "--package", "assay", "--test", "it"]);
        cargo.args(["--config", &runner, "--"]).args(MODULES);
        for tool in TOOLS {
            cargo.env_remove(tool.detect.path_variable);
        }
        command::run(&mut cargo)?;
    }
    Ok(())
}
