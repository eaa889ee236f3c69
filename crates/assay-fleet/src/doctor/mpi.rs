//! Checks of settings that make MPI jobs fail silently or use the wrong network. They are skipped
//! if `PATH` has no launcher.

use std::collections::BTreeMap;

use assay_model::finding::FindingSeverity;
use assay_model::phrase;
use assay_model::phrase::Phrase;

use super::check::{CheckInput, CheckObstacle, CheckResult, DoctorCheck, list_names, none};

pub(super) const CHECKS: &[DoctorCheck] = &[
    DoctorCheck {
        id: "mpi.library",
        expected: "the first library found belongs to the launcher's MPI",
        why: "ranks whose library does not match the launcher each form a world of size 1: the job succeeds and measures nothing",
        source: "observed with Open MPI 4.1 and 5.0 under Hydra, and MPICH under orterun",
        severity: FindingSeverity::Blocks,
        change: "load one MPI's module at a time, or remove the other's folder from LD_LIBRARY_PATH",
        observe: library,
    },
    DoctorCheck {
        id: "mpi.root",
        expected: "an ordinary user",
        why: "Open MPI's mpirun refuses to start as root unless two variables allow it; assay sets them for its own jobs",
        source: "Open MPI documentation: mpirun(1), --allow-run-as-root",
        severity: FindingSeverity::Note,
        change: "run as an ordinary user, or set OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
        observe: root,
    },
    DoctorCheck {
        id: "mpi.transport",
        expected: "no variable that keeps MPI from using an RDMA network",
        why: "a variable left from a test sends messages over TCP while the fast network idles",
        source: "UCX documentation: UCX_TLS; libfabric fabric(7): FI_PROVIDER; Open MPI: MCA parameters pml and btl",
        severity: FindingSeverity::Skews,
        change: "unset the variable, or name the fast network in it",
        observe: transport,
    },
    DoctorCheck {
        id: "mpi.binding",
        expected: "no variable that switches binding off",
        why: "a rank that moves from core to core loses its caches and its memory's node",
        source: "Open MPI: hwloc_base_binding_policy; Intel MPI Developer Reference: I_MPI_PIN; MVAPICH2 user guide: MV2_ENABLE_AFFINITY",
        severity: FindingSeverity::Skews,
        change: "unset the variable; MPICH's mpiexec binds only with -bind-to core",
        observe: binding,
    },
];

/// Launcher names that do not reveal the make.
const LAUNCHERS: [&str; 3] = ["mpirun", "mpiexec", "mpiexec.hydra"];
const LIBRARY_FOLDERS: [&str; 4] = ["lib", "lib64", "lib/release", "lib/x86_64-linux-gnu"];
/// Library file names and their makes.
const LIBRARIES: [(&str, &str); 4] = [
    ("libmpi.so.40", "Open MPI"),
    ("libmpi.so.20", "Open MPI"),
    ("libmpi.so.12", "MPICH/Intel MPI"),
    ("libmpich.so.12", "MPICH/Intel MPI"),
];

type Environment = BTreeMap<String, String>;

/// Returns the environment of this process and the prefix of the first launcher on its `PATH`.
fn environment_and_prefix(input: &CheckInput) -> Result<(Environment, String), CheckObstacle> {
    let text = input.text("proc/self/environ")?;
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    let environment: Environment =
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let path = environment.get("PATH").map(String::as_str).unwrap_or_default();
    let has_launcher = |folder: &&str| {
        LAUNCHERS.iter().any(|name| input.root.exists(&below_root(&format!("{folder}/{name}"))))
    };
    let folder = path.split(':').filter(|folder| folder.starts_with('/')).find(has_launcher);
    let folder = folder.ok_or_else(|| {
        CheckObstacle::Absent(phrase!("no-launcher", "no MPI launcher on PATH"))
    })?;
    let above = folder.trim_end_matches('/').rsplit_once('/').map_or("", |(above, _)| above);
    let prefix = above.to_owned();
    Ok((environment, prefix))
}

fn below_root(path: &str) -> String {
    path.trim_start_matches('/').to_owned()
}

/// Returns the makes of the libraries in a folder.
fn makes_in(input: &CheckInput, folder: &str) -> Vec<&'static str> {
    let there = |name: &str| input.root.exists(&below_root(&format!("{folder}/{name}")));
    let mut makes: Vec<&str> =
        LIBRARIES.iter().filter(|(name, _)| there(name)).map(|(_, make)| *make).collect();
    makes.dedup();
    makes
}

