//! What may be typed after `ior`: IOR's own command line, which has a reader of its own.

use assay_run::failure::Failure;
use clap::Args;

use super::{KeepArguments, StoreArguments};

#[derive(Debug, Args)]
#[command(after_help = "What runs:\n  \
                  -N RANKS                  threads, one I/O in flight each\n  \
                  -b -t -s                  bytes of a block and of a transfer, segments; k, m and g are binary\n  \
                  -w -r -W -R               write, read, check after writing, check while reading\n  \
                  -o FILE -F -m -u          a shared file; one per rank, per repetition, in folders\n  \
                  -i -d -T                  repetitions, seconds between, minutes at most\n  \
                  -e -Y --posix.odirect     fsync at the end, after every write; past the page cache\n  \
                  -C -Q -Z -X               ranks read what others wrote: shifted, at random\n  \
                  -z, -z -z                 transfers in random order, anywhere\n  \
                  -D -O stoneWallingWearOut=1   a deadline in seconds, after which all catch up\n  \
                  -k -K -E                  files stay, stay after errors, are used again\n  \
                  -f FILE                   a script: several tests\n  \
                  -O summaryFormat=JSON|CSV,summaryFile=FILE   and any option by its long name\n\n\
                  Of assay itself: --dryRun shows the plan, --destroy-data=PATH lets a test write to a device \
                  or to a file that assay did not make, --target-on-root lets it use the root's file \
                  system where a volume should be mounted. The run is stored: --no-store, --store=DIR, --label=NAME as everywhere; \
                  `assay show --as ior` and `--as ior-json` print it again. docs/ior.md tells of every option and where assay differs.")]
pub(crate) struct IorArguments {
    /// IOR's options: -N 4 -b 1g -t 1m -s 2 -F -C -e -i 3 -w -r -k -o FILE …
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}

/// The words that are assay's own, about the store, and IOR's. They may stand anywhere, in one word or two,
/// as IOR takes its long options.
pub(crate) fn own_words(words: &[String]) -> Result<(KeepArguments, Vec<String>), Failure> {
    let store = StoreArguments { folder: None };
    let mut keep = KeepArguments { store, no_store: false, label: None };
    let mut others = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (word.as_str(), None),
        };
        let mut value = || {
            glued.clone().or_else(|| words.next().cloned()).ok_or_else(|| {
                Failure::usage(format!("{name} needs a value"))
                    .advise("--store=DIR names a folder, --label=NAME a condition")
            })
        };
        match name {
            "--no-store" => keep.no_store = true,
            "--store" => keep.store.folder = Some(value()?.into()),
            "--label" => keep.label = Some(value()?),
            _ => others.push(word.clone()),
        }
    }
    if keep.no_store && keep.store.folder.is_some() {
        return Err(Failure::usage("--no-store and --store contradict each other")
            .advise("leave one of them out"));
    }
    Ok((keep, others))
}
