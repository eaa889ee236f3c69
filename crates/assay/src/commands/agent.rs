//! `assay agent`: the far end of a pipe that assay on another host holds. Ends with that pipe.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use assay_fleet::remote::{Reply, Request, agent};

use super::doctor;
use assay_run::failure::{Failure, Kind};
use assay_run::network::setup::PathAsked;

/// The words after `agent`. No command of the user's: it is in no help and no completion.
pub(crate) fn called(words: &[OsString]) -> Option<&[OsString]> {
    match words {
        [_, command, rest @ ..] if command == "agent" => Some(rest),
        _ => None,
    }
}

/// Serves; with `--remove DIR` in a copy that was made in a folder of its own.
pub(crate) fn agent(words: &[OsString]) -> Result<u8, Failure> {
    if io::stdin().is_terminal() {
        return Err(Failure::usage("an agent is started by assay itself, on a pipe")
            .advise("give the hosts to a command: assay doctor --hosts vm1,vm2"));
    }
    if let [option, folder] = words
        && option == "--remove"
    {
        remove(Path::new(folder));
    }
    let served = agent::serve(io::stdin(), io::stdout(), answer);
    served
        .map_err(|error| Failure::new(Kind::Measurement, "the agent ends").because(&error))?;
    Ok(0)
}

/// The copy that was made of this program and the folder around it; the system keeps what is running. Nothing
/// else is in there, and if there were, the folder would stay.
fn remove(folder: &Path) {
    let copy = folder.join("assay");
    let is_running = std::env::current_exe().is_ok_and(|running| running == copy);
    if is_running && std::fs::remove_file(copy).is_ok() {
        // The shell that waits for this process tries again.
        drop(std::fs::remove_dir(folder));
    }
}

fn answer(request: Request) -> Reply {
    match request {
        Request::Clock => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Reply::Clock(u64::try_from(now.as_nanos()).unwrap_or(u64::MAX))
        }
        Request::Examine => match doctor::examine(&PathAsked::default()) {
            Ok(examined) => Reply::Examined(Box::new(examined)),
            Err(failure) => {
                Reply::Failed { reason: failure.reason(), advice: failure.advice() }
            }
        },
    }
}
