//! Arguments of `assay mdtest`: mdtest's own command line, which has its own parser.

use clap::Args;

use assay_console::options::word_parser;

#[derive(Debug, Args)]
#[command(after_help = "Supported options:\n  \
                  --ranks TASKS             threads, or ranks of mpirun, each with one operation at a time\n  \
                  -n -I -z -b -L            items of a task, items per directory, levels, branching, leaves only\n  \
                  -d DIR[@DIR…]             folder of the tree, which is created in DIR/test-dir.0-0\n  \
                  -C -T -E -r -U            only create, stat, read, remove, rename; default: all\n  \
                  -F -D                     only files, only directories\n  \
                  -w -e -y -k               bytes to write and to read, fsync after the write, mknod\n  \
                  -u -S -c                  a tree for each task, the same files for all, the first task creates all\n  \
                  -N                        shift of the tasks in each phase\n  \
                  -R --random-seed          random order of stat and read\n  \
                  -i -p -f -l -s            iterations, delay, numbers of tasks\n  \
                  -W -x                     time limit of the creation of files, status file\n  \
                  -X --verify-write -G      check the data; its seed\n  \
                  -Y                        sync at the end of each phase\n  \
                  -P -Z -v --print-all-procs --showRankStatistics   output\n  \
                  --saveRankPerformanceDetails FILE   figures of each task\n\n\
                  assay's own options: --version prints the version of mdtest whose output this is; --dryRun prints the phases; --destroy-data=PATH allows to remove items \
                  with mdtest's names that assay did not create; --target-on-root allows the root's file system \
                  where a volume should be mounted. The run is stored: --store=DIR, --label=NAME, --no-store. \
                  Under mpirun, --mpi=PREFIX and --mpi-library=FILE name the MPI library. \
                  `assay show --as mdtest` prints it again. docs/mdtest.md lists all options and the differences.")]
pub struct MdtestArguments {
    /// mdtest's options: --ranks 4 -n 1000 -d DIR -F -C -T -r …
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true, value_parser = word_parser())]
    pub words: Vec<String>,
}
