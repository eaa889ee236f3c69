//! Launches of ranks that gave no result.

use assay_model::failure::Failure;

use crate::words::Said;

pub(super) fn said(failure: &Failure) -> Said {
    match failure {
        Failure::WrongContents { bytes } => Said::new(
            format!("messages of {bytes} B arrived with wrong contents"),
            "the library or the network damages data: test both",
        ),
        Failure::RankDied { how, by_hand } => Said::new(
            format!("a rank died: {how}"),
            format!(
                "if nobody killed it, the kernel did so for want of memory (`dmesg` says so) or \
                 the library failed; {}",
                see(by_hand)
            ),
        ),
        Failure::LaunchFailed { code, last_words, by_hand } => {
            let how = match code {
                Some(code) => format!("the launcher ended with code {code}"),
                None => "the launcher was killed by a signal".to_owned(),
            };
            let text = match last_words.is_empty() {
                true => how,
                false => format!("{how}; it said: {last_words}"),
            };
            Said::new(text, see(by_hand))
        }
        Failure::LauncherNotRun { launcher, causes } => {
            Said::new(causes.join(": "), format!("see whether {launcher} can be executed"))
        }
        Failure::NoOutcome { elsewhere } => Said::new(
            match elsewhere {
                true => "rank 0 wrote nothing on this host",
                false => "the launch ended well, and rank 0 wrote nothing",
            },
            "rank 0 must run on the host that assay was started on: name it first in the list of hosts",
        ),
        Failure::OtherVersion { found, own } => Said::new(
            format!("the ranks are assay {found}, this one is {own}"),
            "install the same assay on all hosts",
        ),
        Failure::OtherRankCount { found, asked, by_hand } => Said::new(
            format!("{found} ranks took part where {asked} were asked for"),
            see(by_hand),
        ),
        Failure::LaunchBrokeOff { by_hand } => {
            Said::new("the launch ended before all sizes were measured", see(by_hand))
        }
        _ => Said::new("", ""),
    }
}

fn see(by_hand: &str) -> String {
    format!("see what it prints (kept with the run, too): {by_hand}")
}
