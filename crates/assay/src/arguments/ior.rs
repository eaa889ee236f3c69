//! What may be typed after `ior`: IOR's own command line, which has a reader of its own.

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Ranks are threads: -N says how many. Of assay itself: --dryRun shows the plan, \
                  --destroy-data=PATH lets a test write to a device or to a file that assay did not \
                  make, --allow-unmounted lets it use a folder below /mnt on which nothing is \
                  mounted. docs/ior.md says which options of IOR run."
)]
pub(crate) struct IorArguments {
    /// IOR's options: -N 4 -b 1g -t 1m -s 2 -F -C -e -i 3 -w -r -k -o FILE …
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}
