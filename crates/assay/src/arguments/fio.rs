//! What may be typed after `fio`: fio's own command line, which has a reader of its own.

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Of assay itself: --dry-run shows the plan, --destroy-data=PATH lets a job write \
                  to a device or to a file that assay did not make, --target-on-root lets it use \
                  the root's file system where a volume should be mounted. The run is stored, in the folder \
                  of --store=DIR and called --label=NAME, unless --no-store is given; `assay show \
                  --as fio-json` prints it again. docs/fio.md says which options of fio run."
)]
pub(crate) struct FioArguments {
    /// Job files and fio's options: --name=job --rw=randread …, --section=NAME,
    /// --output-format=normal|json|json+|terse, --output=FILE
    #[arg(value_name = "JOBFILE|OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) words: Vec<String>,
}
