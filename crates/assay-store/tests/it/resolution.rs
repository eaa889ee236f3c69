//! Tests of the resolution of run names.

use assay_store::Store;

use crate::sample_run;

fn check(store: &Store, name: &str, expected: &str) {
    let shown = store.resolve(name).unwrap_or_else(|error| error.to_string());
    assert_eq!(
        shown.replace(&store.folder().display().to_string(), "STORE"),
        expected,
        "{name}"
    );
}

#[test]
fn resolves_run_names() {
    let (_folder, store) = sample_run::temporary_store();
    check(&store, "latest", "there are no runs yet in STORE");
    check(&store, "2026", "there are no runs yet in STORE");
    sample_run::write_run(&store, "20261121-104455-7f3a");
    check(&store, "latest~1", "there is no `latest~1`: there is one run, `latest`");
    sample_run::write_run(&store, "20261121-104455-7f3ab");
    sample_run::write_run(&store, "20261122-080000-0001");
    std::fs::create_dir(store.folder().join("runs/20261123-000000-dead")).unwrap();

    check(&store, "20261121-104455-7f3a", "20261121-104455-7f3a");
    check(&store, "20261122", "20261122-080000-0001");
    check(&store, "0001", "20261122-080000-0001");
    check(&store, "7f3a", "20261121-104455-7f3a");
    check(&store, "latest", "20261121-104455-7f3ab");
    check(&store, "latest~0", "20261121-104455-7f3ab");
    check(&store, "latest~2", "20261121-104455-7f3a");
    check(&store, "latest~3", "there is no `latest~3`: there are 3 runs, back to `latest~2`");
    check(
        &store,
        "20261121",
        "`20261121` is the beginning or the end of 2 runs: 20261121-104455-7f3a, 20261121-104455-7f3ab",
    );
    check(
        &store,
        "20261122-080000-0002",
        "there is no run `20261122-080000-0002`; did you mean 20261122-080000-0001?",
    );
    for odd in ["", "/", "..", "latest~x", "latest~-1"] {
        check(
            &store,
            odd,
            &format!(
                "there is no run `{odd}`; the newest are 20261121-104455-7f3ab, 20261122-080000-0001, 20261121-104455-7f3a"
            ),
        );
    }
}
