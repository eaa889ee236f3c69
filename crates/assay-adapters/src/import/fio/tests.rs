//! Tests of damaged files of fio.

use std::path::Path;

use super::super::{ImportedMeasurement, read};

fn input(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import/fio");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Returns rates and bandwidths.
fn figures(measurements: &[ImportedMeasurement]) -> Vec<(&'static str, Vec<f64>)> {
    let values = measurements.iter().flat_map(|it| &it.parsed.values);
    let rates = values.filter(|it| it.metric != "latency" && it.metric != "cpu_per_io");
    rates.map(|it| (it.metric, it.samples.clone())).collect()
}

/// A file that is cut off anywhere has no figure that the whole file does not have.
#[test]
fn cut_files_have_no_other_figures() {
    for name in [
        "2.2.10-group.txt",
        "3.33-two-jobs.txt",
        "3.33-two-jobs.json",
        "3.33-terse-two.txt",
        "3.33-client-two.txt",
    ] {
        let whole = input(name);
        let expected = figures(&read(&whole).unwrap().contents.measurements);
        for cut in (0..whole.len()).step_by(3) {
            let Ok(file) = read(&whole[..cut]) else { continue };
            for figure in figures(&file.contents.measurements) {
                assert!(expected.contains(&figure), "{name} until {cut}: {figure:?}");
            }
        }
    }
}

/// Two runs in one file are two results, whichever format they have.
#[test]
fn appended_runs_are_several_results() {
    for name in
        ["2.2.10-mix.json", "2.2.10-randread.txt", "3.33-libaio.json", "3.33-two-jobs.json"]
    {
        let whole = input(name);
        let count = |text: &str| read(text).unwrap().contents.measurements.len();
        let later = whole.replace("17957", "17958").replace("pid=36296", "pid=36300");
        assert_eq!(count(&format!("{whole}{later}")), 2 * count(&whole), "{name}");
    }
}
