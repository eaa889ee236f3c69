//! Several agents against a truth that is known: what they do together.

use serde_json::Value;

use super::rounds::{Group, RamDisk};
use crate::program::{World, results};

/// What `assay run` finds over hosts that are behind `via.sh`.
fn found(world: &World, hosts: &str, suite: &str, more: &[&str]) -> Value {
    world.write("suite.toml", suite);
    let words = ["run", "./suite.toml", "--json", "--hosts", hosts, "--via"];
    let words = [&words[..], &["sh via.sh {host}"], more].concat();
    let output = world.command(&words).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The median of all hosts together where the parameters are these.
fn total(document: &Value, (benchmark, metric): (&str, &str), asked: &[(&str, Value)]) -> f64 {
    let all = results(document, benchmark, metric).into_iter().find(|it| {
        let is_asked = |(name, value): &(&str, Value)| it["parameters"][name] == *value;
        it["host"] == "all" && asked.iter().all(is_asked)
    });
    all.unwrap_or_else(|| panic!("no total: {document:#}"))["median"].as_f64().unwrap()
}

/// Six agents read one RAM disk whose reads the kernel limits for all of them together.
fn six_on_one_disk(test: &str, manner: &str, asked: &[(&str, Value)]) {
    if !super::is_asked_for(test) {
        return;
    }
    let skip =
        |what: &str| eprintln!("SKIPPED {test}: this kernel {what}, or not for this user");
    let Some(disk) = RamDisk::new() else { return skip("makes no RAM disk (zram)") };
    let world = World::new();
    world.write("via.sh", "shift; exec \"$@\"\n");
    let Some(group) = Group::new(&disk, 10_000).filter(Group::enter) else {
        return skip("throttles no block device");
    };
    let suite = format!(
        "name = \"six\"\nbudget = \"20s\"\n[[measure]]\nbenchmark = \"storage\"\n\
         operation = \"read\"\npattern = \"random\"\nbytes = [\"4KiB\"]\ndepth = 8\n\
         engine = \"libaio\"\n{manner}"
    );
    let document = found(&world, "h[1-6]", &suite, &["--target", &disk.path()]);
    group.leave();
    let rate = total(&document, ("storage", "rate"), asked);
    super::reported("IO/s", (10_000.0, 0.005), rate, ("-", None));
}

#[test]
fn six_agents_on_a_disk_of_ten_thousand_reads_per_second_total_ten_thousand() {
    six_on_one_disk(
        "six_agents_on_a_disk_of_ten_thousand_reads_per_second_total_ten_thousand",
        "",
        &[],
    );
}

#[test]
fn the_merged_curve_of_six_agents_ends_at_ten_thousand() {
    six_on_one_disk(
        "the_merged_curve_of_six_agents_ends_at_ten_thousand",
        "name = \"curve\"\ncurve = [50]\n",
        &[("point", "max".into())],
    );
}
