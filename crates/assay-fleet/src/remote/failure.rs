//! Failures of remote hosts and the recommended actions.

use std::io;
use std::sync::Arc;

use super::VERSION;
use super::frame::FrameError;

/// Failure of a remote host.
#[derive(Debug, thiserror::Error)]
pub enum HostFailure {
    #[error("cannot start {program}")]
    Start { program: String, source: io::Error },
    #[error("no answer within {seconds} s{}", detail_suffix(said))]
    Silent { seconds: u64, said: String },
    #[error("late: not done {seconds} s after {done} other hosts")]
    Straggler { done: usize, seconds: u64 },
    #[error("not done within {seconds} s")]
    Overdue { seconds: u64 },
    #[error("the connection ended{}", detail_suffix(said))]
    Ended { said: String },
    /// Closed pipe without a known reason.
    #[error("the connection ended")]
    Closed,
    /// Closed pipe after output that is not a reply.
    #[error("the connection ended after unexpected output {first:?}")]
    UnexpectedOutput { first: String },
    #[error("it printed {bytes} bytes of unexpected output, beginning with {first:?}")]
    LongBanner { bytes: u64, first: String },
    #[error(
        "the host is a {theirs}, but this program is for {ours}: it needs an assay for {theirs}"
    )]
    WrongMachine { theirs: String, ours: String },
    #[error("no folder on the host can run programs{}", detail_suffix(tried))]
    NoFolder { tried: String },
    #[error("cannot write the program to {folder}")]
    CopyFailed { folder: String },
    /// Error message of the host's loader or shell.
    #[error("the program does not start there{}", detail_suffix(said))]
    ProgramFailed { said: String },
    #[error("the agent is another program than this one")]
    ProgramChanged,
    #[error("the program for it is assay {theirs}, and this is {VERSION}")]
    WrongVersion { theirs: String },
    #[error("the reply is malformed")]
    Malformed(#[source] FrameError),
    #[error("the reply contains impossible figures")]
    ImplausibleFigures,
    #[error("it sent more than {mebibytes} MiB for one case, the limit of a case's results")]
    TooLarge { mebibytes: u64 },
    #[error("{reason}")]
    Refused { reason: String, advice: String },
    /// Failure of a relayed host, as reported by the relay.
    #[error("from {relay}: {reason}")]
    BehindRelay { relay: String, id: String, reason: String, advice: String },
    #[error("{relay}, through which it was reached, is lost")]
    RelayLost { relay: String, source: Arc<Self> },
    #[error("cannot create another thread on this machine")]
    NoThread,
    #[error("interrupted")]
    Interrupted,
}

/// Appends the first line of unexpected output to an error output.
fn with_unexpected_output(error_output: &str, first: &str) -> String {
    let printed = format!("it printed {first:?} {INSTEAD_OF_REPLY}");
    if error_output.is_empty() { printed } else { format!("{error_output} ({printed})") }
}

fn detail_suffix(detail: &str) -> String {
    if detail.is_empty() { String::new() } else { format!(": {detail}") }
}

/// Parts of error messages (OpenSSH, shells, resolver, kubectl) and their remedies. The first match
/// counts.
const REMEDIES: [(&str, &str); 19] = [
    (
        "Host key verification failed",
        "compare the key with the host's own, then renew it with ssh-keygen -R HOST and connect once by hand",
    ),
    (
        "Permission denied (",
        "let it in by key: ssh-copy-id HOST, or give another user with --via 'ssh USER@{host}'",
    ),
    (
        "Could not resolve hostname",
        "check the name, or give it an address in ~/.ssh/config or /etc/hosts",
    ),
    (
        "Connection refused",
        "no port is opened on that port: start the ssh server there, or name its port in --via",
    ),
    ("Connection timed out", "check that the host is up and that no firewall is in between"),
    ("No route to host", "check that the host is up and that no firewall is in between"),
    (
        "password is required",
        "let sudo do this command without a password (NOPASSWD in /etc/sudoers.d): assay never asks for one",
    ),
    ("Cannot open network namespace", "list the namespaces with `ip netns list`"),
    (
        "is forbidden",
        "kubectl needs the right to get pods and to create pods/exec: kubectl auth can-i create pods/exec",
    ),
    (
        "(NotFound)",
        "list the pods with `kubectl get pods -A`; give another namespace with -n in --via",
    ),
    (
        "is not valid for pod",
        "list its containers with `kubectl describe pod`; give one with -c in --via",
    ),
    ("container not found", NOT_RUNNING),
    ("cannot exec into a container in a completed pod", NOT_RUNNING),
    (
        "executable file not found",
        "the container has no shell (sh): take an image that has one, or add a container by kubectl debug and name it with -c",
    ),
    (
        "exit code 137",
        "it was killed: the memory limit of its container was too low, or its pod was deleted; check `kubectl describe pod`",
    ),
    (
        "connection to the server",
        "give the cluster with --kubeconfig or --context in --via, or in KUBECONFIG",
    ),
    (
        "not found",
        "the command of --via, or a shell (sh) on that host, is not there: check both by hand",
    ),
    ("No space left on device", "free space in its temporary folder, or set TMPDIR there"),
    (
        INSTEAD_OF_REPLY,
        "check by hand what starts there: the command of --via needs a shell (sh) at its end, whose profile prints only on a terminal: [ -t 1 ] || return",
    ),
];

