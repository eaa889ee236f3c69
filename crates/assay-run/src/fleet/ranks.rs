//! MPI ranks on both hosts of a pair. The agent of the first host starts the launcher; instead of
//! `ssh` the launcher runs a script, through which the agent of the other host starts the
//! launcher's daemon.
//!
//! Hence no host needs a login on the other one, nor an installed assay. The daemon connects to its
//! launcher, and the ranks connect to each other, over the network, as in any job.

use std::net::{IpAddr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use std::{fs, io};

use assay_fleet::process::{self, ChildCommand, ChildStatus};
use assay_fleet::remote::calls::{Call, CallError};
use assay_fleet::root::Root;
use assay_model::failure::FailureReason;
use assay_model::mpi_installation::MpiLauncherKind;
use assay_model::path_text;
use serde::{Deserialize, Serialize};

use super::pair_end::{MPI, PairEnd};
use crate::network::error::NetworkError;
use crate::network::setup::local_address_for;
use crate::program::own_program;
use crate::recorder::Recorder;

/// Daemons that launchers start on other hosts: Hydra's, Intel MPI's, Open MPI's up to version 4
/// and from version 5.
const DAEMONS: [&str; 4] = ["hydra_pmi_proxy", "hydra_bstrap_proxy", "orted", "prted"];
/// Script instead of `ssh HOST COMMAND`. Passes the command on in files, since the launcher waits
/// only for this process. Intel MPI also starts a daemon on its own host, by its system name, which
/// the other host may be unable to resolve.
const SCRIPT: &str = r#"#!/bin/sh
own='OWN'
host=$1
shift
command=$(printf '%s' "$*" | sed "s/--upstream-host [^ ]*/--upstream-host $own/")
[ "$host" = "$own" ] && exec /bin/sh -c "$command"
folder=${0%/*}
printf '%s' "$command" >"$folder/asking" && mv "$folder/asking" "$folder/asked"
until [ -e "$folder/ended" ]; do sleep 0.05; done
cat "$folder/said" >&2
exit "$(cat "$folder/ended")"
"#;
/// Timeout of the reply with the location of the other end's program.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Request of the end that begins.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RankRequest {
    /// Requests the path of the program and the identity of the host.
    Place,
    /// Requests the start of this daemon; the reply contains its exit code and output.
    Start(Vec<String>),
}

/// Reply of the other end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RankReply {
    Place(RankHost),
    Ended { code: i32, said: String },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct RankHost {
    /// Path that starts assay.
    program: String,
    /// Host name according to the system.
    name: String,
    /// Boot identifier of the kernel; equal for containers of one machine.
    kernel: Option<String>,
}

impl RankHost {
    fn local() -> io::Result<Self> {
        let text = |file: &str| Root::machine().text(file);
        Ok(Self {
            program: path_text::encode(own_program()?.as_os_str()),
            name: text("proc/sys/kernel/hostname").unwrap_or_default(),
            kernel: text("proc/sys/kernel/random/boot_id"),
        })
    }
}

/// Other end of a pair, for one launch.
pub(crate) struct RemoteRanks {
    /// Addresses of both hosts, this one first.
    pub(crate) addresses: [String; 2],
    /// Paths of assay on both hosts.
    pub(crate) programs: [String; 2],
    /// Script that replaces `ssh`.
    pub(crate) shell: PathBuf,
    /// Whether both hosts are containers or network namespaces of one machine.
    pub(crate) is_one_kernel: bool,
    call: Call,
}

impl RemoteRanks {
    /// Connects to the other end of the case's pair; returns `None` if the case has no pair.
    /// `folder` belongs to this launch.
    pub(crate) fn connect(
        recorder: &mut Recorder<'_, '_>,
        starter: MpiLauncherKind,
        folder: &Path,
    ) -> Result<Option<Self>, NetworkError> {
        // The connection to its port shows which address is reachable; the port is not needed any
        // more.
        let Some(PairEnd { address, .. }) = PairEnd::open(recorder)? else { return Ok(None) };
        let own = local_address_for(SocketAddr::new(address.ip(), 9));
        if own == address.ip() {
            return Err(NetworkError::SameMachine { address: own });
        }
        let gone = || CallError::Over { peer: address.to_string() };
        let call = recorder.call_peer(MPI).ok_or_else(|| NetworkError::Call(gone()))?;
        let asked = call.send(&RankRequest::Place).and_then(|()| call.receive(REPLY_TIMEOUT));
        let there = match asked.map_err(NetworkError::Call)? {
            RankReply::Place(there) => there,
            RankReply::Ended { said, .. } => {
                let peer = call.peer().to_owned();
                return Err(NetworkError::FarEnd { peer, causes: said });
            }
        };
        let shell = folder.join("reach");
        let here = RankHost::local().and_then(|here| write_script(&shell, own).map(|()| here));
        let here = here.map_err(|source| NetworkError::Start { source })?;
        if starter == MpiLauncherKind::Prrte && here.name == there.name {
            return Err(NetworkError::SameName { name: here.name });
        }
        let is_one_kernel = here.kernel.is_some() && here.kernel == there.kernel;
        let programs = [here.program, there.program];
        let addresses = [own.to_string(), address.ip().to_string()];
        Ok(Some(Self { addresses, programs, shell, is_one_kernel, call }))
    }

    /// Lets the other end start the launcher's daemon, until `over` is set. Dropping the call stops
    /// the daemon.
    pub(crate) fn serve(self, over: &AtomicBool) {
        let folder = self.shell.parent().unwrap_or(Path::new("/"));
        let asked = loop {
            match fs::read_to_string(folder.join("asked")) {
                Ok(asked) => break asked,
                Err(_) if over.load(Ordering::Relaxed) => return,
                Err(_) => thread::sleep(POLL_INTERVAL),
            }
        };
        let (code, said) = match self.start_remote(&asked, over) {
            Ok(RankReply::Ended { code, said }) => (code, said),
            Ok(RankReply::Place(_)) => {
                (1, "the other host sent an unexpected reply\n".to_owned())
            }
            Err(error) => (1, FailureReason::error_line(&error) + "\n"),
        };
        // Without the folder no launcher waits for the result.
        let _ = fs::write(folder.join("said"), said)
            .and_then(|()| fs::write(folder.join("ending"), code.to_string()))
            .and_then(|()| fs::rename(folder.join("ending"), folder.join("ended")));
    }

    fn start_remote(&self, asked: &str, over: &AtomicBool) -> Result<RankReply, CallError> {
        self.call.send(&RankRequest::Start(daemon_words(asked)))?;
        loop {
            match self.call.receive(10 * POLL_INTERVAL) {
                Err(CallError::Timeout { .. }) if !over.load(Ordering::Relaxed) => {}
                heard => return heard,
            }
        }
    }
}

fn write_script(shell: &Path, own: IpAddr) -> io::Result<()> {
    use std::io::Write as _;
    let options = fs::OpenOptions::new().write(true).create_new(true).mode(0o700).to_owned();
    options.open(shell)?.write_all(script(own).as_bytes())
}

fn script(own: IpAddr) -> String {
    SCRIPT.replace("OWN", &own.to_string())
}

/// Splits a shell command into words, beginning with the daemon: Open MPI sets variables before it.
fn daemon_words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for letter in command.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' | ';' if !is_quoted => words.push(String::new()),
            other => words.last_mut().expect("there is one from the beginning").push(other),
        }
    }
    words.into_iter().skip_while(|word| !is_daemon(word)).filter(|it| !it.is_empty()).collect()
}

fn is_daemon(word: &str) -> bool {
    DAEMONS.contains(&word.rsplit('/').next().unwrap_or_default())
}

/// Starts launcher daemons, and no other program, until the other end hangs up.
pub(crate) fn serve_call(call: &Call) {
    while let Ok(asked) = call.receive(Duration::MAX) {
        let answer = match asked {
            RankRequest::Place => match RankHost::local() {
                Ok(here) => RankReply::Place(here),
                Err(error) => RankReply::Ended { code: 1, said: error.to_string() },
            },
            RankRequest::Start(words) => start_daemon(&words, call.peer_gone()),
        };
        if call.send(&answer).is_err() {
            break;
        }
    }
}

fn start_daemon(words: &[String], over: &AtomicBool) -> RankReply {
    let Some((program, arguments)) = words.split_first().filter(|it| is_daemon(it.0)) else {
        let daemons = DAEMONS.join(", ");
        let said = format!("only daemons of launchers can be started: {daemons}\n");
        return RankReply::Ended { code: 1, said };
    };
    let mut command = ChildCommand::new(path_text::decode_path(program));
    command.arguments = arguments.iter().map(|it| path_text::decode_word(it)).collect();
    command.directory = Some("/".into());
    // Sets the library path as Open MPI's shell command would. Ranks of Intel MPI would load
    // another libfabric by it than those on the launcher's host, and fail to connect.
    let prefix = Path::new(program).parent().and_then(Path::parent);
    let is_open = program.ends_with("orted") || program.ends_with("prted");
    if let Some(prefix) = prefix.filter(|it| is_open && !it.as_os_str().is_empty()) {
        let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        // An empty entry would mean the working folder.
        let more = std::env::split_paths(&inherited).filter(|it| !it.as_os_str().is_empty());
        let folders =
            std::env::join_paths(std::iter::once(prefix.join("lib")).chain(more)).ok();
        command.environment.push(("LD_LIBRARY_PATH".into(), folders));
    }
    match process::run(&command, over) {
        Ok(ended) => {
            let code = if let ChildStatus::Exited(code) = ended.status { code } else { 1 };
            let said = String::from_utf8_lossy(&ended.output.stderr).into_owned();
            RankReply::Ended { code, said }
        }
        Err(error) => {
            RankReply::Ended { code: 1, said: FailureReason::error_line(&error) + "\n" }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command as Shell, Stdio};

    use super::*;

    #[test]
    fn shells_read_the_script_in_place_of_ssh() {
        use std::io::Write as _;
        let installed = |it: &&[&str]| process::find_executable(it[0]).is_some();
        let shells = [&["sh"][..], &["dash"], &["bash"], &["busybox", "sh"]];
        for shell in shells.into_iter().filter(installed) {
            for own in ["192.0.2.1", "2001:db8::1"] {
                let mut command = Shell::new(shell[0]);
                command.args(&shell[1..]).arg("-n").stdin(Stdio::piped());
                let mut child = command.spawn().unwrap();
                let script = script(own.parse().unwrap());
                child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
                assert!(child.wait().unwrap().success(), "{shell:?}: {script}");
            }
        }
    }

    #[test]
    fn extracts_only_the_daemon_from_a_shell_command() {
        for (command, expected) in [
            (
                r#""/usr/bin/hydra_pmi_proxy" --control-port 10.0.0.1:4567 --rmk user"#,
                &[
                    "/usr/bin/hydra_pmi_proxy",
                    "--control-port",
                    "10.0.0.1:4567",
                    "--rmk",
                    "user",
                ][..],
            ),
            (
                r#"PATH=/opt/bin:$PATH ; export PATH ; /opt/bin/orted -mca hnp_uri "1.0;tcp://10.0.0.1:99""#,
                &["/opt/bin/orted", "-mca", "hnp_uri", "1.0;tcp://10.0.0.1:99"],
            ),
            ("rm -rf /", &[]),
        ] {
            assert_eq!(daemon_words(command), expected, "{command}");
        }
        let refused = start_daemon(&["sh".into(), "orted".into()], &AtomicBool::new(false));
        assert!(matches!(refused, RankReply::Ended { code: 1, .. }), "{refused:?}");
    }
}
