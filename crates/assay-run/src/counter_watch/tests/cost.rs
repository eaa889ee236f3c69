//! CPU time of a process with and without the watch, in turns: `cargo xtask truth witness`.

use std::path::Path;
use std::time::Instant;

use assay_fleet::mounts;
use assay_stats::quantile;

use super::super::*;

/// Pairs of turns, with and without the watch.
const PAIRS: usize = 40;
const TURN: Duration = Duration::from_secs(1);
/// Pause of the load, which wakes a thousand times a second in both turns.
const PAUSE: Duration = Duration::from_millis(1);

/// Returns the share of a core that this process used in a turn.
fn measure_turn(is_watched: bool) -> f64 {
    let began = (Instant::now(), cpu::process_time());
    let watch = is_watched.then(|| {
        let watch = CounterWatch::start(false);
        let mut places = CountedPlaces::default();
        let mounts = mounts::read(&watch.shared.root);
        places.add_path(&watch.shared.root, &mounts, Path::new("/"), None);
        places.add_network_device("lo");
        watch.begin_stretch(places);
        watch
    });
    while began.0.elapsed() < TURN {
        thread::sleep(PAUSE);
    }
    if let Some(watch) = watch {
        watch.end_stretch("case", PayloadBytes::default());
        assert!(watch.take_record("case").is_some());
    }
    let used = cpu::process_time();
    let ns = used.user_ns + used.system_ns - began.1.user_ns - began.1.system_ns;
    ns as f64 / began.0.elapsed().as_nanos() as f64
}

/// Prints `COST median low high pairs` of the differences, in shares of a core.
#[test]
fn watch_costs_little() {
    if std::env::var_os("ASSAY_WITNESS").is_none() {
        eprintln!(
            "SKIPPED watch_costs_little: it needs a quiet machine and `cargo xtask truth witness`"
        );
        return;
    }
    let mut differences: Vec<f64> = (0..PAIRS)
        .map(|pair| {
            let first = measure_turn(pair % 2 == 0);
            let second = measure_turn(pair % 2 != 0);
            if pair % 2 == 0 { first - second } else { second - first }
        })
        .collect();
    differences.sort_by(f64::total_cmp);
    let median = quantile::median(&differences).unwrap();
    let (low, high) = quantile::median_interval(&differences, 0.95).unwrap();
    eprintln!("COST {median:.6} {low:.6} {high:.6} {PAIRS}");
}
