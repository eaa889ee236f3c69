//! Checks whether a launch succeeded, and finds the most informative reason if not.

use assay_fleet::process::{ChildStatus, CompletedChild};
use assay_model::failure::{ErrorArea, FailureReason};
use assay_model::mpi_outcome::{FORMAT, MpiFailure, MpiOutcome, MpiSizeResult};
use assay_model::workload::MpiWorkload;

use crate::recorder::CaseError;

/// Returns the outcome of a complete launch, or the reason for its failure.
///
/// `command` is a command line that reproduces the launch by hand.
pub(super) fn check_outcome(
    outcome: Option<MpiOutcome>,
    completed: &CompletedChild,
    work: &MpiWorkload,
    command: &str,
) -> Result<MpiOutcome, CaseError> {
    let by_hand = command.to_owned();
    let failed = outcome.as_ref().and_then(|outcome| outcome.failure.clone());
    if let Some(MpiFailure { reason, advice }) = failed {
        return Err(FailureReason::Error {
            area: ErrorArea::Rank,
            causes: vec![reason],
            advice,
        }
        .into());
    }
    if !completed.is_success() {
        return Err(match find_signal(completed) {
            Some(how) => FailureReason::RankDied { how, by_hand },
            None => launch_failure(completed, by_hand),
        }
        .into());
    }
    let Some(outcome) = outcome else {
        return Err(FailureReason::NoOutcome { elsewhere: !work.hosts.is_local() }.into());
    };
    let own = env!("CARGO_PKG_VERSION");
    if outcome.format > FORMAT || outcome.assay != own {
        let (found, own) = (outcome.assay, own.to_owned());
        return Err(FailureReason::OtherVersion { found, own }.into());
    }
    if outcome.ranks.len() != work.ranks as usize {
        let (found, asked) = (outcome.ranks.len(), work.ranks);
        return Err(FailureReason::OtherRankCount { found, asked, by_hand }.into());
    }
    let is_damaged = |size: &&MpiSizeResult| size.validation.is_some_and(|it| it.wrong > 0);
    if let Some(size) = outcome.sizes.iter().find(is_damaged) {
        return Err(FailureReason::WrongContents { bytes: size.bytes }.into());
    }
    let is_empty = outcome.sizes.iter().all(|size| size.samples.values().all(Vec::is_empty));
    if is_empty || !outcome.complete {
        return Err(FailureReason::LaunchBrokeOff { by_hand }.into());
    }
    Ok(outcome)
}

/// Extracts the signal that killed a rank, as its launcher reports it: `Killed (signal 9)`.
fn find_signal(completed: &CompletedChild) -> Option<String> {
    /// Markers of MPICH's Hydra, Intel MPI's Hydra, and Open MPI.
    const MARKS: [&str; 3] = ["WITH THE EXIT STRING:", "KILLED BY SIGNAL:", "exited on signal"];
    let output = &completed.output;
    [&output.stdout, &output.stderr].into_iter().find_map(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let how = |line: &str| {
            let (_, how) = MARKS.iter().find_map(|mark| line.split_once(mark))?;
            Some(how.trim().trim_end_matches('.').to_owned())
        };
        text.lines().find_map(how).filter(|how| !how.is_empty())
    })
}

/// Returns the failure with the launcher's exit code and the most informative line of its output.
fn launch_failure(completed: &CompletedChild, by_hand: String) -> FailureReason {
    let code = match completed.status {
        ChildStatus::Exited(code) => Some(code),
        ChildStatus::Killed(_) => None,
    };
    let output = &completed.output;
    let last_words =
        find_explanation(&output.stderr).or_else(|| find_explanation(&output.stdout));
    FailureReason::LaunchFailed { code, last_words: last_words.unwrap_or_default(), by_hand }
}

