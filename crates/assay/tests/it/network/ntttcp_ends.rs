//! Ends of ntttcp's tests that one end alone brings about.

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use super::ntttcp::{
    Implementation, Running, ask, free_ports, is_open, number_after, start, text,
};
use crate::processes::{send_signal, wait_until};
use crate::program::{World, files_below};

/// Starts an end of assay.
fn run(world: &World, words: &str) -> Running {
    Running(Some(start(world, Implementation::Assay, words)))
}

/// Starts a receiver and waits until its ports are open.
fn receive(world: &World, port: u16, words: &str) -> Running {
    let receiver = run(world, &format!("-r 127.0.0.1 -p {port} {words}"));
    let is_udp = words.contains("-u");
    wait_until("the receiver has its ports", || {
        is_open(port, is_udp) && (words.contains("-N") || is_open(port - 1, false))
    });
    receiver
}

fn wait_until_busy(port: u16) {
    wait_until("the receiver is busy", || {
        let mut stream = TcpStream::connect(("127.0.0.1", port - 1)).unwrap();
        ask(&mut stream, u32::from(b'X')) == 12
    });
}

#[test]
fn receiver_ends_when_its_sender_is_gone() {
    for options in ["-P 1 -t 60", "-P 1 -u -t 0"] {
        let world = World::new();
        let port = free_ports(2);
        let receiver = receive(&world, port, &format!("{options} --store runs"));
        let mut sender = TcpStream::connect(("127.0.0.1", port - 1)).unwrap();
        ask(&mut sender, u32::from(b'X'));
        ask(&mut sender, i32::MAX as u32);
        assert_eq!(ask(&mut sender, u32::from(b'R')), u32::from(b'R'), "it starts");
        drop(sender);
        let output = receiver.finish();
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output).contains("sender side was interrupted"), "{output:?}");
        let listed = world.assay(&["list", "--store", "runs"]).succeeded().out;
        assert!(listed.contains("There are no runs yet"), "no data, no run: {listed}");
    }
}

#[test]
fn time_without_limit_counts_at_both_ends() {
    let world = World::new();
    let port = free_ports(2);
    let mut receiver = receive(&world, port, "-P 1 -t 1 --no-store");
    let sender = run(&world, &format!("-s 127.0.0.1 -p {port} -P 1 -n 1 -t 0 --label own"));
    wait_until_busy(port);
    thread::sleep(Duration::from_secs(2));
    assert!(
        receiver.0.as_mut().unwrap().try_wait().unwrap().is_none(),
        "its -t does not count"
    );
    send_signal(receiver.id(), "INT");
    let received = receiver.finish();
    assert!(text(&received).contains("Totals:"), "{received:?}");
    let sent = sender.finish();
    assert!(sent.status.success(), "{sent:?}");
    assert!(number_after(&text(&sent), "total bytes\t:") > 0.0, "{sent:?}");
    assert_eq!(world.assay(&["show", "own", "--as", "ntttcp"]).succeeded().out, text(&sent));
}

#[test]
fn sender_keeps_what_it_measured_when_its_receiver_dies() {
    let world = World::new();
    let port = free_ports(2);
    let mut receiver = receive(&world, port, "-P 1 -t 60 --no-store");
    let sender = run(&world, &format!("-s 127.0.0.1 -p {port} -P 1 -n 2 -t 60 --label own"));
    wait_until_busy(port);
    thread::sleep(Duration::from_secs(1));
    receiver.0.as_mut().unwrap().kill().unwrap();
    let sent = sender.finish();
    assert_eq!(sent.status.code(), Some(4), "{sent:?}");
    let error = String::from_utf8_lossy(&sent.stderr);
    assert!(error.contains(&format!("the connection with 127.0.0.1:{port} failed")), "{error}");
    assert!(error.contains("check the other end's output"), "{error}");
    assert!(number_after(&text(&sent), "total bytes\t:") > 0.0, "{sent:?}");
    assert_eq!(world.assay(&["show", "own", "--as", "ntttcp"]).succeeded().out, text(&sent));
    let stored = world.json(&["show", "own", "--json"]).to_string();
    assert!(stored.contains("send_rate") && stored.contains("end of the test"), "{stored}");
}

#[test]
fn agreed_time_within_the_warm_up_is_refused() {
    let world = World::new();
    let port = free_ports(2);
    let receiver = receive(&world, port, "-P 1 -M -t 2 -H --no-store");
    let words = format!("ntttcp -s 127.0.0.1 -p {port} -P 1 -n 1 -L -W 5 -t 1 --no-store");
    let outcome = world.assay(&words.split(' ').collect::<Vec<_>>()).failed_with(4);
    assert!(outcome.err.contains("not longer than the warm-up of 5 s"), "{outcome:?}");
    assert!(outcome.err.contains("shorter -W"), "{outcome:?}");
    send_signal(receiver.id(), "INT");
    assert!(receiver.finish().status.success());
}

#[test]
fn held_receiver_without_synchronisation_serves_a_sender_that_comes_at_the_end() {
    let world = World::new();
    let port = free_ports(2);
    let receiver = receive(&world, port, "-P 1 -N -H -t 1 -O log.txt --no-store");
    let totals = || {
        let log = std::fs::read_to_string(world.path("log.txt")).unwrap_or_default();
        log.matches("Totals:").count()
    };
    let mut first = TcpStream::connect(("127.0.0.1", port)).unwrap();
    first.write_all(&[0; 5000]).unwrap();
    wait_until("the first test is over", || totals() == 1);
    // The receiver waits for the end of this connection when the next one arrives.
    let mut next = TcpStream::connect(("127.0.0.1", port)).unwrap();
    next.write_all(&[0; 7000]).unwrap();
    wait_until("the second test is over", || totals() == 2);
    drop((first, next));
    send_signal(receiver.id(), "INT");
    assert!(receiver.finish().status.success());
}

#[test]
fn held_receiver_survives_a_failed_recording() {
    let world = World::new();
    let port = free_ports(2);
    let receiver = receive(&world, port, "-P 1 -H -t 1 --store runs");
    let words = format!("ntttcp -s 127.0.0.1 -p {port} -P 1 -n 1 -t 1 --no-store");
    let send = || world.assay(&words.split(' ').collect::<Vec<_>>()).succeeded();
    let (store, away) = (world.path("runs"), world.path("away"));
    std::fs::rename(&store, &away).unwrap();
    std::fs::write(&store, "no folder").unwrap();
    send();
    std::fs::remove_file(&store).unwrap();
    std::fs::rename(&away, &store).unwrap();
    send();
    wait_until("the second test is stored", || {
        files_below(&store).iter().any(|file| file.ends_with("events.jsonl"))
    });
    send_signal(receiver.id(), "INT");
    let output = receiver.finish();
    assert!(output.status.success(), "{output:?}");
}
