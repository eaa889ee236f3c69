//! End-to-end tests of the program: arguments in, text, files and exit codes out.
//!
//! No test asserts a speed; known truths are checked by `cargo xtask truth`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stderr, reason = "skipped tests print their name")]

mod bad_input;
mod bench_suites;
mod claims;
mod conditions;
mod exec;
mod export;
mod export_readers;
mod factors;
mod file_names;
mod fio;
mod fio_differential;
mod fio_errors;
mod fio_file_calls;
mod fio_job_ends;
mod fio_latency;
mod fio_logs;
mod fio_replay;
mod help_texts;
mod hosts;
mod import;
mod import_damage;
mod interruption;
mod io500;
mod ior;
mod ior_ranks;
mod kernel_counters;
mod local_times;
mod mdtest;
mod mdtest_differential;
mod mdtest_ranks;
mod measurements;
mod mpi;
mod mpi_run;
mod network;
mod official_tools;
mod page_commands;
mod pages;
mod pairs;
mod planning;
mod processes;
mod program;
mod rdma;
mod reframe;
mod releases;
mod reports;
mod restricted;
mod round_trips;
mod run_table;
mod serve;
mod serve_browser;
mod several_suites;
mod site;
mod site_anonymous;
mod site_browser;
mod site_checks;
mod slurm;
mod storage;
mod storage_files;
mod storage_safety;
mod storage_targets;
mod transcript;
mod truth;
mod vdbench;
mod vdbench_hosts;
mod walk;
