//! assay: a benchmark tool for machines, networks, MPI and storage, with the uncertainty of every
//! value.
//!
//! Parses the arguments, calls a command, and turns its result into an exit code.

mod arguments;
mod commands;
mod delivery;
mod expectations;
mod page;
mod pipeline;
mod run_names;

use std::process::ExitCode;

use assay_console::{
    failure, file_size_limit, output_file, progress_listener, signals, store_access, terminal,
};
use assay_emulation::options::network::normalize_qperf_words;
use assay_emulation::{
    called_name, fio, ior, iperf3, mdtest, ntttcp, osu, perftest, ping, qperf, sockperf,
    vdbench,
};

use assay_report::locale;
use jiff::tz::TimeZone;

use crate::arguments::{AssayCommand, ScreenArguments, file_extension};
use crate::commands::help;
use crate::failure::exit_code;
use crate::progress_listener::ProgressListener;
use crate::signals::cancel_on_signals;
use crate::terminal::Terminal;
use assay_run::failure::{CommandFailure, FailureKind};
use assay_run::mpi::launcher_env::LauncherEnv;
use assay_run::suites;

/// Version, with commit and date in a released program: `cargo xtask dist` sets the variable.
const VERSION: &str = match option_env!("ASSAY_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};

/// Runs the command that the arguments of the process ask for, and returns its exit code.
pub fn run() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    // First of all, so that the process stays small.
    if let Some(code) = assay_run::program::serve_start(&words) {
        return ExitCode::from(code);
    }
    file_size_limit::report_as_error();
    help::answer_shell();
    let words = called_name::insert_command(words);
    let words = commands::help::move_help_first(normalize_qperf_words(words));
    if let Some(words) = commands::agent::agent_words(&words) {
        return exit_with(commands::agent::agent(words), &mut Terminal::for_process());
    }
    if let Some(version) = commands::help::requested_version(&words) {
        let mut terminal = Terminal::for_process();
        terminal.print(&version);
        return exit_with(Ok(0), &mut terminal);
    }
    let parsed = file_extension::parse_arguments(&words);
    let typed = match parsed.or_else(|error| help::parse_negative_values(error, &words)) {
        Ok(checked) => checked,
        // In an MPI job, one rank prints the error for all.
        Err(error)
            if error.use_stderr() && !LauncherEnv::from_process_env().is_reporting_rank() =>
        {
            return ExitCode::from(exit_code(FailureKind::Usage));
        }
        Err(error) => return commands::help::report_parse_error(error, words),
    };
    let mut terminal = Terminal::for_process();
    exit_with(typed.and_then(|it| execute(it.command, &mut terminal)), &mut terminal)
}

fn exit_with(outcome: Result<u8, CommandFailure>, terminal: &mut Terminal) -> ExitCode {
    match outcome.and_then(|code| terminal.check_output().map(|()| code)) {
        Ok(code) => {
            terminal.end_progress();
            ExitCode::from(code)
        }
        Err(failure) => {
            terminal.print_failure(&failure);
            ExitCode::from(exit_code(failure.kind))
        }
    }
}

fn execute(command: AssayCommand, terminal: &mut Terminal) -> Result<u8, CommandFailure> {
    // Published output names no place, not even by its zone.
    if !command.is_anonymous() {
        locale::set_time_zone(|| TimeZone::try_system().unwrap_or(TimeZone::UTC));
    }
    let screen = command.screen();
    match screen.and_then(ScreenArguments::language) {
        Some(language) => language.make_current(),
        None if command.prints_tool_output() => {}
        None => arguments::terminal_language().make_current(),
    }
    let is_quiet = screen.is_some_and(|it| it.quiet);
    if let Some(message) = command.progress_message().filter(|_| !is_quiet) {
        ProgressListener::show_search(terminal, message, false);
    }
    let words_of_tool = match &command {
        AssayCommand::Fio(typed) => Some(("fio", &typed.words)),
        AssayCommand::Ior(typed) => Some(("ior", &typed.words)),
        AssayCommand::Mdtest(typed) => Some(("mdtest", &typed.words)),
        _ => None,
    };
    if words_of_tool
        .is_some_and(|(tool, words)| help::print_requested_help(tool, words, terminal))
    {
        return Ok(0);
    }
    match command {
        AssayCommand::Run(typed) => commands::run::run(&typed, terminal),
        AssayCommand::Stream(typed) => commands::run::stream(&typed, terminal),
        AssayCommand::Linpack(typed) => commands::run::linpack(&typed, terminal),
        AssayCommand::Exec(typed) => commands::exec::exec(&typed, terminal),
        AssayCommand::Net(typed) => commands::net::net(&typed, terminal),
        AssayCommand::Storage(typed) => commands::storage::storage(&typed, terminal),
        AssayCommand::Vdbench(typed) => vdbench::vdbench(&typed, terminal),
        AssayCommand::Fio(typed) => fio::fio(&typed, terminal),
        AssayCommand::Ior(typed) => ior::ior(&typed, terminal),
        AssayCommand::Mdtest(typed) => mdtest::mdtest(&typed, terminal),
        AssayCommand::Iperf3(typed) => iperf3::iperf3(&typed, &*cancel_on_signals()?, terminal),
        AssayCommand::Qperf(typed) => qperf::qperf(&typed, &*cancel_on_signals()?, terminal),
        AssayCommand::Ntttcp(typed) => ntttcp::ntttcp(&typed, &*cancel_on_signals()?, terminal),
        AssayCommand::Sockperf(typed) => {
            sockperf::sockperf(&typed, &*cancel_on_signals()?, terminal)
        }
        AssayCommand::Ping(typed) => ping::ping(&typed, &*cancel_on_signals()?, terminal),
        AssayCommand::Mpi(typed) => osu::mpi(&typed, terminal),
        AssayCommand::Rdma(typed) => perftest::rdma(&typed, &*cancel_on_signals()?, terminal),
        AssayCommand::Plan(typed) => commands::plan::plan(&typed, terminal),
        AssayCommand::Doctor(typed) => commands::doctor::doctor(&typed, terminal),
        AssayCommand::Verify(typed) => commands::verify::verify(&typed, terminal),
        AssayCommand::Import(typed) => commands::import::import(&typed, terminal),
        AssayCommand::List(typed) => commands::list::list(&typed, terminal),
        AssayCommand::Rm(typed) => commands::removal::rm(&typed, terminal),
        AssayCommand::Prune(typed) => commands::removal::prune(&typed, terminal),
        AssayCommand::Show(typed) => commands::show::show(&typed, terminal),
        AssayCommand::Compare(typed) => commands::compare::compare(&typed, terminal),
        AssayCommand::References(typed) => commands::references::references(&typed, terminal),
        AssayCommand::Lint(typed) => commands::lint::lint(&typed, terminal),
        AssayCommand::History(typed) => commands::history::history(&typed, terminal),
        AssayCommand::Report(typed) => commands::show::report(&typed, terminal),
        AssayCommand::Export(typed) => commands::export::export(&typed, terminal),
        AssayCommand::Site(typed) => commands::site::site(&typed, terminal),
        AssayCommand::Serve(typed) => commands::serve::serve(&typed, terminal),
        AssayCommand::Help(typed) => commands::help::help(&typed, terminal),
        AssayCommand::Completions(typed) => commands::help::completions(&typed, terminal),
        AssayCommand::Man(typed) => commands::help::man(&typed, terminal),
    }
}
