//! Starts an agent at the far end of a pipe. A shell there runs one script, which reports its
//! machine, searches for this very program, and otherwise reads the program from the pipe.
//!
//! The script travels on the shell's standard input, where no quoting rules apply: ssh joins and
//! splits the words of a command, `kubectl exec` does not. The script is one group: a shell reads
//! all of it before it runs anything. Later input is for the programs that the script runs.

use std::io::{BufRead, Read, Write};
use std::time::Duration;

use super::failure::HostFailure;
use super::{Program, nonce};

/// Maximum output of a login profile before the script's first message.
const MAX_BANNER_BYTES: u64 = 64 << 10;

/// Length of the packed program's size, as text in front of it.
const PACKED_SIZE_BYTES: usize = 20;

/// Beginning of every script. `ours` checks whether only this user and root can change a file (`-`)
/// or folder (`d`): one of them owns it, and neither a group nor others may write it. `ls` prints
/// the mask of an access control list as the permissions of the group.
const PROLOGUE: &str = r#"LC_ALL=C; export LC_ALL; umask 077; unset CDPATH
[ -n "$HOME" ] || { HOME=$(eval "echo ~$(id -un)"); export HOME; }
say() { printf '\nassay %s %s\n' "$nonce" "$*"; }
ours() {
  set -f; set -- "$1" $(ls -ldn "$2" 2>/dev/null); set +f
  case $2 in
    "$1"????w*|"$1"???????w*) return 1 ;;
    "$1"*) [ "$4" = 0 ] || [ "$4" = "$user" ] ;;
    *) return 1 ;;
  esac
}
user=$(id -u)
say machine "$(uname -s) $(uname -m)"
"#;

