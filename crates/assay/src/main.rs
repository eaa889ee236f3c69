//! assay: a benchmark tool for machines, networks, MPI and storage, with the uncertainty of every
//! value.
//!
//! Parses the arguments, calls a command, and turns its result into an exit code.

mod arguments;
mod beside;
mod commands;
mod data_sheet;
mod expected;
mod page;
mod pipeline;
mod suites;

use std::process::ExitCode;

use assay_console::{failure, job_file, listening, output_file, signals, stored, terminal};
use assay_emulation::options::{network::spelled_out, vdbench::as_called};
use assay_emulation::{fio, ior, iperf3, ping, qperf, vdbench};

use crate::arguments::{Command, ending};
use crate::commands::help;
use crate::failure::exit_code;
use crate::listening::Listening;
use crate::terminal::Terminal;
use assay_run::failure::{Failure, Kind};
use assay_run::mpi::launched::Launched;

fn main() -> ExitCode {
    let words = as_called(std::env::args_os());
    let words = commands::help::spelled_out(spelled_out(words));
    if let Some(words) = commands::agent::called(&words) {
        return ended(commands::agent::agent(words), &mut Terminal::attached());
    }
    let parsed = ending::typed(&words);
    let typed = match parsed.or_else(|error| help::with_negatives(error, &words)) {
        Ok(checked) => checked,
        // A single rank of an MPI job reports errors for all.
        Err(error) if error.use_stderr() && !Launched::here().speaks() => {
            return ExitCode::from(exit_code(Kind::Usage));
        }
        Err(error) => return commands::help::refused(error, words),
    };
    let mut terminal = Terminal::attached();
    ended(typed.and_then(|it| carry_out(it.command, &mut terminal)), &mut terminal)
}

fn ended(outcome: Result<u8, Failure>, terminal: &mut Terminal) -> ExitCode {
    match outcome.and_then(|code| terminal.printed().map(|()| code)) {
        Ok(code) => {
            terminal.end_progress();
            ExitCode::from(code)
        }
        Err(failure) => {
            terminal.complain(&failure);
            ExitCode::from(exit_code(failure.kind))
        }
    }
}

fn carry_out(command: Command, terminal: &mut Terminal) -> Result<u8, Failure> {
    if !command.speaks_like_a_tool() {
        arguments::of_terminal().make_current();
    }
    if let Some(occupation) = command.occupation() {
        Listening::before(terminal, occupation, false);
    }
    match command {
        Command::Run(typed) => commands::run::run(&typed, terminal),
        Command::Stream(typed) => commands::run::stream(&typed, terminal),
        Command::Linpack(typed) => commands::run::linpack(&typed, terminal),
        Command::Net(typed) => commands::net::net(&typed, terminal),
        Command::Storage(typed) => commands::storage::storage(&typed, terminal),
        Command::Vdbench(typed) => vdbench::vdbench(&typed, terminal),
        Command::Fio(typed) if help::on_the_way("fio", &typed.words, terminal) => Ok(0),
        Command::Ior(typed) if help::on_the_way("ior", &typed.words, terminal) => Ok(0),
        Command::Fio(typed) => fio::fio(&typed, terminal),
        Command::Ior(typed) => ior::ior(&typed, terminal),
        Command::Iperf3(typed) => {
            iperf3::iperf3(&typed, &*signals::cancel_on_signals()?, terminal)
        }
        Command::Qperf(typed) => {
            qperf::qperf(&typed, &*signals::cancel_on_signals()?, terminal)
        }
        Command::Ping(typed) => ping::ping(&typed, &*signals::cancel_on_signals()?, terminal),
        Command::Mpi(typed) => commands::mpi::mpi(&typed, terminal),
        Command::Rdma(typed) => {
            commands::rdma::rdma(&typed, &*signals::cancel_on_signals()?, terminal)
        }
        Command::Plan(typed) => commands::plan::plan(&typed, terminal),
        Command::Doctor(typed) => commands::doctor::doctor(&typed, terminal),
        Command::Verify(typed) => commands::verify::verify(&typed, terminal),
        Command::Import(typed) => commands::import::import(&typed, terminal),
        Command::List(typed) => commands::list::list(&typed, terminal),
        Command::Rm(typed) => commands::removal::rm(&typed, terminal),
        Command::Prune(typed) => commands::removal::prune(&typed, terminal),
        Command::Show(typed) => commands::show::show(&typed, terminal),
        Command::Compare(typed) => commands::compare::compare(&typed, terminal),
        Command::References(typed) => commands::references::references(&typed, terminal),
        Command::Lint(typed) => commands::lint::lint(&typed, terminal),
        Command::History(typed) => commands::history::history(&typed, terminal),
        Command::Report(typed) => commands::show::report(&typed, terminal),
        Command::Help(typed) => commands::help::help(&typed, terminal),
        Command::Completions(typed) => commands::help::completions(&typed, terminal),
        Command::Man(typed) => commands::help::man(&typed, terminal),
    }
}
