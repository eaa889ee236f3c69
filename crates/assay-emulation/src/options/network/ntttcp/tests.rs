//! Tests of ntttcp's options.

use clap::{Args, Command, FromArgMatches};

use super::*;

fn parse(line: &str) -> Result<NtttcpArguments, clap::Error> {
    let command = NtttcpArguments::augment_args(Command::new("ntttcp"));
    let words = std::iter::once("ntttcp").chain(line.split_whitespace());
    NtttcpArguments::from_arg_matches(&command.try_get_matches_from(words)?)
}

fn sending(line: &str) -> (NtttcpTest, NtttcpSending) {
    let typed = parse(line).unwrap();
    let mut test = typed.test().unwrap();
    match typed.role(&mut test).unwrap() {
        NtttcpRole::Sender(sending) => (test, sending),
        NtttcpRole::Receiver(_) => panic!("{line} is a receiver"),
    }
}

fn serving(line: &str) -> (NtttcpTest, NtttcpServing) {
    let typed = parse(line).unwrap();
    let mut test = typed.test().unwrap();
    match typed.role(&mut test).unwrap() {
        NtttcpRole::Receiver(serving) => (test, serving),
        NtttcpRole::Sender(_) => panic!("{line} is a sender"),
    }
}

#[test]
fn ports_threads_and_connections() {
    for (line, expected) in [
        ("-s", (16, 4, 1)),
        ("-s 192.0.2.1 -P 8 -n 2 -l 3", (8, 2, 3)),
        ("-s192.0.2.1 -P8 -n2", (8, 2, 1)),
        ("-s -m 8,*,192.0.2.1", (8, 1, 1)),
        ("-s -m 8,*,192.0.2.1 -n 16", (8, 16, 1)),
    ] {
        let (test, sending) = sending(line);
        let found = (test.ports, sending.threads_per_port, sending.connections_per_thread);
        assert_eq!(found, expected, "{line}");
    }
    let (_, sent) = sending("-s -m 8,3,192.0.2.1");
    assert_eq!(sent.target.host, "192.0.2.1");
    assert_eq!(parse("-s -m 8,3,192.0.2.1").unwrap().cpu(), Some(3));
}

#[test]
fn values_that_may_be_missing() {
    let typed = parse("-s 192.0.2.1 -f -x -j j.json -O -V").unwrap();
    assert_eq!(typed.source_port, Some(None));
    assert_eq!((&typed.xml, &typed.console_log), (&Some(None), &Some(None)));
    assert_eq!(typed.json, Some(Some("j.json".into())));
    assert!(typed.verbose);
    assert_eq!(sending("-s -f").1.source_port, Some(25_001));
    assert_eq!(sending("-s -f26000").1.source_port, Some(26_000));
    assert_eq!(sending("-s -f 26000").1.source_port, Some(26_000));
}

#[test]
fn sizes_are_binary_and_rates_decimal() {
    let (test, sent) = sending("-s -b 1M -B 10G");
    assert_eq!((test.block_bytes, sent.rate_bit_per_s), (1 << 20, Some(10_000_000_000)));
    assert_eq!(sending("-s").0.block_bytes, 131_072);
    assert_eq!(serving("-r").0.block_bytes, 65_536);
    assert_eq!(sending("-s -u").0.block_bytes, 65_507);
    let paced = sending("-s -P 2 -n 1 --fq-rate-limit 16M").0;
    assert_eq!(paced.socket.pacing_bytes_per_s, Some(1_000_000));
    assert_eq!(sending("-s -B 1G --fq-rate-limit 16M").0.socket.pacing_bytes_per_s, None);
}

#[test]
fn receivers_listen_on_loopback_unless_an_address_is_named() {
    for (line, expected) in [
        ("", "127.0.0.1"),
        ("-r", "127.0.0.1"),
        ("-r -6", "::1"),
        ("-r 0.0.0.0", "0.0.0.0"),
        ("-r -m 4,*,192.0.2.1", "192.0.2.1"),
    ] {
        assert_eq!(serving(line).1.listen.to_string(), expected, "{line}");
    }
    assert!(serving("-r -M -H").1.awaits_several);
}

#[test]
fn impossible_values_are_refused() {
    for (line, expected) in [
        ("-s -M", "-M is an option of a receiver"),
        ("-r -L", "-L is an option of a sender"),
        ("-r -a 192.0.2.1", "-a is an option of a sender"),
        ("-r myhost", "`myhost` is no address of this host"),
        ("-s ::1", "::1 is no IPv4 address"),
        ("-s 192.0.2.1 -6", "192.0.2.1 is no IPv6 address"),
        ("-s -p 65535 -P 2", "port 65536 does not exist"),
        ("-s -b 0", "-b is out of range"),
        ("-s -t 70 -W 8 -C 10", "a test of 88 s, warm-up and cool-down included, cannot be"),
        ("-s -t 82", "a test of 82 s, warm-up and cool-down included, cannot be"),
        ("-r -M -t 5 -W 5", "with -M the test ends in its warm-up"),
        ("-s -P 512 -n 25600 -l 1000", "13107200000 connections are too many"),
        ("-s -f 65000 -P 16 -n 40", "there are fewer than 640 ports from 65000 on"),
        ("-s --show-nic-packets no/such", "there is no network interface no/such"),
    ] {
        let typed = parse(line).unwrap();
        let failure =
            typed.test().and_then(|mut test| typed.role(&mut test).map(drop)).unwrap_err();
        assert!(failure.to_string().starts_with(expected), "{line}: {failure}");
    }
    for line in
        ["-s -r", "-P 0", "-P 513", "-p 1", "-m 0,*,h", "-m 8,x", "-u --no-delay", "-t -1"]
    {
        assert!(parse(line).is_err(), "{line}");
    }
}

#[test]
fn address_is_the_one_that_is_used() {
    for (line, address) in [
        ("-s", "127.0.0.1"),
        ("-r -6", "::1"),
        ("-r 0.0.0.0", "0.0.0.0"),
        ("-s -m 8,*,192.0.2.1", "192.0.2.1"),
    ] {
        assert_eq!(parse(line).unwrap().address(), address, "{line}");
    }
}

#[test]
fn options_of_the_other_role_are_named() {
    for (line, expected) in [
        ("-r -n 4 -l 2 -f -B 1G", &["-n", "-l", "-f", "-B"][..]),
        ("-s -H -n 4", &["-H"]),
        ("-s -B 1G --fq-rate-limit 1G", &["--fq-rate-limit beside -B"]),
    ] {
        assert_eq!(parse(line).unwrap().idle_options(), expected, "{line}");
    }
}
