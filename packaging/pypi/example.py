"""Example: the stored results as frames of pandas and polars, and the spread between runs.

    python example.py

Needs the package `assay` with pandas and polars, and a store with a run.
"""

import assay

results = assay.results()
for run in assay.runs():
    print(run["id"], run["host"], run["suite"], run.get("label", ""))

# pandas: the newest median of each metric, with its interval relative to it.
frame = results.to_pandas().sort_values("time")
newest = frame.groupby(["host", "benchmark", "case", "metric", "unit"], as_index=False).last()
newest["half_width"] = (newest["high"] - newest["low"]) / 2 / newest["value"]
print(newest[["benchmark", "metric", "value", "unit", "half_width"]].to_string(index=False))

# polars: how much the medians of a metric differ between runs.
import polars

spread = (
    results.to_polars()
    .group_by("host", "benchmark", "case", "metric", "unit", maintain_order=True)
    .agg(
        polars.len().alias("runs"),
        (polars.col("value").max() / polars.col("value").min() - 1).alias("spread"),
    )
)
print(spread)

# Two runs compared by assay. Verdicts need several runs of each condition: name labels then.
runs = assay.runs()
if len(runs) >= 2:
    older, newer = runs[1]["id"], runs[0]["id"]
    try:
        pairs = assay.compare(older, newer)["pairs"]
    except assay.AssayError as error:
        print(error)
    else:
        for pair in pairs:
            print(pair["a"]["benchmark"], pair["a"]["metric"], pair["ratio"], pair["verdict"])
