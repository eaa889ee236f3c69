//! tmp
mod arguments;
mod commands;
mod failure;
mod network;
mod round_trips;
mod terminal;
use clap::{Parser, Subcommand};
#[derive(Parser)]
struct A {
    #[command(subcommand)]
    c: C,
}
#[derive(Subcommand)]
enum C {
    Iperf3(arguments::network::Iperf3Arguments),
    Qperf(arguments::network::QperfArguments),
    Ping(arguments::network::PingArguments),
}
fn main() -> std::process::ExitCode {
    let a = A::parse();
    let mut t = terminal::Terminal::attached();
    let cancel = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    for s in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(s, cancel.clone()).unwrap();
    }
    let r = match a.c {
        C::Iperf3(x) => commands::iperf3::iperf3(&x, &cancel, &mut t),
        C::Qperf(x) => commands::qperf::qperf(&x, &cancel, &mut t),
        C::Ping(x) => commands::ping::ping(&x, &cancel, &mut t),
    };
    match r {
        Ok(c) => c.into(),
        Err(f) => {
            t.complain(&f);
            f.kind.exit_code().into()
        }
    }
}