const INSTEAD_OF_REPLY: &str = "instead of an answer";
const NOT_RUNNING: &str =
    "its container does not run: check `kubectl describe pod` for the reason";

impl HostFailure {
    pub(super) fn from_frame_error(error: FrameError) -> Self {
        match error {
            FrameError::Closed => Self::Closed,
            error => Self::Malformed(error),
        }
    }

    /// Adds the transport's error output where it explains the failure.
    pub(super) fn with_error_output(self, error_output: String) -> Self {
        match self {
            Self::Closed => Self::Ended { said: error_output },
            Self::UnexpectedOutput { first } => {
                Self::Ended { said: with_unexpected_output(&error_output, &first) }
            }
            other => other,
        }
    }

    /// Adds the host's unexpected output to the transport's error output.
    pub(super) fn append_unexpected_output(&self, error_output: String) -> String {
        match self {
            Self::UnexpectedOutput { first } => with_unexpected_output(&error_output, first),
            _ => error_output,
        }
    }

    /// Returns a stable name for scripts.
    pub fn id(&self) -> &str {
        match self {
            Self::Start { .. } => "transport-not-started",
            Self::Silent { .. } => "no-answer",
            Self::Straggler { .. } => "late",
            Self::Overdue { .. } => "overdue",
            Self::Ended { .. } | Self::Closed | Self::UnexpectedOutput { .. } => {
                "connection-ended"
            }
            Self::LongBanner { .. } => "profile-prints",
            Self::WrongMachine { .. } => "another-machine",
            Self::NoFolder { .. } => "no-folder-for-programs",
            Self::CopyFailed { .. } => "not-copied",
            Self::ProgramFailed { .. } => "program-does-not-start",
            Self::ProgramChanged => "program-changed",
            Self::WrongVersion { .. } => "another-version",
            Self::Malformed(_) | Self::ImplausibleFigures => "not-an-answer",
            Self::TooLarge { .. } => "too-much-data",
            Self::Refused { .. } => "refused",
            Self::BehindRelay { id, .. } => id,
            Self::RelayLost { .. } => "relay-lost",
            Self::NoThread => "no-thread",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the recommended action.
    pub fn advice(&self) -> &str {
        match self {
            Self::Start { .. } => "install it, or name another command with --via",
            Self::Silent { said, .. } | Self::Ended { said } => {
                let remedy = REMEDIES.iter().find(|(part, _)| said.contains(part));
                remedy.map_or(
                    "try the command of --via by hand, with a shell at its end",
                    |(_, advice)| advice,
                )
            }
            Self::Straggler { .. } | Self::Overdue { .. } => {
                "check the host with `assay doctor`, its mounts and its load"
            }
            Self::Closed | Self::UnexpectedOutput { .. } => {
                "try the command of --via by hand, with a shell at its end"
            }
            Self::LongBanner { .. } | Self::Malformed(_) => {
                "let its shell's profile print only on a terminal: [ -t 1 ] || return"
            }
            Self::WrongMachine { .. } => {
                "give it with --binary: the same version, built for that machine, or a folder with such builds"
            }
            Self::WrongVersion { .. } => {
                "give --binary a program that was built from the same sources as this one"
            }
            Self::NoFolder { .. } => "set TMPDIR there to a folder that is not mounted noexec",
            Self::CopyFailed { .. } => "free space there, or set TMPDIR to another folder",
            Self::ProgramFailed { .. } => {
                "it needs glibc, the C library, no older than where it was built: give a released build with --binary, which needs glibc 2.17, or take another image there"
            }
            Self::TooLarge { .. } => {
                "check the program on that host, or measure the case there alone"
            }
            Self::ProgramChanged | Self::ImplausibleFigures => {
                "the transport alters the data: try another --via"
            }
            Self::Refused { advice, .. } | Self::BehindRelay { advice, .. } => advice,
            Self::RelayLost { source, .. } => source.advice(),
            Self::NoThread => {
                "stop other programs here, or raise the limit of processes (ulimit -u)"
            }
            Self::Interrupted => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of kubectl 1.28, a kubelet 1.33 and containerd 1.6. Those of an API server were
    /// written from memory.
    #[test]
    fn kubectl_errors_have_remedies() {
        for (error_output, expected) in [
            (r#"Error from server (NotFound): pods "p" not found"#, "-n in --via"),
            (
                r#"Error from server (Forbidden): pods "p" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "default""#,
                "pods/exec",
            ),
            (
                "Error from server (BadRequest): container c is not valid for pod p",
                "-c in --via",
            ),
            (
                r#"error: unable to upgrade connection: container not found ("main")"#,
                "does not run",
            ),
            (
                r#"OCI runtime exec failed: exec failed: unable to start container process: exec: "sh": executable file not found in $PATH: unknown"#,
                "kubectl debug",
            ),
            ("command terminated with exit code 137", "memory limit"),
            (
                "The connection to the server localhost:8080 was refused - did you specify the right host or port?",
                "--kubeconfig",
            ),
            ("sh: 1: ssh: not found", "check both by hand"),
        ] {
            let failure = HostFailure::Ended { said: error_output.to_owned() };
            let advice = failure.advice();
            assert!(advice.contains(expected), "{error_output}: {advice}");
        }
    }
}