/// Extracts the most informative text: the first box that Open MPI draws around its explanations,
/// else the first line that mentions an error, else the last line.
fn find_explanation(bytes: &[u8]) -> Option<String> {
    /// Maximum length in characters; no single sentence is longer.
    const MAX_CHARS: usize = 300;
    let text = String::from_utf8_lossy(bytes);
    let is_rule = |line: &str| line.len() >= 20 && line.chars().all(|c| "-=*#".contains(c));
    let shorten = |text: &str| text.chars().take(MAX_CHARS).collect::<String>();
    let mut boxed = text.lines().map(str::trim).skip_while(|line| !is_rule(line)).skip(1);
    let boxed: Vec<&str> = boxed
        .by_ref()
        .take_while(|line| !is_rule(line))
        .filter(|line| !line.is_empty())
        .collect();
    if !boxed.is_empty() {
        return Some(shorten(&boxed.join(" ")));
    }
    let is_relevant =
        |line: &&str| !line.is_empty() && !is_rule(line) && !line.contains("mca: base:");
    let lines: Vec<&str> = text.lines().map(str::trim).filter(is_relevant).collect();
    let mentions_error = |line: &&&str| {
        let line = line.to_lowercase();
        ["error", "fatal", "cannot", "not found", "refus"]
            .iter()
            .any(|word| line.contains(word))
    };
    Some(shorten(lines.iter().find(mentions_error).or_else(|| lines.last())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_signal_of_killed_rank_for_each_launcher() {
        use assay_fleet::process::ChildOutput;
        let rule = "=".repeat(83);
        let hydra = format!(
            "==== Various sizes and limits ====\n{rule}\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION \
             PROCESSES\n=   PID 22261 RUNNING AT vm\n=   EXIT CODE: 9\n{rule}\nYOUR APPLICATION TERMINATED \
             WITH THE EXIT STRING: Killed (signal 9)\nThis typically refers to a problem\n"
        );
        let intel = format!(
            "{rule}\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 0 PID 23152 RUNNING \
             AT vm\n=   KILLED BY SIGNAL: 9 (Killed)\n{rule}\n"
        );
        let open_mpi = "mpirun.openmpi noticed that process rank 1 with PID 0 on node vm exited on signal 9 \
                        (Killed).\n";
        for (printed, expected) in [
            (hydra.as_str(), Some("Killed (signal 9)")),
            (&intel, Some("9 (Killed)")),
            (open_mpi, Some("9 (Killed)")),
            ("error: no route to host\n", None),
            ("exited on signal", None),
            ("", None),
        ] {
            for is_error in [false, true] {
                let mut output = ChildOutput::default();
                let stream = if is_error { &mut output.stderr } else { &mut output.stdout };
                *stream = printed.as_bytes().to_vec();
                let completed = CompletedChild {
                    status: ChildStatus::Exited(9),
                    output,
                    files: std::collections::BTreeMap::new(),
                    elapsed: std::time::Duration::ZERO,
                    killed_descendants: 0,
                };
                assert_eq!(find_signal(&completed).as_deref(), expected, "{printed}");
            }
        }
    }

    #[test]
    fn finds_most_informative_line() {
        let rule = "-".repeat(74);
        let boxed = format!(
            "[vm:1] mca: base: close\n{rule}\nYour job has requested more processes\nthan the ppr \
             supports:\n\n  PPR: 1:node\n{rule}\n[vm:1] 1 more process\n"
        );
        for (text, expected) in [
            (
                boxed.as_str(),
                Some(
                    "Your job has requested more processes than the ppr supports: PPR: 1:node",
                ),
            ),
            (
                "a\nFatal error in MPI_Init: no device\nb\n",
                Some("Fatal error in MPI_Init: no device"),
            ),
            ("one\ntwo\n\n", Some("two")),
            ("[vm:1] mca: base: close\n", None),
            ("", None),
        ] {
            assert_eq!(find_explanation(text.as_bytes()).as_deref(), expected, "{text}");
        }
        let long = "e".repeat(1000);
        assert_eq!(find_explanation(long.as_bytes()).map(|words| words.len()), Some(300));
        assert!(find_explanation(&[255, 254, 10]).is_some());
    }
}
