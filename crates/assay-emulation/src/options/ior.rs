//! Arguments of `assay ior`: IOR's own command line, which has its own parser.

use assay_run::failure::CommandFailure;
use assay_run::mpi::options::RequestedLibrary;
use clap::Args;

use assay_console::options::{RecordArguments, StoreArguments, word_parser};
use assay_model::path_text;

#[derive(Debug, Args)]
#[command(after_help = "Supported options:\n  \
                  -N RANKS                  threads, or ranks of mpirun, each with one I/O in flight\n  \
                  -b -t -s                  block size, transfer size, segments; k, m and g are binary\n  \
                  -w -r -W -R               write, read, check after write, check on read\n  \
                  -o FILE -F -m -u          shared file; file per rank, per repetition, in unique folders\n  \
                  -i -d -T                  repetitions, delay in seconds, time limit in minutes\n  \
                  -e -Y --posix.odirect     fsync after the writes, after every write; O_DIRECT\n  \
                  -C -Q -Z -X               reorder ranks for reading: shifted, random\n  \
                  -z, -z -z                 random order of transfers, random offsets\n  \
                  -D -O stoneWallingWearOut=1   stonewall after this many seconds, with wear-out\n  \
                  -k -K -E                  keep files, keep them after errors, use existing files\n  \
                  -f FILE                   script with several tests\n  \
                  -O summaryFormat=JSON|CSV,summaryFile=FILE   and any option by its long name\n\n\
                  assay's own options: --version prints the version of IOR whose output this is; --dryRun prints the plan; --destroy-data=PATH allows a test to overwrite a device \
                  or a file that assay did not create; --target-on-root allows the root's file system \
                  where a volume should be mounted. The run is stored: --store=DIR, --label=NAME, --no-store. \
                  Under mpirun, --mpi=PREFIX and --mpi-library=FILE name the MPI library. \
                  `assay show --as ior` and `--as ior-json` print it again. docs/ior.md lists all options and the differences.")]
pub struct IorArguments {
    /// IOR's options: -N 4 -b 1g -t 1m -s 2 -F -C -e -i 3 -w -r -k -o FILE …
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true, value_parser = word_parser())]
    pub words: Vec<String>,
}

/// assay's own options among the words of IOR or mdtest.
#[derive(Debug)]
pub(crate) struct OwnOptions {
    /// Options about the store.
    pub(crate) keep: RecordArguments,
    pub(crate) library: RequestedLibrary,
    /// The words of the tool.
    pub(crate) words: Vec<String>,
}

/// Separates assay's own options from IOR's words. They are accepted anywhere, as one word or two,
/// like IOR's long options.
pub(crate) fn split_own_options(words: &[String]) -> Result<OwnOptions, CommandFailure> {
    let store = StoreArguments { folder: None };
    let mut keep = RecordArguments { store, no_store: false, label: None };
    let mut library = RequestedLibrary::default();
    let mut others = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let mut value = || {
            glued.clone().or_else(|| words.next().cloned()).ok_or_else(|| {
                CommandFailure::usage(format!("{name} needs a value"))
                    .advise("write it like --store=DIR, --label=NAME or --mpi=PREFIX")
            })
        };
        match name {
            "--no-store" => keep.no_store = true,
            "--store" => keep.store.folder = Some(path_text::decode_path(&value()?)),
            "--label" => keep.label = Some(value()?),
            "--mpi" => library.prefix = Some(path_text::decode_path(&value()?)),
            "--mpi-library" => library.file = Some(path_text::decode_path(&value()?)),
            _ => others.push(word.clone()),
        }
    }
    if keep.no_store && keep.store.folder.is_some() {
        return Err(CommandFailure::usage("--no-store and --store cannot be used together")
            .advise("leave out one of them"));
    }
    Ok(OwnOptions { keep, library, words: others })
}
