# SPDX-License-Identifier: Apache-2.0
"""Predictions of the native reader: those of the Python one, and those of runs, for every example and kernel form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from polyloom import api
from polyloom._native import tcpa as native
from polyloom.cli.examples import folder
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.run.phases.step_sequence import run
from polyloom.targets.tcpa.run.predict import predicted_cycles
from polyloom.targets.tcpa.words import concrete_file

SIZES: Mapping[str, Mapping[str, int]] = {
    "fir.pla": {"N": 13, "T": 5},
    "matmul.pla": {"N": 4, "M": 5, "K": 6},
    "kernels/trisolv.py": {"N": 9},
    "kernels/atax.py": {"M": 5, "N": 6},
}


@pytest.mark.parametrize("name", SIZES)
def test_predictions(name: str) -> None:
    compiled = api.compile(folder() / name, "tcpa:wide")
    values = dict(zip(compiled.parameters, SIZES[name].values(), strict=True))
    predict = compiled.target.predict
    assert predict is not None
    for region in ((1, 1), (1, 3), (2, 2), (3, 1)):
        options = replace(compiled.target.options(), pes=region)
        try:
            instance = compiled.instantiate(values, pes=region)
        except PolyloomError as error:
            with pytest.raises(PolyloomError, match=error.code):
                predict(compiled.data, values, compiled.place, options)
            continue
        found = predict(compiled.data, values, compiled.place, options)
        told = instance.target.facts(instance.program, None)
        cycles = instance.run().cycles
        assert cycles is not None
        assert (found.cycles, found.elements) == (told["predicted_cycles"], region[0] * region[1])
        assert found.cycles == cycles if found.exact else found.cycles >= cycles
        for own in run(instance.data).configurations:
            config = native.Config(own.data)
            assert config.predict()[0] == predicted_cycles(concrete_file.decode(own.data))


def test_wrong_arguments_are_refused_as_by_instantiate() -> None:
    compiled = api.compile(folder() / "fir.pla", "tcpa:wide")
    predict, options = compiled.target.predict, compiled.target.options()
    assert predict is not None
    for values, region, code in (({"N": 4}, (1, 1), "PL0230"), ({"N": 4, "T": 2}, (0, 1), "PL0505")):
        with pytest.raises(PolyloomError, match=code):
            predict(compiled.data, values, compiled.place, replace(options, pes=region))
