"""Stored runs of assay, as dictionaries or as frames of pandas and polars.

Starts the program `assay` and reads its output. Needs no other package. Every value is in the base
unit of its row (`unit`): B/s, bit/s, FLOP/s, IO/s, s. `UNITS` has the units of the other columns.

    import assay

    triad = assay.results(label="before", metric="memory.stream/triad")
    print(triad[0]["value"], triad[0]["unit"])
    frame = triad.to_pandas()

The program is `$ASSAY`, or `assay` in this environment of Python, or `assay` on `PATH`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, Optional

if TYPE_CHECKING:
    import pandas
    import polars

__all__ = ["COLUMNS", "UNITS", "AssayError", "Results", "compare", "results", "runs"]

#: Columns of results and the kinds of their values, in order.
COLUMNS: Dict[str, str] = {
    "run": "text",
    "time": "time",
    "host": "text",
    "suite": "text",
    "label": "text",
    "benchmark": "text",
    "case": "text",
    "metric": "text",
    "unit": "text",
    "better": "text",
    "value": "number",
    "low": "number",
    "high": "number",
    "level": "number",
    "n": "integer",
    "n_effective": "number",
    "min": "number",
    "max": "number",
    "mean": "number",
    "limit": "number",
    "percent_of_limit": "number",
    "state": "text",
    "trust": "text",
    "damaged": "flag",
    "tool": "text",
    "version": "text",
    "warnings": "json",
    "placement": "text",
    "threads": "integer",
    "ranks": "integer",
    "bytes": "integer",
    "operation": "text",
    "direction": "text",
    "depth": "integer",
    "streams": "integer",
    "peer": "text",
    "percentiles": "json",
    "conditions": "json",
}

#: Units of columns; `unit` means the unit in that column of the same row.
UNITS: Dict[str, str] = {
    "value": "unit",
    "low": "unit",
    "high": "unit",
    "min": "unit",
    "max": "unit",
    "mean": "unit",
    "limit": "unit",
    "percentiles": "unit",
    "level": "ratio",
    "percent_of_limit": "%",
    "bytes": "B",
}

#: Exit code of a command that printed what it could read of damaged runs.
_DAMAGED = 4
#: Exit codes of a comparison: fine, worse, undecided.
_COMPARED = (0, 5, 6)


class AssayError(RuntimeError):
    """A failure of the program: the message is what it printed."""


class Results(List[Dict[str, Any]]):
    """Results, one dictionary each with the keys of `COLUMNS`."""

    def to_pandas(self) -> "pandas.DataFrame":
        """Returns a frame of pandas; `frame.attrs["units"]` has `UNITS`."""
        import pandas

        kinds = {"number": "float64", "integer": "Int64"}
        frame = pandas.DataFrame(list(self), columns=list(COLUMNS))
        for name, kind in COLUMNS.items():
            if kind == "time":
                frame[name] = pandas.to_datetime(frame[name], utc=True, format="ISO8601")
            elif kind in kinds:
                frame[name] = frame[name].astype(kinds[kind])
            elif kind == "flag":
                frame[name] = frame[name].astype(bool)
        frame.attrs["units"] = dict(UNITS)
        return frame

    def to_polars(self) -> "polars.DataFrame":
        """Returns a frame of polars; columns with JSON are text there (`str.json_decode`)."""
        import polars

        types = {
            "number": polars.Float64,
            "integer": polars.Int64,
            "flag": polars.Boolean,
        }
        columns = {
            name: [_plain(row[name], kind) for row in self] for name, kind in COLUMNS.items()
        }
        schema = {name: types.get(kind, polars.String) for name, kind in COLUMNS.items()}
        frame = polars.DataFrame(columns, schema=schema)
        time = polars.col("time").str.to_datetime(time_unit="ns", time_zone="UTC")
        return frame.with_columns(time)


def runs(
    *,
    label: Optional[str] = None,
    host: Optional[str] = None,
    suite: Optional[str] = None,
    since: Optional[str] = None,
    metric: Optional[str] = None,
    store: Optional[str] = None,
) -> List[Dict[str, Any]]:
    """Returns the stored runs, newest first, as `assay list --json` prints them."""
    filters = _options(label=label, host=host, suite=suite, since=since, metric=metric, store=store)
    listed = json.loads(_run(["list", "--all", "--json", *filters], (0, _DAMAGED)))
    found: List[Dict[str, Any]] = listed["runs"]
    return found


def results(
    *names: str,
    label: Optional[str] = None,
    host: Optional[str] = None,
    suite: Optional[str] = None,
    since: Optional[str] = None,
    metric: Optional[str] = None,
    latest: bool = False,
    store: Optional[str] = None,
) -> Results:
    """Returns the results of runs, oldest run first.

    `names` are runs or labels; without them all runs count. `latest` keeps the newest run of each
    host, suite and label. Damaged runs cause a warning, and what can be read of them is returned.
    """
    filters = _options(label=label, host=host, suite=suite, since=since, metric=metric, store=store)
    options = [*filters, *(["--latest"] if latest else [])]
    text = _run(["export", "jsonl", *options, "--", *names], (0, _DAMAGED))
    # Only line feeds end lines: JSON strings may contain other separators.
    return Results(json.loads(line) for line in text.split("\n") if line)


def compare(
    a: str,
    b: str,
    *,
    margin: Optional[str] = None,
    host: Optional[str] = None,
    store: Optional[str] = None,
) -> Dict[str, Any]:
    """Compares two conditions: runs, several separated by commas, or labels.

    Returns the document of `assay compare --json`; each of its `pairs` has a `verdict`. `margin` is
    the largest relative difference that counts as equivalent: `"2%"`.
    """
    options = _options(margin=margin, host=host, store=store)
    compared: Dict[str, Any] = json.loads(_run(["compare", "--json", *options, "--", a, b], _COMPARED))
    return compared


def _options(**values: Optional[str]) -> List[str]:
    """Returns options of the command line; `--name=value` also takes values that begin with `-`."""
    return [f"--{name}={value}" for name, value in values.items() if value is not None]


def _plain(value: Any, kind: str) -> Any:
    """Returns the value of a cell for a column with one type."""
    return json.dumps(value, ensure_ascii=False) if kind == "json" and value is not None else value


def _program() -> str:
    """Returns the path of the program."""
    named = os.environ.get("ASSAY")
    if named:
        return named
    here = os.path.join(os.path.dirname(sys.executable), "assay")
    found = here if os.access(here, os.X_OK) else shutil.which("assay")
    if found is None:
        raise AssayError("cannot find the program assay\n  help: install it, or set ASSAY to its path")
    return found


def _run(words: List[str], accepted: "tuple[int, ...]") -> str:
    """Runs the program and returns its output; warns of what it could not read."""
    try:
        done = subprocess.run(
            [_program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
        )
    except OSError as error:
        raise AssayError(f"cannot start the program assay: {error}") from error
    message = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode not in accepted or not (done.stdout or done.returncode == 0):
        raise AssayError(message or f"assay ended with exit code {done.returncode}")
    if message:
        warnings.warn(message, stacklevel=3)
    return done.stdout.decode("utf-8")
