//! Options of fio's program itself, and those that assay adds: one row each.

use super::super::debug::{parse_kinds, silent_kinds};
use super::super::request::{FioFormat, FioRequest};
use super::super::section_options::parse_values::parse_time;
use crate::option::OptionSpec;
use crate::option::ValueKind::{self, Switch, Text};

/// Option of the program.
pub(crate) type ProgramOption = OptionSpec<ApplyProgramOption>;

type ApplyProgramOption = fn(&mut FioRequest, &str) -> Result<(), String>;

pub(crate) const PROGRAM_OPTIONS: &[ProgramOption] = &[
    implement("output", Text, |request, path| {
        request.output.file = Some(path.to_owned());
        Ok(())
    }),
    implement("output-format", Text, |request, list| {
        parse_formats(list).map(|formats| request.output.formats = formats)
    }),
    implement("append-terse", Switch, |request, _| {
        request.output.formats.push(FioFormat::Terse);
        Ok(())
    }),
    implement("minimal", Switch, |request, _| {
        request.output.formats = vec![FioFormat::Terse];
        Ok(())
    }),
    implement("terse-version", Text, |request, number| {
        let version = number.parse().ok().filter(|version| (3..=5).contains(version));
        version
            .map(|version| request.output.terse_version = version)
            .ok_or_else(|| "it must be 3, 4 or 5".to_owned())
    }),
    implement("status-interval", Text, |request, time| {
        let seconds = parse_time(time)?;
        // fio prints no more often than every second, and never for 0.
        request.status_interval_ms =
            Some((seconds.max(1.0) * 1e3) as u64).filter(|_| seconds > 0.0);
        Ok(())
    }),
    implement("section", Text, |request, name| {
        request.selected.push(name.to_owned());
        Ok(())
    }),
    implement("bandwidth-log", Switch, |request, _| switch_on(&mut request.logs_total)),
    implement("inflate-log", Text, |request, path| {
        request.printed_log = Some(path.to_owned());
        Ok(())
    }),
    implement("parse-only", Switch, |request, _| switch_on(&mut request.parse_only)),
    implement("showcmd", Switch, |request, _| switch_on(&mut request.show_command)),
    implement("readonly", Switch, |request, _| switch_on(&mut request.read_only)),
    implement("debug", Text, |request, list| {
        request.debug = parse_kinds(list)?;
        let silent = silent_kinds(&request.debug).join(", ");
        if !silent.is_empty() {
            request.notes.push(format!("--debug prints no lines of {silent}"));
        }
        Ok(())
    }),
    implement("version", Switch, |request, _| switch_on(&mut request.version)),
    implement("dry-run", Switch, |request, _| switch_on(&mut request.dry_run)),
    implement("aux-path", Text, |request, folder| {
        request.aux_path = Some(folder.to_owned());
        Ok(())
    }),
    implement("destroy-data", Text, |request, path| {
        request.destroy_data.push(path.to_owned());
        Ok(())
    }),
    implement("target-on-root", Switch, |request, _| switch_on(&mut request.target_on_root)),
    implement("no-store", Switch, |request, _| match request.store_options.store {
        Some(_) => Err("--store is given".to_owned()),
        None => switch_on(&mut request.store_options.no_store),
    }),
    implement("store", Text, |request, folder| {
        if request.store_options.no_store {
            return Err("--no-store is given".to_owned());
        }
        request.store_options.store = Some(folder.to_owned());
        Ok(())
    }),
    implement("label", Text, |request, name| {
        request.store_options.label = Some(name.to_owned());
        Ok(())
    }),
    OptionSpec::ignore("eta", Text, ""),
    OptionSpec::ignore("eta-interval", Text, ""),
    OptionSpec::ignore("eta-newline", Text, ""),
    OptionSpec::ignore("warnings-fatal", Switch, "notes never end a run"),
    OptionSpec::ignore("max-jobs", Text, ""),
    OptionSpec::ignore("alloc-size", Text, ""),
    reject(
        "server client remote-config",
        "hosts are driven by assay's own agents",
        "use `assay run storage-volume --hosts …`",
    ),
    reject("daemonize", "assay does not leave the terminal", ""),
    reject("profile", "profiles are not supported", ""),
    reject(
        "latency-log",
        "it is not an option of the program here",
        "use write_lat_log of a job",
    ),
    reject("cpuclock-test crctest memcpytest", "it tests fio itself", ""),
    reject("idle-prof", "idle time is not profiled", ""),
    reject(
        "trigger-file trigger-timeout trigger trigger-remote",
        "triggers are not supported",
        "",
    ),
    reject(
        "merge-blktrace-only",
        "traces of blktrace are not replayed",
        "replay a trace of write_iolog with read_iolog",
    ),
    reject(
        "cmdhelp enghelp",
        "the options are not described here",
        "see `man fio`; docs/fio.md lists the supported options",
    ),
];

const fn implement(
    names: &'static str,
    value: ValueKind,
    apply: ApplyProgramOption,
) -> ProgramOption {
    OptionSpec::implement(names, value, apply)
}

const fn reject(
    names: &'static str,
    why: &'static str,
    instead: &'static str,
) -> ProgramOption {
    OptionSpec::reject(names, Switch, why, instead)
}

/// Turns an option on.
fn switch_on(place: &mut bool) -> Result<(), String> {
    *place = true;
    Ok(())
}

fn parse_formats(list: &str) -> Result<Vec<FioFormat>, String> {
    let one = |name: &str| match name.trim() {
        "normal" => Some(FioFormat::Normal),
        "json" => Some(FioFormat::Json),
        "json+" => Some(FioFormat::JsonPlus),
        "terse" | "minimal" => Some(FioFormat::Terse),
        _ => None,
    };
    let formats = list.split(',').map(one).collect::<Option<_>>();
    formats.ok_or_else(|| "it must be normal, json, json+ or terse".to_owned())
}
