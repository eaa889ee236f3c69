//! Tests of defaults, values and refusals of the options.

use clap::{Command, FromArgMatches};

use super::*;

fn parse(line: &str) -> Result<SockperfArguments, String> {
    let command = SockperfArguments::augment_args(Command::new("sockperf"));
    let words = std::iter::once("sockperf").chain(line.split_whitespace());
    let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
    SockperfArguments::from_arg_matches(&matches).map_err(|error| error.to_string())
}

/// Returns the test of a client, or the message of the failure.
fn client(line: &str) -> Result<SockperfTest, String> {
    let typed = parse(line)?;
    match typed.role().map_err(|it| it.to_string())? {
        SockperfRole::Client(mode) => typed.client_test(mode).map_err(|it| it.to_string()),
        SockperfRole::Server => Err("a server".to_owned()),
    }
}

#[test]
fn defaults_are_those_of_sockperf() {
    for (line, mode, rate, reply_every, no_delay) in [
        ("pp", SockperfMode::PingPong, None, 1, false),
        ("pp --tcp", SockperfMode::PingPong, None, 1, true),
        ("ping-pong --tcp --tcp-avoid-nodelay", SockperfMode::PingPong, None, 1, false),
        ("ul", SockperfMode::UnderLoad, Some(10_000), 100, false),
        ("under-load --mps=max", SockperfMode::UnderLoad, None, 100, false),
        ("ul --pps 7 --reply-every 3", SockperfMode::UnderLoad, Some(7), 3, false),
        ("tp --tcp", SockperfMode::Throughput, None, 1, false),
        ("throughput --tcp --tcp-avoid-nodelay", SockperfMode::Throughput, None, 1, true),
        ("tp --mps 9", SockperfMode::Throughput, Some(9), 1, false),
    ] {
        let test = client(line).unwrap();
        assert_eq!((test.mode, test.messages_per_s), (mode, rate), "{line}");
        assert_eq!((test.reply_every, test.socket.no_delay), (reply_every, no_delay), "{line}");
        assert_eq!((test.seconds, test.message_bytes, test.burst), (1, 14, 1), "{line}");
        assert_eq!((test.target.host.as_str(), test.target.port), ("127.0.0.1", 11_111));
    }
}

#[test]
fn options_reach_the_test() {
    let line = "pp -i h -p 7 -t 3 -m 100 -r 20 -b 4 --buffer-size 4096 --tos 16 --lls 50 \
                --nonblocked --client_ip 10.0.0.1 --client_port 9 --pre-warmup-wait 2 \
                --timeout -1 --recv_looping_num -1 --no-rdtsc --uc-reuseaddr";
    let test = client(line).unwrap();
    assert_eq!(
        (test.seconds, test.message_bytes, test.size_range, test.burst),
        (3, 100, 20, 4)
    );
    assert_eq!((test.target.host.as_str(), test.target.port), ("h", 7));
    assert_eq!(test.target.local, Some("10.0.0.1:9".parse().unwrap()));
    assert_eq!((test.socket.window_bytes, test.socket.type_of_service), (Some(4096), 16));
    assert_eq!((test.socket.busy_poll_us, test.is_polling), (Some(50), true));
    assert_eq!(test.start_delay, Duration::from_secs(2));
    let local = |line| client(line).unwrap().target.local.map(|it| it.to_string());
    assert_eq!(local("pp --client_port 9").as_deref(), Some("0.0.0.0:9"));
    assert_eq!(local("pp -i ::1 --client_port 9").as_deref(), Some("[::]:9"));
}

#[test]
fn impossible_options_are_refused() {
    for (line, reason) in [
        ("", "no mode given"),
        ("ping", "expected ping-pong, under-load, throughput or server"),
        ("playback", "playback is not supported"),
        ("pp -m 13", "-m is 13"),
        ("pp -m 65508", "-m is 65508"),
        ("pp --tcp -m 1048576", "-m is 1048576"),
        ("pp --reply-every 2", "ping-pong does not have --reply-every"),
        ("ul --data-integrity", "under-load does not have --data-integrity"),
        ("tp --full-log x", "throughput does not have --full-log"),
        ("tp -g", "throughput does not have --gap-detection"),
        ("sr -t 3", "server does not have --time"),
        ("pp --mps 0", "expected max, or messages per second"),
        ("pp --mps 1073741825", "expected max, or messages per second"),
        ("pp -t 0", "0 is not in"),
        ("pp -b 2 --data-integrity", "cannot be used with"),
        ("sr --dont-reply --tcp", "cannot be used with"),
        ("pp -i h:7", "-p 7"),
    ] {
        let error = client(line).unwrap_err();
        assert!(error.contains(reason), "{line}: {error}");
    }
    assert!(client("pp --tcp -m 1048575").is_ok());
    assert!(client("pp -m 65507").is_ok());
}

/// Options of `sockperf MODE --help` of version 3.7, of all modes.
const OPTIONS_3_7: &str = "--tcp --ip -i --port -p --file -f --iomux-type -F --timeout --activity -a \
    --Activity -A --tcp-avoid-nodelay --tcp-skip-blocking-send --tos --mc-rx-if --mc-tx-if \
    --mc-loopback-enable --mc-ttl --mc-source-filter --uc-reuseaddr --lls --buffer-size --nonblocked \
    --recv_looping_num --dontwarmup --pre-warmup-wait --vmazcopyread --daemonize --no-rdtsc --load-vma \
    --rate-limit --set-sock-accl --debug -d --srv-num --sender-affinity --receiver-affinity --full-log \
    --full-rtt --giga-size --increase_output_precision --dummy-send --time -t --client_port --client_ip \
    --burst -b --reply-every --mps --pps --msg-size -m --range -r --data-integrity --threads-num \
    --cpu-affinity --vmarxfiltercb --force-unicast-reply --dont-reply --gap-detection -g --data-file";

#[test]
fn every_option_of_sockperf_is_accepted_or_refused() {
    let command = SockperfArguments::augment_args(Command::new("sockperf"));
    for option in OPTIONS_3_7.split_whitespace() {
        let is_accepted = command.get_arguments().any(|argument| {
            let long = argument.get_long_and_visible_aliases().unwrap_or_default();
            let short = argument.get_short_and_visible_aliases().unwrap_or_default();
            long.iter().any(|name| option == format!("--{name}"))
                || short.iter().any(|name| option == format!("-{name}"))
        });
        let is_refused = crate::unsupported_options::find_refusal("sockperf", option).is_some();
        assert!(is_accepted != is_refused, "{option}");
    }
}
