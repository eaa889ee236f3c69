//! Test that the command line accepts every command of README.md and of the pages in `docs`, also those that no test
//! can execute.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use assay_emulation::options::network::normalize_qperf_words;
use clap::error::ErrorKind;
use workbench::page_commands::{read_inline_commands, read_page_commands};

use super::file_extension::parse_arguments;

/// Returns README.md and the pages in `docs`.
fn find_pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|page| page.extension().is_some_and(|it| it == "md"));
    pages.chain([root.join("README.md")]).collect()
}

#[test]
fn commands_of_pages_are_accepted() {
    let mut count = 0;
    let mut faults = Vec::new();
    for page in find_pages() {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&page).unwrap();
        let commands = read_page_commands(&text).unwrap_or_else(|it| panic!("{name}: {it:#}"));
        for (command, words) in commands
            .iter()
            .flat_map(|it| it.assay_calls().into_iter().map(move |call| (it, call)))
        {
            count += 1;
            let address = |word: String| word.replace("ADDRESS", "127.0.0.1");
            let words: Vec<OsString> =
                words.into_iter().map(address).map(OsString::from).collect();
            let parsed = parse_arguments(&normalize_qperf_words(words));
            let fault = match parsed {
                Ok(Ok(_)) => continue,
                Ok(Err(failure)) => format!("{failure:?}"),
                Err(error) if !error.use_stderr() => continue,
                Err(error) => error.to_string(),
            };
            faults.push(format!("{name}:{}: {}\n{fault}", command.line, command.text));
        }
    }
    assert!(count > 100, "{count} commands");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Code spans may lack arguments and have placeholders as values; commands and options must exist.
#[test]
fn commands_in_sentences_exist() {
    let mut faults = Vec::new();
    for page in find_pages() {
        let text = fs::read_to_string(&page).unwrap();
        for command in read_inline_commands(&text) {
            let words =
                command.assay_calls().remove(0).into_iter().map(OsString::from).collect();
            let Err(error) = parse_arguments(&normalize_qperf_words(words)) else { continue };
            if matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::InvalidSubcommand)
            {
                let name = page.file_name().unwrap().to_string_lossy().into_owned();
                faults.push(format!("{name}:{}: {}\n{error}", command.line, command.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
