//! Arguments of `assay fio`: fio's own command line, which has its own parser.

use assay_console::options::word_parser;
use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "assay's own options: --dry-run prints the plan; --destroy-data=PATH allows a job to \
                  overwrite a device or a file that assay did not create; --target-on-root allows \
                  the root's file system where a volume should be mounted. The run is stored: --store=DIR, \
                  --label=NAME, --no-store. `assay show --as fio-json` prints it again. docs/fio.md \
                  lists the supported options of fio."
)]
pub struct FioArguments {
    /// Job files and fio's options: --name=job --rw=randread …, --section=NAME,
    /// --output-format=normal|json|json+|terse, --output=FILE
    #[arg(value_name = "JOBFILE|OPTION", trailing_var_arg = true, allow_hyphen_values = true, value_parser = word_parser())]
    pub words: Vec<String>,
}
