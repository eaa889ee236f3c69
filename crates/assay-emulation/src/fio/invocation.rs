//! A fio invocation with all its inputs: command line, job files, and properties of the machine
//! that they depend on.
//!
//! Every property is recorded when it is first read. The stored invocation then means the same
//! later and on another machine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use assay_dialects::fio::command_line::{self, FioRequest};
use assay_dialects::fio::compile::{self, FioCompileEnv, FioPlan};
use assay_dialects::fio::job_error::FioJobError;
use assay_dialects::fio::jobfile::FioParseContext;
use assay_fleet::root::Root;
use assay_fleet::{capacity, facts};
use assay_model::facts::HostFacts;
use assay_model::path_text;
use assay_run::run_request::random_seed;
use serde::{Deserialize, Serialize};

use crate::job_file;

/// Properties of the machine that the invocation depends on.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RecordedProperties {
    page_bytes: u64,
    memory_mib: u64,
    cpus: u64,
    seed: u64,
    variables: BTreeMap<String, Option<String>>,
    /// Sizes of files and devices in bytes; `None` if the path did not exist.
    sizes: BTreeMap<String, Option<u64>>,
    cpus_of_nodes: BTreeMap<usize, Option<Vec<usize>>>,
}

type Files = BTreeMap<String, Result<Vec<u8>, String>>;

/// Command line and the source of its other inputs.
#[derive(Debug)]
pub(super) struct FioInvocation<'w> {
    words: &'w [String],
    /// `None` for a stored invocation, which reads only recorded properties.
    machine: Option<HostFacts>,
    answers: RefCell<RecordedProperties>,
    files: RefCell<Files>,
}

impl<'w> FioInvocation<'w> {
    /// Creates an invocation that reads this machine.
    pub(super) fn on_this_machine(words: &'w [String]) -> Self {
        let facts = facts::read(&Root::machine());
        let answers = RecordedProperties {
            page_bytes: facts.memory.page_bytes,
            memory_mib: facts.memory.total_bytes >> 20,
            cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
            seed: random_seed(),
            ..RecordedProperties::default()
        };
        let (answers, files) = (RefCell::new(answers), RefCell::default());
        Self { words, machine: Some(facts), answers, files }
    }

    /// Restores a stored invocation; `answers` is the output of
    /// [`FioInvocation::recorded_properties`].
    ///
    /// # Errors
    /// The answers cannot be parsed.
    pub(super) fn from_stored(
        words: &'w [String],
        answers: &[u8],
        files: BTreeMap<String, Vec<u8>>,
    ) -> serde_json::Result<Self> {
        let answers = RefCell::new(serde_json::from_slice(answers)?);
        let files = files.into_iter().map(|(path, bytes)| (path, Ok(bytes))).collect();
        Ok(Self { words, machine: None, answers, files: RefCell::new(files) })
    }

    /// Parses the command line and its job files.
    pub(super) fn parse(&self) -> Result<FioRequest, FioJobError> {
        let (page_bytes, memory_mib, cpus) = {
            let answers = self.answers.borrow();
            (answers.page_bytes, answers.memory_mib, answers.cpus)
        };
        let context = FioParseContext {
            read_file: &|path| self.read_file(path),
            variable: &|name| self.variable(name),
            page_bytes,
            memory_mib,
            cpus,
        };
        command_line::parse(self.words, &context)
    }

    /// Compiles the request to a plan.
    pub(super) fn compile(&self, request: &FioRequest) -> Result<FioPlan, FioJobError> {
        let env = FioCompileEnv {
            size_of: &|path| self.size(path),
            cpus_of_node: &|node| self.cpus_of_node(node),
            fresh_seed: self.answers.borrow().seed,
        };
        compile::compile(request, &env)
    }

    /// Returns the text of a file.
    pub(super) fn read_file(&self, path: &str) -> Result<String, String> {
        let mut files = self.files.borrow_mut();
        let read = files.entry(path.to_owned()).or_insert_with(|| match self.machine {
            Some(_) => {
                job_file::read(&path_text::decode_path(path)).map_err(|error| error.to_string())
            }
            None => Err("the file did not exist".to_owned()),
        });
        read.as_ref().map(|it| path_text::encode(OsStr::from_bytes(it))).map_err(Clone::clone)
    }

    /// Returns every file that was read, verbatim.
    pub(super) fn read_files(&self) -> Vec<(String, Vec<u8>)> {
        let files = self.files.borrow();
        let readable =
            files.iter().filter_map(|(path, read)| Some((path, read.as_ref().ok()?)));
        readable.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    }

    /// Returns the recorded properties as JSON.
    ///
    /// # Errors
    /// None in practice: numbers and names can always be serialized.
    pub(super) fn recorded_properties(&self) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec_pretty(&*self.answers.borrow())
    }

    fn variable(&self, name: &str) -> Option<String> {
        let ask = || self.machine.as_ref().and_then(|_| std::env::var(name).ok());
        let mut answers = self.answers.borrow_mut();
        answers.variables.entry(name.to_owned()).or_insert_with(ask).clone()
    }

    fn size(&self, path: &Path) -> Option<u64> {
        let ask = || self.machine.as_ref().and_then(|_| capacity::size(path).ok().flatten());
        let mut answers = self.answers.borrow_mut();
        *answers.sizes.entry(path_text::encode(path.as_os_str())).or_insert_with(ask)
    }

    fn cpus_of_node(&self, node: usize) -> Option<Vec<usize>> {
        let ask = || {
            let nodes = &self.machine.as_ref()?.topology.numa;
            let node = nodes.iter().find(|it| it.id as usize == node)?;
            Some(node.cpus.iter().map(|cpu| *cpu as usize).collect())
        };
        self.answers.borrow_mut().cpus_of_nodes.entry(node).or_insert_with(ask).clone()
    }
}
