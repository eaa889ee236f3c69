//! MPI launchers, which start commands several times whose tasks are threads of one process.

use assay_run::failure::CommandFailure;

/// Variables in which MPI launchers set the number of started processes.
const LAUNCHER_VARIABLES: [&str; 5] = [
    "OMPI_COMM_WORLD_SIZE",
    "PMI_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_STEP_NUM_TASKS",
    "PMIX_SIZE",
];

/// Refuses to run `command` as one of several processes; `advice` starts it once.
pub(crate) fn refuse(command: &str, advice: &str) -> Result<(), CommandFailure> {
    let is_parallel = |name: &&str| {
        std::env::var(name).ok().and_then(|count| count.parse::<u64>().ok()).unwrap_or(1) > 1
    };
    let Some(name) = LAUNCHER_VARIABLES.iter().find(|name| is_parallel(name)) else {
        return Ok(());
    };
    Err(CommandFailure::usage(format!("assay {command} does not run under an MPI launcher"))
        .with_reason(format!(
            "{name} shows that several processes were started; each would run the whole \
             test: ranks are threads of one process here"
        ))
        .advise(format!("start assay {command} once, with the number of ranks: {advice}")))
}
