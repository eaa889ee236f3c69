"""ReFrame tests that run a suite of assay.

Every result is a performance variable `CASE/METRIC`, beside the ends of its 95 % interval,
`CASE/METRIC/low` and `CASE/METRIC/high`, in the base unit that assay prints (B/s, FLOP/s, s, 1/s).

    reframe -c packaging/reframe/assay.py -r --performance-report

A site subclasses `assay_base` with its own `suite`, `options`, `metrics` and `reference`:

    @rfm.simple_test
    class triad(assay_base):
        valid_systems = ['*']
        valid_prog_environs = ['*']
        suite = 'memory'
        options = ['--budget', '1m']
        metrics = ['memory.stream/node/triad']
        reference = {'*': {'memory.stream/node/triad': (340e9, -0.05, None, 'B/s')}}
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ
from reframe.core.builtins import run_before, sanity_function, variable


class assay_base(rfm.RunOnlyRegressionTest):
    """Runs one suite and fails unless every case of it has a result."""

    executable = 'assay'
    #: Name or file of a suite.
    suite = variable(str, value='quick')
    #: Further options of `assay run`.
    options = variable(typ.List[str], value=[])
    #: Results to report, as `CASE/METRIC`; all of them if empty.
    metrics = variable(typ.List[str], value=[])

    @run_before('run')
    def set_arguments(self):
        self.executable_opts = ['run', self.suite, '--json', '--store', 'runs', *self.options]

    @sanity_function
    def check_run(self):
        document = self.read_document()
        status = document['run']['status']
        failures = [item['case'] for item in document['failures']]
        missing = set(self.metrics) - {result_name(item) for item in document['results']}
        return sn.all([
            sn.assert_eq(status, 'complete', f'the run is {status}'),
            sn.assert_false(failures, f'failed: {failures}'),
            sn.assert_false(missing, f'without a result: {sorted(missing)}'),
        ])

    @run_before('performance')
    def set_variables(self):
        self.perf_variables = {}
        for item in self.read_document()['results']:
            name = result_name(item)
            if self.metrics and name not in self.metrics:
                continue
            self.add_variable(name, item['median'], item['unit'])
            if item['ci'] is not None:
                low, high = item['ci']
                self.add_variable(f'{name}/low', low, item['unit'])
                self.add_variable(f'{name}/high', high, item['unit'])

    def add_variable(self, name, value, unit):
        self.perf_variables[name] = sn.make_performance_function(sn.defer(value), unit)

    def read_document(self):
        with open(os.path.join(self.stagedir, str(self.stdout))) as file:
            return json.load(file)


def result_name(item):
    """Name of a result: its case and its metric. ReFrame reads a colon as the end of a system's name."""
    return f"{item['case']}/{item['metric']}".replace(':', '=')


@rfm.simple_test
class assay_quick(assay_base):
    """Answers within two minutes: memory, compute."""

    valid_systems = ['*']
    valid_prog_environs = ['*']
