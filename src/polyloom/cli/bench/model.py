# SPDX-License-Identifier: Apache-2.0
"""Speed of the cycle-accurate model on one core: the product 64^3 on unit:8x8, faults on, trace off; on numbers, and on
the terms of `verify --against`.
"""

from __future__ import annotations

from collections.abc import Iterator

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench.timing import median_cpu_seconds
from polyloom.ir.signature import plan_signature
from polyloom.ir.terms import Terms
from polyloom.run.inputs import complete_inputs
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.run import model

_SIZE = {"N": 64, "M": 64, "K": 64}
_REGION = (8, 8)


def rows() -> Iterator[dict[str, object]]:
    """Checked against the interpreter once, then only the model is timed."""
    compiled = api.compile(examples.path("matmul"), on="tcpa:unit")
    instance = compiled.instantiate(_SIZE, pes=_REGION)
    cycles = instance.run().cycles or 0
    assert compiled.source is not None
    plan, machine = compiled.source.plan, machine_file.load("unit")
    arrays = complete_inputs(plan_signature(plan), _SIZE, {})

    def on_terms() -> None:
        terms = Terms()
        model.run_terms(model.load(instance.data, machine), machine, terms.inputs(plan.inputs, _SIZE), terms)

    # Symbolic terms in the place of numbers: the same model, so that a proof and a run cannot disagree about the
    # machine.
    timed = {"numbers": lambda: model.run(instance.data, machine, arrays), "terms": on_terms}
    for values, action in timed.items():
        taken = median_cpu_seconds(action)
        yield {
            "kernel": "matmul",
            "on": "tcpa:unit:8x8",
            "values": values,
            "cycles": cycles,
            "seconds": taken,
            "element-cycles per second": _REGION[0] * _REGION[1] * cycles / taken,
        }
