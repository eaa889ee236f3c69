//! Starts other programs for all of this crate. Does not interpret their output.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};

/// Returns a command for `program`, started at the root of the repository.
pub fn at_root(root: &Path, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root);
    command
}

/// Returns a command for the cargo that started this program, so that both use the same toolchain.
pub fn cargo(root: &Path) -> Command {
    at_root(root, std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Returns the same command with default signal handling.
///
/// A script that starts this program in the background (`nohup cargo xtask ci &`) makes it ignore
/// signals. Its children would inherit that, and some tests interrupt them.
pub fn interruptible_cargo(root: &Path) -> Command {
    let mut command = at_root(root, "env");
    command.arg("--default-signal=HUP,INT,QUIT").arg(cargo(root).get_program());
    command
}

/// Runs a command to the end with the terminal as its output; fails unless it exits with 0.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start {}", format_command(command)))?;
    if !status.success() {
        bail!("{} failed: {status}", format_command(command));
    }
    Ok(())
}

/// Runs a command to the end and returns its standard output. Fails unless it exits with 0; the
/// error quotes both outputs.
pub fn output(command: &mut Command) -> Result<String> {
    let output = capture(command)?;
    if !output.status.success() {
        bail!(
            "{} ended with {}\n{}{}",
            format_command(command),
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("{} printed invalid UTF-8", format_command(command)))
}

/// Runs a command to the end and returns both outputs, with any exit status.
pub fn capture(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", format_command(command)))
}

/// Whether a program of this name can be started.
pub fn is_installed(program: &str) -> bool {
    let started = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    !matches!(started, Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Formats a command as typed in a shell, for messages and tables.
pub fn format_command(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!("{}={}", name.to_string_lossy(), value?.to_string_lossy()))
    });
    // Omits the location of the toolchain, which is specific to this machine.
    let toolchain = Path::new(command.get_program()).ends_with("cargo");
    let program = if toolchain { OsStr::new("cargo") } else { command.get_program() };
    let words = std::iter::once(program).chain(command.get_args());
    variables
        .chain(words.map(|word| word.to_string_lossy().into_owned()))
        .collect::<Vec<_>>()
        .join(" ")
}
