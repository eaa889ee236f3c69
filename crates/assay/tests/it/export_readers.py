"""Compares what pandas, polars, pyarrow and DuckDB read with `assay show --json`, value by value."""

import csv
import json
import math
import os
import subprocess

import duckdb
import polars
import pyarrow.parquet

import assay


def shown(*words):
    return json.loads(subprocess.check_output([os.environ["ASSAY"], *words]))


expected = []
for run in reversed(assay.runs()):
    document = shown("show", run["id"], "--json")
    for result in document["results"]:
        low, high = result["ci"] or (None, None)
        expected.append(
            {
                "run": run["id"],
                "label": run.get("label"),
                "host": result["host"],
                "metric": result["metric"],
                "unit": result["unit"],
                "value": result["median"],
                "low": low,
                "high": high,
                "n": result["n"],
                "conditions": result["parameters"],
                "percentiles": result["percentiles"],
            }
        )
assert len(expected) > 10


def same(found, wanted):
    if wanted is None:
        return found is None or found == "" or found != found
    if isinstance(wanted, (dict, list)) and isinstance(found, str):
        return json.loads(found) == wanted
    if isinstance(wanted, float):
        return math.isclose(float(found), wanted, rel_tol=0, abs_tol=0)
    if isinstance(wanted, int):
        return int(found) == wanted
    return found == wanted


def check(name, rows):
    rows = list(rows)
    assert len(rows) == len(expected), (name, len(rows), len(expected))
    for row, wanted in zip(rows, expected):
        for key, value in wanted.items():
            assert same(row[key], value), (name, key, row[key], value)


results = assay.results()
assert list(results[0]) == list(assay.COLUMNS)
check("dictionaries", results)
pandas_frame = results.to_pandas()
assert pandas_frame.attrs["units"]["bytes"] == "B"
assert str(pandas_frame["time"].dtype).startswith("datetime64"), pandas_frame["time"].dtype
check("pandas", pandas_frame.to_dict("records"))
check("polars", results.to_polars().iter_rows(named=True))
assert assay.Results().to_pandas().shape == (0, len(assay.COLUMNS))
assert assay.Results().to_polars().shape == (0, len(assay.COLUMNS))

check("pyarrow", pyarrow.parquet.read_table("tables/results.parquet").to_pylist())
check("polars, parquet", polars.read_parquet("tables/results.parquet").iter_rows(named=True))
relation = duckdb.sql("SELECT * FROM 'tables/results.parquet'")
check("duckdb", (dict(zip(relation.columns, row)) for row in relation.fetchall()))
table = pyarrow.parquet.read_table("tables/results.parquet")
assert list(table.column_names) == list(assay.COLUMNS)
assert str(table.schema.field("time").type) == "timestamp[us, tz=UTC]"

samples = duckdb.sql(
    "SELECT run, \"case\", metric, count(*) AS n, max(unit) FROM 'tables/samples.parquet' GROUP BY ALL"
).fetchall()
counted = {(run, case, metric): n for run, case, metric, n, _ in samples}
for row in results:
    # Samples of the warm-up are stored, but do not count.
    assert counted[row["run"], row["case"], row["metric"]] >= row["n"], row
runs = duckdb.sql("SELECT run, cases_finished FROM 'tables/runs.parquet' ORDER BY run").fetchall()
assert sorted(run for run, _ in runs) == sorted(run["id"] for run in assay.runs())

# A cell that starts like a formula is prefixed in CSV, and only there.
with open("results.csv", newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
for row in rows:
    assert row["label"][:1] not in ("=", "+", "-", "@"), row["label"]
    row["label"] = row["label"].removeprefix("'").replace("\\u202e", "\u202e") or None
check("csv", rows)

again = [os.environ["ASSAY"], "import", "--host", "vm1", "--label", "again", "stream.txt"]
subprocess.run(again, check=True, stdout=subprocess.DEVNULL)
comparison = assay.compare("before", "again")
assert [pair["ratio"] for pair in comparison["pairs"]] == [1.0] * 4, comparison
try:
    assay.results("nowhere")
except assay.AssayError as error:
    assert "there is no run `nowhere`" in str(error), error
else:
    raise AssertionError("an unknown run is no error")
assert assay.runs(label="nowhere") == []