/// Runs an installed program. Checks every folder above it, its owner, size and hash first; without
/// a command for the hash it is not run. `openssl` is the fastest of them. 65534 owns files of
/// unknown users (`user_namespaces(7)`).
const SEARCH_STEP: &str = r#"hash_of() { openssl dgst -sha256 -r || sha256sum || shasum -a 256; } <"$1" 2>/dev/null
is_it() {
  [ "$user" != 65534 ] || return 1
  case $1 in /*) ;; *) return 1 ;; esac
  p=$(readlink -f "$1" 2>/dev/null) && ours - "$p" && [ -x "$p" ] || return 1
  d=$p
  while [ -n "$d" ]; do d=${d%/*}; ours d "${d:-/}" || return 1; done
  [ "$(wc -c <"$p")" -eq "$bytes" ] && found=$(hash_of "$p") && [ "${found%% *}" = "$hash" ]
}
for p in "$program" "$(command -v assay)"; do
  if is_it "$p"; then say agent; exec "$p" agent --patience "$patience"; fi
done
"#;

/// Reads the program from the pipe into a private folder, and runs it there. Others who may write
/// the parent can rename that folder, but cannot change the program that runs. With gzip, it asks
/// for the size of the packed program first: [`PACKED_SIZE_BYTES`] characters, `0` for an unpacked one.
const COPY_STEP: &str = r#"tried=; f=; before=$(pwd)
for d in "${TMPDIR:-/tmp}" /dev/shm /var/tmp "$HOME"; do
  f=$(mktemp -d -p "$d" 2>/dev/null) || { f=; continue; }
  if cd -P "$f" 2>/dev/null && ours d . && f=$(pwd -P); then
    if printf '#!/bin/sh\nexit 0\n' >assay && chmod 700 assay && ./assay 2>/dev/null; then break; fi
    rm -f assay
  fi
  tried="$tried $d"; rmdir "$f" 2>/dev/null; f=
done
if [ -z "$f" ]; then say nowhere "$tried"; exit 1; fi
trap 'rm -f assay; rmdir "$f" 2>/dev/null' EXIT HUP TERM
packed=0
if command -v gzip >/dev/null 2>&1; then say pack; packed=$(head -c 20); fi
packed=$(($packed))
say send
receive() {
  if [ "$packed" -gt 0 ]; then head -c "$packed" | gzip -dc; else head -c "$bytes"; fi
}
if receive >assay && [ "$(wc -c <assay)" -eq "$bytes" ]; then :
else say unwritten "$f"; exit 1; fi
if r=$(./assay --version 2>&1 </dev/null); then say agent; else say unable "$r"; exit 1; fi
./assay agent --patience "$patience" --remove "$f" --from "$before"
exit
"#;

/// Creates the script. With `is_copied` it does not search for an installed program.
fn script(nonce: &str, program: &Program, is_copied: bool, patience: Duration) -> String {
    let installed = program.path.to_string_lossy();
    // A path that cannot be quoted for a shell is left out of the search.
    let installed = shlex::try_quote(&installed).unwrap_or_default();
    let (bytes, hash, seconds) = (program.content.bytes, &program.hash, patience.as_secs());
    let search = if is_copied { "" } else { SEARCH_STEP };
    format!(
        "{{\nnonce={nonce}; bytes={bytes}; hash={hash}; patience={seconds}; program={installed}\n\
         {PROLOGUE}{search}{COPY_STEP}}}\n"
    )
}

/// Starts an agent through the shell at the far end of the pipe. The agent ends if it receives
/// nothing for longer than `patience`. `is_copied` ignores an installed program.
///
/// # Errors
/// [`HostFailure`]; the pipe is unusable then.
pub(super) fn start(
    (input, output): (&mut impl Write, &mut impl BufRead),
    program: &Program,
    is_copied: bool,
    patience: Duration,
) -> Result<(), HostFailure> {
    let nonce = nonce();
    let script = script(&nonce, program, is_copied, patience);
    let prefix = format!("assay {nonce} ");
    if let Err(failure) = send(input, script.as_bytes()) {
        // A shell that rejects the script may have printed the reason.
        return Err(next_message(output, &prefix).err().unwrap_or(failure));
    }
    let mut packed = None;
    loop {
        let message = next_message(output, &prefix)?;
        let (word, rest) = message.split_once(' ').unwrap_or((&message, ""));
        match word {
            "machine" if rest == program.machine => {}
            "machine" => {
                let (theirs, ours) = (rest.to_owned(), program.machine.clone());
                return Err(HostFailure::WrongMachine { theirs, ours });
            }
            "agent" => return Ok(()),
            "pack" => {
                packed = program.packed();
                let size = packed.map_or(0, |it| it.bytes);
                send(input, format!("{size:PACKED_SIZE_BYTES$}").as_bytes())?;
            }
            // If the folder has no room, the pipe breaks; the script's next message has the reason.
            "send" => drop(packed.unwrap_or(&program.content).send(input)),
            "nowhere" => return Err(HostFailure::NoFolder { tried: rest.trim().to_owned() }),
            "unwritten" => return Err(HostFailure::CopyFailed { folder: rest.to_owned() }),
            "unable" => return Err(HostFailure::ProgramFailed { said: rest.to_owned() }),
            // Not a message of the script.
            _ => return Err(HostFailure::ProgramChanged),
        }
    }
}

fn send(input: &mut impl Write, bytes: &[u8]) -> Result<(), HostFailure> {
    // The output of the other end explains why the pipe broke.
    input.write_all(bytes).and_then(|()| input.flush()).map_err(|_| HostFailure::Closed)
}

/// Reads the next message of the script; skips output of a login profile.
fn next_message(output: &mut impl BufRead, prefix: &str) -> Result<String, HostFailure> {
    let (mut banner_bytes, mut first) = (0, String::new());
    loop {
        let mut line = Vec::new();
        let read = output.take(MAX_BANNER_BYTES).read_until(b'\n', &mut line);
        let text = String::from_utf8_lossy(&line);
        if first.is_empty() && !text.starts_with(prefix) {
            first = shorten_line(&text);
        }
        match read {
            Ok(bytes) if bytes > 0 => banner_bytes += bytes as u64,
            _ if first.is_empty() => return Err(HostFailure::Closed),
            _ => return Err(HostFailure::UnexpectedOutput { first }),
        }
        if let Some(message) = text.trim_end().strip_prefix(prefix) {
            return Ok(message.to_owned());
        }
        if banner_bytes > MAX_BANNER_BYTES {
            return Err(HostFailure::LongBanner { bytes: banner_bytes, first });
        }
    }
}

/// Shortens a line to the part that identifies its source.
fn shorten_line(line: &str) -> String {
    const MAX_CHARS: usize = 100;
    line.trim().chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests;
