//! Failures of remote hosts and the recommended actions.

use std::io;
use std::sync::Arc;

use super::VERSION;
use super::frame::FrameError;

/// Failure of a remote host.
#[derive(Debug, thiserror::Error)]
pub enum HostFailure {
    #[error("{program} cannot be started")]
    Start { program: String, source: io::Error },
    #[error("no answer within {seconds} s{}", after(said))]
    Silent { seconds: u64, said: String },
    #[error("late: {done} other hosts were done, and it was not {seconds} s later")]
    Late { done: usize, seconds: u64 },
    #[error("not done within {seconds} s")]
    Overdue { seconds: u64 },
    #[error("the connection ended{}", after(said))]
    Ended { said: String },
    /// Closed pipe without a known reason.
    #[error("the connection ended")]
    Closed,
    /// Closed pipe after output that is no reply.
    #[error("the connection ended after it had printed {first:?}")]
    Printed { first: String },
    #[error(
        "it prints {bytes} bytes before it does what it is asked, and begins with {first:?}"
    )]
    Greeting { bytes: u64, first: String },
    #[error("it is a {theirs}, and this program is for {ours}: it needs an assay for {theirs}")]
    Machine { theirs: String, ours: String },
    #[error("it has no folder for programs{}", after(tried))]
    NoFolder { tried: String },
    #[error("the program could not be written to {folder}")]
    NotCopied { folder: String },
    /// Error message of its loader or shell.
    #[error("the program does not start there{}", after(said))]
    Unable { said: String },
    #[error("its program is another one than was sent")]
    Changed,
    #[error("the program for it is assay {theirs}, and this is {VERSION}")]
    Version { theirs: String },
    #[error("what comes through the pipe is no answer")]
    Foreign(#[source] FrameError),
    #[error("it says that it did more than can be done")]
    Impossible,
    #[error("{reason}")]
    Refused { reason: String, advice: String },
    /// Failure of a relayed host, as reported by the relay.
    #[error("from {relay}: {reason}")]
    Beyond { relay: String, id: String, reason: String, advice: String },
    #[error("{relay}, through which it was reached, is lost")]
    Relay { relay: String, source: Arc<Self> },
    #[error("this machine has no thread left to talk to it")]
    NoThread,
    #[error("interrupted")]
    Interrupted,
}

fn besides(said: &str, first: &str) -> String {
    let printed = format!("it printed {first:?} {INSTEAD}");
    if said.is_empty() { printed } else { format!("{said} ({printed})") }
}

fn after(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}

/// Error messages of transports (OpenSSH, shells, resolver, kubectl) and their remedies. The first
/// match counts.
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
    ("Cannot open network namespace", "ip netns list names those that there are"),
    (
        "is forbidden",
        "kubectl needs the right to get pods and to create pods/exec: kubectl auth can-i create pods/exec",
    ),
    (
        "(NotFound)",
        "kubectl get pods -A names those that there are: give another namespace with -n in --via",
    ),
    (
        "is not valid for pod",
        "kubectl describe pod names its containers: give one with -c in --via",
    ),
    ("container not found", NOT_RUNNING),
    ("cannot exec into a container in a completed pod", NOT_RUNNING),
    (
        "executable file not found",
        "the container has no shell (sh): take an image that has one, or add a container by kubectl debug and name it with -c",
    ),
    (
        "exit code 137",
        "it was killed: the memory limit of its container was too low, or its pod was deleted; kubectl describe pod tells",
    ),
    (
        "connection to the server",
        "kubectl talks to no cluster: give it with --kubeconfig or --context in --via, or in KUBECONFIG",
    ),
    (
        "not found",
        "the command of --via, or a shell (sh) on that host, is not there: check both by hand",
    ),
    ("No space left on device", "free space in its temporary folder, or set TMPDIR there"),
    (
        INSTEAD,
        "see by hand what starts there: the command of --via needs a shell (sh) at its end, whose profile prints only where a person looks: [ -t 1 ] || return",
    ),
];

