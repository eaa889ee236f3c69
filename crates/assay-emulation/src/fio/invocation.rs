//! A fio invocation with its inputs: command line, job files, and properties of the machine that
//! they depend on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use assay_dialects::fio::command_line;
use assay_dialects::fio::compile::{self, FioCompileEnv, FioPlan};
use assay_dialects::fio::job_error::FioJobError;
use assay_dialects::fio::jobfile::FioParseContext;
use assay_dialects::fio::request::FioRequest;
use assay_fleet::root::Root;
use assay_fleet::{capacity, cpu_list, facts};
use assay_kernels::storage;
use assay_model::facts::{HostFacts, Topology};
use assay_model::path_text;
use assay_run::run_request::random_seed;

use assay_run::job_file;

/// Size of a file that `--parse-only` does not find, that of a usual drive.
const ASSUMED_BYTES: u64 = 1 << 40;

/// Lists of the NUMA nodes with memory; older kernels have only the second one.
const NODE_LISTS: [&str; 2] =
    ["sys/devices/system/node/has_memory", "sys/devices/system/node/has_normal_memory"];

/// Command line, this machine, and the files that were read.
#[derive(Debug)]
pub(super) struct FioInvocation<'w> {
    words: &'w [String],
    machine: HostFacts,
    memory_nodes: Vec<usize>,
    fresh_seed: u64,
    files: RefCell<BTreeMap<String, Result<Vec<u8>, String>>>,
}

impl<'w> FioInvocation<'w> {
    /// Creates an invocation that reads this machine.
    pub(super) fn on_this_machine(words: &'w [String]) -> Self {
        let root = Root::machine();
        let machine = facts::read(&root);
        let memory_nodes = memory_nodes(&root, &machine.topology);
        let fresh_seed = random_seed();
        Self { words, machine, memory_nodes, fresh_seed, files: RefCell::default() }
    }

    /// Parses the command line and its job files.
    pub(super) fn parse(&self) -> Result<FioRequest, FioJobError> {
        let memory = &self.machine.memory;
        let context = FioParseContext {
            read_file: &|path| self.read_file(path),
            variable: &|name| std::env::var(name).ok(),
            page_bytes: memory.page_bytes,
            memory_mib: memory.total_bytes >> 20,
            cpus: std::thread::available_parallelism().map_or(1, |count| count.get() as u64),
        };
        command_line::parse(self.words, &context)
    }

    /// Compiles the request to a plan.
    pub(super) fn compile(&self, request: &FioRequest) -> Result<FioPlan, FioJobError> {
        let env = FioCompileEnv {
            size_of: &|path| capacity::size(path).ok().flatten(),
            // What is only parsed may be a plan for another machine.
            assumed_bytes: request.parse_only.then_some(ASSUMED_BYTES),
            cpus_of_node: &|node| {
                self.cpus_of_node(node).or_else(|| request.parse_only.then(Vec::new))
            },
            memory_nodes: (!request.parse_only).then_some(self.memory_nodes.as_slice()),
            count_passes: &storage::count_passes,
            read_state: &|path| {
                job_file::read(&path_text::decode_path(path)).map_err(|error| error.to_string())
            },
            fresh_seed: self.fresh_seed,
        };
        compile::compile(request, &env)
    }

    /// Returns the text of a file.
    pub(super) fn read_file(&self, path: &str) -> Result<String, String> {
        let mut files = self.files.borrow_mut();
        let read = files.entry(path.to_owned()).or_insert_with(|| {
            job_file::read(&path_text::decode_path(path)).map_err(|error| error.to_string())
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

    fn cpus_of_node(&self, node: usize) -> Option<Vec<usize>> {
        let nodes = &self.machine.topology.numa;
        let node = nodes.iter().find(|it| it.id as usize == node)?;
        Some(node.cpus.iter().map(|cpu| *cpu as usize).collect())
    }
}

/// Returns the NUMA nodes with memory, with and without CPUs. Falls back to those of the topology.
fn memory_nodes(root: &Root, topology: &Topology) -> Vec<usize> {
    let read_list = |path: &&str| cpu_list::parse(&root.text(path)?);
    let listed = NODE_LISTS.iter().find_map(read_list);
    let known = topology.numa.iter().chain(&topology.memory_nodes).map(|node| node.id);
    let nodes = listed.unwrap_or_else(|| known.collect());
    nodes.into_iter().map(|node| node as usize).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use assay_model::facts::NumaNode;

    use super::*;

    #[test]
    fn memory_nodes_include_those_without_cpus() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::from_directory(folder.path());
        let node = |id: u32, cpus: Vec<u32>| NumaNode { id, cpus, bytes: 1 << 30 };
        let topology = Topology {
            numa: vec![node(0, vec![0])],
            memory_nodes: vec![node(2, vec![])],
            ..Topology::default()
        };
        assert_eq!(memory_nodes(&root, &topology), [0, 2]);
        fs::create_dir_all(folder.path().join("sys/devices/system/node")).unwrap();
        // The second list counts only without the first one.
        let [first, second] = NODE_LISTS;
        for (path, text, expected) in
            [(second, "0-1\n", vec![0, 1]), (first, "0-1,4\n", vec![0, 1, 4])]
        {
            fs::write(folder.path().join(path), text).unwrap();
            assert_eq!(memory_nodes(&root, &topology), expected, "{path}");
        }
    }
}
