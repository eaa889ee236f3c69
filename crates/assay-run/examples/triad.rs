//! Measures STREAM's Triad on all cores of this machine: its median and the interval of the median.

use std::error::Error;
use std::io::Write as _;
use std::sync::atomic::AtomicBool;

use assay_model::suite;
use assay_run::coordinator::Alone;
use assay_run::listener::SilentListener;
use assay_run::run_request::{RunRequest, measure, prepare};
use assay_stats::summarize::summarize;
use assay_store::Store;

const SUITE: &str = "name = 'triad'\nbudget = '10s'\n[[measure]]\nbenchmark = 'memory.stream'";

fn main() -> Result<(), Box<dyn Error>> {
    let suite = suite::parse_suite(SUITE).map_err(|error| error.message)?;
    let store = Store::open(std::env::temp_dir().join("assay-example"))?;
    let request = RunRequest::from_suite(&suite);
    let measured = measure(
        &request,
        prepare(&request)?,
        Some(&store),
        &AtomicBool::new(false),
        &mut SilentListener,
        Box::new(Alone),
    )?;
    let triad =
        summarize(&measured.run).results.into_iter().find(|result| result.metric == "triad");
    writeln!(std::io::stdout(), "{:?}", triad.map(|triad| (triad.median, triad.ci)))?;
    Ok(())
}
