# SPDX-License-Identifier: Apache-2.0
"""Speed of the cycle-accurate model on one core: the product 64^3 on unit:8x8, faults on, trace off."""

from __future__ import annotations

from polyloom import api
from polyloom.cli import examples
from polyloom.cli.bench.timing import median_seconds
from polyloom.ir.signature import of_plan
from polyloom.run.inputs import inputs
from polyloom.targets.tcpa import machine_file, model

_SIZE = {"N": 64, "M": 64, "K": 64}
_REGION = (8, 8)


def rows() -> list[dict[str, object]]:
    """Checked against the interpreter once, then only the model is timed."""
    compiled = api.compile(examples.path("matmul"), on="tcpa:unit")
    instance = compiled.instantiate(_SIZE, pes=_REGION)
    cycles = instance.run().cycles or 0
    assert compiled.source is not None
    arrays = inputs(of_plan(compiled.source.plan), _SIZE, {})
    machine = machine_file.load("unit")
    seconds = median_seconds(lambda: model.run(instance.data, machine, arrays))
    rate = _REGION[0] * _REGION[1] * cycles / seconds
    return [
        {
            "kernel": "matmul",
            "on": "tcpa:unit:8x8",
            "cycles": cycles,
            "seconds": seconds,
            "element-cycles per second": rate,
        }
    ]
