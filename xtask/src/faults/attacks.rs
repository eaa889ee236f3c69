//! Attacks by peers that send too much, too little or nothing, and programs planted on hosts.
//!
//! Runs the tests of the program that simulate them.

use std::path::Path;

use anyhow::Result;

use super::{FaultCheck, FaultResult};
use crate::command;

/// Behaviour of the attacker, expected result, and name of the test that simulates it.
type Attack = (&'static str, &'static str, &'static str);

const PEER_ATTACKS: [Attack; 19] = [
    (
        "endless control data after an early end of the test (iperf3)",
        "it is closed; the next client is served",
        "network::attacks::control_data_after_early_end_closes_connection",
    ),
    (
        "a byte now and then, to avoid the timeout (iperf3)",
        "it is closed; the next client is served",
        "network::attacks::trickling_client_does_not_block_server",
    ),
    (
        "19 more streams than were agreed, with the right cookie (iperf3)",
        "all 19 are refused",
        "network::attacks::refuses_surplus_streams",
    ),
    (
        "a UDP hello from another address (iperf3)",
        "it takes no stream",
        "network::attacks::ignores_udp_hello_from_other_host",
    ),
    (
        "a test in which nothing moves (iperf3)",
        "the server ends it after `--rcv-timeout`",
        "network::peers::server_ends_idle_test_after_receive_timeout",
    ),
    (
        "random bytes, wrong cookies, truncated messages (both)",
        "the next client is served",
        "network::peers::server_survives_arbitrary_input",
    ),
    (
        "wrong user, password or key (iperf3 with RSA)",
        "the same reply for all, after 250 ms",
        "network::login::only_server_reports_reason_of_refused_login",
    ),
    (
        "a replayed or outdated login (iperf3 with RSA)",
        "a refusal",
        "network::login::refuses_login_with_wrong_time_or_replay",
    ),
    (
        "64 clients that disconnected silently (qperf)",
        "their slots are free again",
        "network::attacks::departed_qperf_clients_free_their_slots",
    ),
    (
        "messages of 40 MiB, twice (qperf)",
        "the second is refused: 64 MiB for one peer",
        "network::attacks::message_memory_per_peer_is_bounded",
    ),
    (
        "SIGTERM while a client sends nothing or reads nothing (qperf)",
        "the server ends",
        "network::attacks::server_ends_despite_silent_or_unread_client",
    ),
    (
        "`quit` from another host (qperf)",
        "it is ignored without `--allow-quit`",
        "network::attacks::qperf_quit_from_other_host_needs_permission",
    ),
    (
        "text with terminal escape sequences (a qperf server)",
        "they are printed escaped",
        "network::attacks::escapes_terminal_sequences_of_peer",
    ),
    (
        "200 silent peers and 40 descriptors (both)",
        "it reports that once, does not spin, and continues to serve",
        "network::attacks::survives_lack_of_descriptors",
    ),
    (
        "200 silent peers and no memory for threads (both)",
        "they are refused without a panic; it continues to serve",
        "network::attacks::survives_lack_of_threads",
    ),
    (
        "a server that sends wrong lengths or terminates (clients)",
        "the test fails with that reason",
        "network::peers::reports_server_that_fails_or_terminates",
    ),
    (
        "a server that reports impossible bytes, times or CPU (iperf3)",
        "the test fails with both figures; no result is stored",
        "network::lying_servers::impossible_results_of_iperf3_server_are_failures",
    ),
    (
        "a server that reports impossible bytes, messages, times or CPU (qperf)",
        "the test fails with both figures",
        "network::lying_servers::impossible_results_of_qperf_server_are_failures",
    ),
    (
        "the coordinator of an agent disappears",
        "the agent ends when its pipe closes",
        "hosts::agent_ends_when_its_pipe_closes",
    ),
];

const HOST_ATTACKS: [Attack; 3] = [
    (
        "a file of the right size in the place of the program, below a folder like /tmp, of another hash, or in a folder that others may write",
        "it is not run; a copy is sent",
        "hosts::planted::planted_program_does_not_run",
    ),
    (
        "such a file, or its folder, belongs to another user",
        "it is not run; a copy is sent",
        "hosts::planted::planted_program_of_another_user_does_not_run",
    ),
    (
        "another build in the place of the program, and a host that gives a wrong hash",
        "it is ended; a copy is sent at the second try",
        "hosts::planted::host_with_another_build_gets_copy_on_retry",
    ),
];

/// Floods of hosts, simulated by the tests of the engine.
const FLOODS: [Attack; 2] = [
    (
        "a host that repeats a step, its events, raw outputs or notes without end",
        "it is lost after `--case-deadline`",
        "fleet::hostile_hosts::case_deadline_holds_whatever_a_host_sends",
    ),
    (
        "a host that sends more than 256 MiB for one case",
        "it is lost, with that limit as the reason",
        "fleet::hostile_hosts::bytes_of_a_case_are_bounded_whatever_a_host_sends",
    ),
];

/// Arguments of cargo that select the tests of the program, and those of the engine.
const PROGRAM_TESTS: [&str; 4] = ["--package", "assay", "--test", "it"];
const ENGINE_TESTS: [&str; 3] = ["--package", "assay-run", "--lib"];

/// Attacks servers.
pub(super) fn try_peer_attacks(root: &Path, is_brief: bool) -> Result<Vec<FaultCheck>> {
    run_attacks(root, &PROGRAM_TESTS, &PEER_ATTACKS, is_brief)
}

/// Plants programs on other hosts, and lets hosts send without end.
pub(super) fn try_host_attacks(root: &Path, is_brief: bool) -> Result<Vec<FaultCheck>> {
    let mut all = run_attacks(root, &PROGRAM_TESTS, &HOST_ATTACKS, is_brief)?;
    all.extend(run_attacks(root, &ENGINE_TESTS, &FLOODS, is_brief)?);
    Ok(all)
}

/// Runs the tests of all attacks at once. `--brief` runs none, because CI runs these tests anyway.
fn run_attacks(
    root: &Path,
    tests: &[&str],
    attacks: &[Attack],
    is_brief: bool,
) -> Result<Vec<FaultCheck>> {
    if is_brief {
        return Ok(Vec::new());
    }
    let mut cargo = command::cargo(root);
    cargo.arg("test").args(tests).args(["--", "--exact", "--show-output"]);
    let output = command::capture(cargo.args(attacks.iter().map(|(_, _, test)| test)))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let tried = |&(fault, expected, test): &Attack| FaultCheck {
        fault,
        expected,
        result: test_result(&said, test),
    };
    Ok(attacks.iter().map(tried).collect())
}

/// Returns the result of one test from the output of all.
fn test_result(said: &str, test: &str) -> FaultResult {
    let name = test.rsplit("::").next().unwrap_or(test);
    let skipped = said.lines().find_map(|line| line.strip_prefix(&format!("SKIPPED {name}: ")));
    if let Some(why) = skipped {
        return FaultResult::NotTried(why.to_owned());
    }
    let line = format!("test {test} ... ok");
    FaultResult::passed_if(said.lines().any(|it| it == line), format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_passed_tests_count_as_held() {
        const SAID: &str = "test a::one ... ok\ntest a::two ... FAILED\ntest a::three ... ok\n\
                            SKIPPED three: no root\n";
        for (test, expected) in [
            ("a::one", "held"),
            ("a::two", "BROKE"),
            ("a::three", "not tried"),
            ("a::on", "BROKE"),
        ] {
            assert_eq!(test_result(SAID, test).word(), expected, "{test}");
        }
    }
}
