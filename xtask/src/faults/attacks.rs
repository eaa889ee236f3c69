//! Attacks by peers that send too much, too little or nothing, and programs planted on hosts.
//!
//! Runs the tests of the program that simulate them.

use std::path::Path;

use anyhow::Result;

use super::{FaultResult, TriedFault};
use crate::command;

/// Behaviour of the attacker, expected result, and name of the test that simulates it.
type Attack = (&'static str, &'static str, &'static str);

const PEER_ATTACKS: [Attack; 17] = [
    (
        "control data without end after an early end of the test (iperf3)",
        "it is closed; the next client is served",
        "network::attacks::control_data_after_an_early_end_is_not_kept",
    ),
    (
        "a byte now and then, so that no deadline comes (iperf3)",
        "it is closed; the next client is served",
        "network::attacks::a_client_that_trickles_does_not_keep_the_only_place",
    ),
    (
        "19 more streams than were agreed, with the right cookie (iperf3)",
        "all 19 are refused",
        "network::attacks::streams_beyond_those_of_the_test_are_refused",
    ),
    (
        "a UDP hello from another address (iperf3)",
        "it takes no stream",
        "network::attacks::a_hello_from_another_host_takes_no_stream",
    ),
    (
        "a test in which nothing moves (iperf3)",
        "it is given up after `--rcv-timeout`",
        "network::peers::a_server_gives_up_a_test_in_which_nothing_moves",
    ),
    (
        "random bytes, wrong cookies, half messages (both)",
        "the next client is served",
        "network::peers::a_server_survives_whatever_its_peers_send",
    ),
    (
        "wrong user, password or key (iperf3 with RSA)",
        "one answer for all, after a quarter of a second",
        "network::login::who_is_refused_is_reported_to_the_server_alone",
    ),
    (
        "a login that was overheard, or of another time (iperf3 with RSA)",
        "a refusal",
        "network::login::a_wrong_clock_and_an_overheard_login_are_refused",
    ),
    (
        "64 clients that left without a word (qperf)",
        "their places are free again",
        "network::attacks::clients_of_qperf_that_left_free_the_server",
    ),
    (
        "messages of 40 MiB, twice (qperf)",
        "the second is refused: 64 MiB for one peer",
        "network::attacks::the_memory_for_messages_is_bounded",
    ),
    (
        "SIGTERM beside a client that says nothing, or takes nothing (qperf)",
        "the server ends",
        "network::attacks::a_server_ends_though_its_client_says_nothing_or_takes_nothing",
    ),
    (
        "`quit` from another host (qperf)",
        "it is not obeyed without `--allow-quit`",
        "network::attacks::another_host_does_not_end_a_server_of_qperf",
    ),
    (
        "words with terminal escapes (a server of qperf)",
        "they are spelled out",
        "network::attacks::what_a_peer_says_is_not_obeyed_by_the_terminal",
    ),
    (
        "200 silent peers and 40 descriptors (both)",
        "it says so once, does not spin, and serves on",
        "network::attacks::no_descriptor_is_left",
    ),
    (
        "200 silent peers and no memory for threads (both)",
        "they are refused without a panic; it serves on",
        "network::attacks::no_thread_can_be_started",
    ),
    (
        "a server that lies about lengths or gives up (clients)",
        "the test fails and says so",
        "network::peers::a_server_that_lies_about_lengths_or_gives_up_is_named",
    ),
    (
        "the coordinator of an agent has gone",
        "the agent ends with its pipe",
        "hosts::an_agent_ends_with_its_pipe",
    ),
];

const HOST_ATTACKS: [Attack; 3] = [
    (
        "a file of the right size in the place of the program, below a folder like /tmp, of another hash, or in a folder that others may write",
        "it is not run; a copy is sent",
        "hosts::planted::a_planted_program_is_not_run",
    ),
    (
        "such a file, or its folder, belongs to another user",
        "it is not run; a copy is sent",
        "hosts::planted::a_planted_program_of_another_user_is_not_run",
    ),
    (
        "another build in the place of the program, and a host that gives a wrong hash",
        "it is ended; a copy is sent at the second try",
        "hosts::planted::a_host_whose_program_is_another_build_gets_a_copy_at_the_second_try",
    ),
];

/// Attacks servers.
pub(super) fn try_peer_attacks(root: &Path, is_brief: bool) -> Result<Vec<TriedFault>> {
    run_attacks(root, &PEER_ATTACKS, is_brief)
}

/// Plants programs on other hosts.
pub(super) fn try_host_attacks(root: &Path, is_brief: bool) -> Result<Vec<TriedFault>> {
    run_attacks(root, &HOST_ATTACKS, is_brief)
}

/// Runs the tests of all attacks at once. `--brief` runs none, because CI runs these tests anyway.
fn run_attacks(root: &Path, attacks: &[Attack], is_brief: bool) -> Result<Vec<TriedFault>> {
    if is_brief {
        return Ok(Vec::new());
    }
    let mut cargo = command::cargo(root);
    cargo.args([
        "test",
        "--package",
        "assay",
        "--test",
        "it",
        "--",
        "--exact",
        "--show-output",
    ]);
    let output = command::capture(cargo.args(attacks.iter().map(|(_, _, test)| test)))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let tried = |&(fault, expected, test): &Attack| TriedFault {
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
    FaultResult::held_if(said.lines().any(|it| it == line), format!("`{name}`"))
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
