//! How an agent comes to run at the far end of a pipe: a shell there is given one script, which says what
//! machine it is on, looks for this very program, and otherwise takes it from the pipe.
//!
//! The words travel on the shell's standard input, because only that survives every way of quoting: ssh joins
//! its words and has them split again, `kubectl exec` does not. The script is one group, so that a shell has
//! read all of it before anything is run: what comes afterwards is for those it runs.

use std::io::{BufRead, Read, Write};
use std::time::Duration;

use super::failure::HostFailure;
use super::{Program, nonce};

/// What a login may print before the script speaks; shells read profiles that greet.
const MAXIMUM_GREETING: u64 = 64 << 10;

/// The group of commands; `NONCE`, `PROGRAM`, `BYTES`, `SECONDS` are filled in.
const SCRIPT: &str = r#"{
LC_ALL=C; export LC_ALL; umask 077
[ -n "$HOME" ] || { HOME=$(eval "echo ~$(id -un)"); export HOME; }
say() { printf '\nassay NONCE %s\n' "$*"; }
say machine "$(uname -s) $(uname -m)"
for p in PROGRAM "$(command -v assay)"; do
  if [ -f "$p" ] && [ -x "$p" ] && [ "$(wc -c <"$p")" -eq BYTES ]; then say agent; exec "$p" agent --patience SECONDS; fi
done
tried=; f=
for d in "${TMPDIR:-/tmp}" /dev/shm /var/tmp "$HOME"; do
  f=$(mktemp -d -p "$d" 2>/dev/null) || { f=; continue; }
  if printf '#!/bin/sh\nexit 0\n' >"$f/assay" && chmod 700 "$f/assay" && "$f/assay" 2>/dev/null; then break; fi
  tried="$tried $d"; rm -rf "$f"; f=
done
if [ -z "$f" ]; then say nowhere "$tried"; exit 1; fi
trap 'rm -rf "$f"' EXIT HUP TERM
say send
if head -c BYTES >"$f/assay" && [ "$(wc -c <"$f/assay")" -eq BYTES ]; then :
else say unwritten "$f"; exit 1; fi
if r=$("$f/assay" --version 2>&1 </dev/null); then say agent; else say unable "$r"; exit 1; fi
"$f/assay" agent --patience SECONDS --remove "$f"
exit
}
"#;

/// Has the shell at the far end of the pipe start an agent, which ends when it hears nothing for longer than `patience`;
/// `is_copied` when one that is there is not to be used.
///
/// # Errors
/// [`HostFailure`]; the pipe is of no further use then.
pub(super) fn start(
    (input, output): (&mut impl Write, &mut impl BufRead),
    program: &Program,
    is_copied: bool,
    patience: Duration,
) -> Result<(), HostFailure> {
    let nonce = nonce();
    let path = if is_copied { "/nowhere".into() } else { program.path.to_string_lossy() };
    let path = shlex::try_quote(&path).unwrap_or("/nowhere".into());
    let mut script = SCRIPT.replace("NONCE", &nonce).replace("PROGRAM", &path);
    script = script.replace("BYTES", &program.bytes.to_string());
    script = script.replace("SECONDS", &patience.as_secs().to_string());
    if is_copied {
        script = script.replace(r#" "$(command -v assay)"#, "");
    }
    let mark = format!("assay {nonce} ");
    if let Err(failure) = send(input, script.as_bytes()) {
        // Who takes no words may have said why.
        return Err(next_word(output, &mark).err().unwrap_or(failure));
    }
    loop {
        let said = next_word(output, &mark)?;
        let (word, rest) = said.split_once(' ').unwrap_or((&said, ""));
        match word {
            "machine" if rest == program.machine => {}
            "machine" => {
                let (theirs, ours) = (rest.to_owned(), program.machine.clone());
                return Err(HostFailure::Machine { theirs, ours });
            }
            "agent" => return Ok(()),
            // Where it does not fit the pipe breaks, and what the script says next is why.
            "send" => drop(program.send(input)),
            "nowhere" => return Err(HostFailure::NoFolder { tried: rest.trim().to_owned() }),
            "unwritten" => return Err(HostFailure::NotCopied { folder: rest.to_owned() }),
            "unable" => return Err(HostFailure::Unable { said: rest.to_owned() }),
            // No word of the script.
            _ => return Err(HostFailure::Changed),
        }
    }
}

fn send(input: &mut impl Write, bytes: &[u8]) -> Result<(), HostFailure> {
    // Why the pipe broke is known from what the other end said.
    input.write_all(bytes).and_then(|()| input.flush()).map_err(|_| HostFailure::Closed)
}

/// The next line with the mark; what a profile prints in between is passed over.
fn next_word(output: &mut impl BufRead, mark: &str) -> Result<String, HostFailure> {
    let (mut greeting, mut first) = (0, String::new());
    loop {
        let mut line = Vec::new();
        let read = output.take(MAXIMUM_GREETING).read_until(b'\n', &mut line);
        let text = String::from_utf8_lossy(&line);
        if first.is_empty() && !text.starts_with(mark) {
            first = quoted(&text);
        }
        match read {
            Ok(bytes) if bytes > 0 => greeting += bytes as u64,
            _ if first.is_empty() => return Err(HostFailure::Closed),
            _ => return Err(HostFailure::Printed { first }),
        }
        if let Some(word) = text.trim_end().strip_prefix(mark) {
            return Ok(word.to_owned());
        }
        if greeting > MAXIMUM_GREETING {
            return Err(HostFailure::Greeting { bytes: greeting, first });
        }
    }
}

/// As much of a line as tells whose it is.
fn quoted(line: &str) -> String {
    const LONGEST: usize = 100;
    line.trim().chars().take(LONGEST).collect()
}
