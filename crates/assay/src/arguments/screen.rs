//! Progress and language of each command of assay's own.

use super::language::ScreenArguments;
use super::network::NetCommand;
use super::plan::PlanCommand;
use super::storage::{StorageArguments, StorageCommand};
use super::{AssayCommand, MeasuringArguments};

impl AssayCommand {
    /// Returns the options for progress and language; `None` for emulated tools, which keep their
    /// own, and for commands that print texts for shells.
    pub(crate) const fn screen(&self) -> Option<&ScreenArguments> {
        let page = match self {
            Self::Doctor(typed) => &typed.page,
            Self::List(typed) => &typed.page,
            Self::Show(typed) => &typed.page,
            Self::Compare(typed) => &typed.page,
            Self::References(typed) => &typed.page,
            Self::History(typed) => &typed.page,
            Self::Report(typed) => &typed.page,
            Self::Site(typed) => return Some(&typed.screen),
            Self::Serve(typed) => return Some(&typed.screen),
            Self::Lint(typed) => return Some(&typed.screen),
            Self::Import(typed) => return Some(&typed.answer.screen),
            Self::Rm(typed) => return Some(&typed.answer.screen),
            Self::Prune(typed) => return Some(&typed.answer.screen),
            Self::Verify(typed) => return Some(&typed.answer.screen),
            Self::Plan(typed) => {
                return Some(match &typed.what {
                    PlanCommand::LittlesLaw(typed) => &typed.answer.screen,
                    PlanCommand::Anf(typed) => &typed.answer.screen,
                    PlanCommand::Runs(typed) => &typed.answer.screen,
                });
            }
            Self::Storage(StorageArguments { what: StorageCommand::Clean(typed) }) => {
                return Some(&typed.answer.screen);
            }
            measuring => match measuring.measuring() {
                Some(typed) => &typed.page,
                None => return None,
            },
        };
        Some(&page.screen)
    }

    /// Returns the options of a command that measures.
    const fn measuring(&self) -> Option<&MeasuringArguments> {
        Some(match self {
            Self::Run(typed) => &typed.measuring,
            Self::Stream(typed) => &typed.measuring,
            Self::Linpack(typed) => &typed.measuring,
            Self::Exec(typed) => &typed.measuring,
            Self::Net(typed) => match &typed.what {
                NetCommand::Throughput(typed) => &typed.measuring,
                NetCommand::Latency(typed) => &typed.measuring,
                NetCommand::RequestResponse(typed) => &typed.measuring,
                NetCommand::Connections(typed) => &typed.measuring,
            },
            Self::Storage(typed) => match &typed.what {
                StorageCommand::Read(typed) | StorageCommand::Write(typed) => &typed.measuring,
                StorageCommand::Mix(typed) => &typed.test.measuring,
                StorageCommand::Files(typed) => &typed.measuring,
                StorageCommand::Clean(_) => return None,
            },
            _ => return None,
        })
    }
}