fn library(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let (environment, prefix) = environment_and_prefix(input)?;
    let folders = LIBRARY_FOLDERS.iter().map(|folder| format!("{prefix}/{folder}"));
    let of_launcher: Vec<&str> = folders.flat_map(|folder| makes_in(input, &folder)).collect();
    let said = environment.get("LD_LIBRARY_PATH").map(String::as_str).unwrap_or_default();
    let first = said
        .split(':')
        .filter(|folder| folder.starts_with('/'))
        .find_map(|folder| makes_in(input, folder).first().map(|make| (folder, *make)));
    Ok(match first {
        None => CheckResult::ok(phrase!(
            "library-none",
            "LD_LIBRARY_PATH names no MPI library; the launcher lies in {folder}",
            folder = format!("{prefix}/bin"),
        )),
        Some((folder, make)) => {
            let fits = of_launcher.is_empty() || of_launcher.contains(&make);
            let unknown = || phrase!("unknown-make", "an unknown make");
            let launcher = of_launcher.first().map_or_else(unknown, |make| Phrase::from(*make));
            CheckResult::from_verdict(
                fits,
                phrase!(
                    "library-and-launcher",
                    "{make} in {folder}; launcher in {bin}: {launcher}",
                    make = make,
                    folder = folder,
                    bin = format!("{prefix}/bin"),
                    launcher = launcher,
                ),
            )
        }
    })
}

fn root(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    environment_and_prefix(input)?;
    let status = input.text("proc/self/status")?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let user = ids.and_then(|ids| ids.split_whitespace().nth(1));
    match user {
        None => Err(CheckObstacle::hidden_field("Uid", "/proc/self/status")),
        Some("0") => Ok(CheckResult::deviates("root")),
        Some(user) => Ok(CheckResult::ok(phrase!("user", "user {user}", user = user))),
    }
}

fn transport(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    let (environment, _) = environment_and_prefix(input)?;
    let devices = input.root.names("sys/class/infiniband");
    /// Values that select sockets, as whole words of a list.
    const SOCKETS: [&str; 3] = ["tcp", "sockets", "udp"];
    let chooses_sockets = |name: &&str| {
        let value = environment.get(*name)?;
        let words: Vec<&str> = value.split([',', ';']).map(str::trim).collect();
        let sockets = words.iter().any(|word| SOCKETS.contains(word));
        let others = words.iter().any(|word| {
            !SOCKETS.contains(word)
                && !["self", "sm", "shm", "vader", "posix", "ob1"].contains(word)
        });
        (sockets && !others).then(|| format!("{name}={value}"))
    };
    let names =
        ["UCX_TLS", "FI_PROVIDER", "I_MPI_OFI_PROVIDER", "OMPI_MCA_btl", "I_MPI_FABRICS"];
    let chosen: Vec<String> = names.iter().filter_map(chooses_sockets).collect();
    Ok(match (devices.as_slice(), chosen.as_slice()) {
        ([], []) => CheckResult::ok(phrase!("neither", "no RDMA device, no such variable")),
        ([], chosen) => CheckResult::ok(phrase!(
            "variables-alone",
            "{variables}, and no RDMA device",
            variables = list_names(", ", chosen),
        )),
        (devices, []) => CheckResult::ok(phrase!(
            "devices-alone",
            "no such variable beside {devices}",
            devices = list_names(", ", devices),
        )),
        (devices, chosen) => CheckResult::deviates(phrase!(
            "variables-and-devices",
            "{variables}, although there is {devices}",
            variables = list_names(", ", chosen),
            devices = list_names(", ", devices),
        )),
    })
}

fn binding(input: &CheckInput) -> Result<CheckResult, CheckObstacle> {
    /// Variables and their values that disable binding.
    const OFF: [(&str, &[&str]); 6] = [
        ("OMPI_MCA_hwloc_base_binding_policy", &["none"]),
        ("PRTE_MCA_hwloc_default_binding_policy", &["none"]),
        ("I_MPI_PIN", &["0", "off", "no", "disable"]),
        ("MV2_ENABLE_AFFINITY", &["0"]),
        ("HYDRA_BINDING", &["none"]),
        ("SLURM_CPU_BIND", &["none"]),
    ];
    let (environment, _) = environment_and_prefix(input)?;
    let off = OFF.iter().find_map(|(name, values)| {
        let value = environment.get(*name)?;
        let is_off = values.iter().any(|off| value.eq_ignore_ascii_case(off));
        is_off.then(|| format!("{name}={value}"))
    });
    Ok(off.map_or_else(|| CheckResult::ok(none()), CheckResult::deviates))
}
