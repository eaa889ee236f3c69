//! Options of `assay serve`.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use clap::Args;

use super::language::ScreenArguments;
use super::list::RunFilterArguments;
use assay_console::options::StoreArguments;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay serve                      print the address, and open it in a browser of this machine
  assay serve --label hbv4         only the runs of a label
  ssh -L 8437:localhost:8437 node  (from elsewhere) and open http://localhost:8437/ there
  assay serve --bind 0.0.0.0 --token-file token
                                   for other machines: http://HOST:8437/?token=… opens the pages

Runs appear as they end, and a running one shows its seconds. No page is written to a disk.")]
pub(crate) struct ServeArguments {
    /// Port; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 8437)]
    pub(crate) port: u16,
    /// Address of this machine to be reached at; other addresses than loopback need a token
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    pub(crate) bind: IpAddr,
    /// File with a secret of at least 16 letters, without which nothing is shown
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) filter: RunFilterArguments,
    #[command(flatten)]
    pub(crate) screen: ScreenArguments,
    #[command(flatten)]
    pub(crate) store: StoreArguments,
}