const INSTEAD: &str = "instead of an answer";
const NOT_RUNNING: &str = "its container does not run: kubectl describe pod says why";

impl HostFailure {
    pub(super) fn of_pipe(error: FrameError) -> Self {
        match error {
            FrameError::Closed => Self::Closed,
            error => Self::Foreign(error),
        }
    }

    /// Adds the transport's error output where it explains the failure.
    pub(super) fn explained(self, said: String) -> Self {
        match self {
            Self::Closed => Self::Ended { said },
            Self::Printed { first } => Self::Ended { said: besides(&said, &first) },
            other => other,
        }
    }

    /// Adds the host's unexpected output to the transport's error output.
    pub(super) fn and_printed(&self, said: String) -> String {
        match self {
            Self::Printed { first } => besides(&said, first),
            _ => said,
        }
    }

    /// Returns a stable name for scripts.
    #[must_use]
    pub fn id(&self) -> &str {
        match self {
            Self::Start { .. } => "transport-not-started",
            Self::Silent { .. } => "no-answer",
            Self::Late { .. } => "late",
            Self::Overdue { .. } => "overdue",
            Self::Ended { .. } | Self::Closed | Self::Printed { .. } => "connection-ended",
            Self::Greeting { .. } => "profile-prints",
            Self::Machine { .. } => "another-machine",
            Self::NoFolder { .. } => "no-folder-for-programs",
            Self::NotCopied { .. } => "not-copied",
            Self::Unable { .. } => "program-does-not-start",
            Self::Changed => "program-changed",
            Self::Version { .. } => "another-version",
            Self::Foreign(_) | Self::Impossible => "not-an-answer",
            Self::Refused { .. } => "refused",
            Self::Beyond { id, .. } => id,
            Self::Relay { .. } => "relay-lost",
            Self::NoThread => "no-thread",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns the recommended action.
    #[must_use]
    pub fn advice(&self) -> &str {
        match self {
            Self::Start { .. } => "install it, or name another command with --via",
            Self::Silent { said, .. } | Self::Ended { said } => {
                let known = REMEDIES.iter().find(|(words, _)| said.contains(words));
                known.map_or(
                    "try the command of --via by hand, with a shell at its end",
                    |(_, help)| help,
                )
            }
            Self::Late { .. } | Self::Overdue { .. } => {
                "see what it waits for there: `assay doctor` on it, its mounts, its load"
            }
            Self::Closed | Self::Printed { .. } => {
                "try the command of --via by hand, with a shell at its end"
            }
            Self::Greeting { .. } | Self::Foreign(_) => {
                "let its shell's profile print only where a person looks: [ -t 1 ] || return"
            }
            Self::Machine { .. } => {
                "give it with --binary FILE: the same version, built for that machine"
            }
            Self::Version { .. } => {
                "give --binary a program that was built from the same sources as this one"
            }
            Self::NoFolder { .. } => "set TMPDIR there to a folder that is not mounted noexec",
            Self::NotCopied { .. } => "free space there, or set TMPDIR to another folder",
            Self::Unable { .. } => {
                "it needs glibc, the C library, no older than where it was built: take another image or system there, or build it on one as old"
            }
            Self::Changed | Self::Impossible => {
                "something on the way alters what passes: try another --via"
            }
            Self::Refused { advice, .. } | Self::Beyond { advice, .. } => advice,
            Self::Relay { source, .. } => source.advice(),
            Self::NoThread => {
                "end other programs here, or raise the limit of processes (ulimit -u)"
            }
            Self::Interrupted => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of kubectl 1.28, a kubelet 1.33 and containerd 1.6; those of an API server from
    /// memory.
    #[test]
    fn what_kubectl_says_has_its_own_remedies() {
        for (said, helps) in [
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
            let failure = HostFailure::Ended { said: said.to_owned() };
            assert!(failure.advice().contains(helps), "{said}: {}", failure.advice());
        }
    }
}
