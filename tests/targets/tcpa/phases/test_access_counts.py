# SPDX-License-Identifier: Apache-2.0
"""Access counts: the model's, those of one element per class and those that a trace tells are equal; closed forms are
equal to the model's counters at further sizes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Golden
from tests.targets.tcpa.phases.test_whole_time import PRODUCT, paths, product, sweeps

import polyloom as pl
from polyloom.cli import examples, main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa import machine_file
from polyloom.targets.tcpa.machine import ACCESSES, Machine
from polyloom.targets.tcpa.run import model
from polyloom.targets.tcpa.run.access_counts import energy_shares
from polyloom.targets.tcpa.run.phases import plan_execution
from polyloom.targets.tcpa.run.phases.count_polynomials import closed_form, count_accesses, fit_closed_form
from polyloom.targets.tcpa.words import concrete_file
from polyloom.targets.tcpa.words.isa import File, Register, decode_opcode
from polyloom.targets.tcpa.words.phases.stages import stage_names

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

KERNELS = Path(str(examples.folder())) / "kernels"
ENERGY = """name = "metered"
based_on = "wide"

[energy]
source = "assumed for a test"
fetch = 1
register_read = 0.25
register_write = 0.5
fifo_read = 1
fifo_write = 1
bank_read = 10
bank_write = 10
hop = 2
operation = 1
operations = { mul = { i32 = 30 }, add = 2 }
"""


def model_counts(result: pl.Result) -> dict[str, int]:
    detail = result.execution.detail
    assert isinstance(detail, plan_execution.Execution)
    return detail.counts


def count_traced(data: bytes, machine: Machine, inputs: Mapping[str, Any]) -> dict[str, int]:
    """What the operations of a trace do, by their words; fetches of instructions that do nothing are not in it."""
    concrete = concrete_file.decode(data)
    trace = model.run(data, machine, inputs, trace=True).trace
    assert trace is not None
    found = Counter[str]()
    for n in range(len(trace.element)):
        element, unit, pc = int(trace.element[n]), int(trace.unit[n]), int(trace.instruction[n])
        number = concrete.element_class[element // concrete.columns][element % concrete.columns]
        instruction = concrete.classes[number].programs[unit][pc]
        found[" ".join(decode_opcode(instruction.opcode))] += 1
        read = [source.file for source in instruction.sources if isinstance(source, Register)]
        found["register_read"] += read.count(File.RD)
        found["fifo_read"] += len(read) - read.count(File.RD)
        found["register_write"] += sum(d.file is File.RD for d in instruction.destinations)
    return dict(found)


@pytest.mark.parametrize(
    ("kernel", "sizes"), [("gemm", (7, 5, 6)), ("fir", (9, 4)), ("trisolv", (9,)), ("lcs", (6, 7))]
)
def test_counters_are_what_the_trace_tells(kernel: str, sizes: tuple[int, ...]) -> None:
    compiled = pl.compile(KERNELS / f"{kernel}.py", on="tcpa:wide:2x3")
    made = compiled.instantiate(dict(zip(compiled.signature.sizes, sizes, strict=True)))
    result, machine = made.run(seed=0), machine_file.load("wide")
    counts = model_counts(result)
    (stage,) = stage_names(made.data)
    given = made.job({}, seed=0).inputs
    inputs = {inner: given[outer] for inner, outer in stage.inputs}
    traced = count_traced(stage.data, machine, inputs)
    assert {name: counts[name] for name in traced} == traced
    assert sum(n for name, n in counts.items() if name not in ACCESSES) == result.execution.operations
    # Each token that enters a FIFO leaves it; banks touch what generators are enabled for.
    assert counts["fifo_read"] == counts["fifo_write"] > 0 and counts["fetch"] >= result.execution.operations
    assert counts == count_accesses(made.data, machine)


@pytest.mark.parametrize("member", ["wide", "unit", "paper"])
@given(sizes=st.tuples(*[st.integers(1, 9)] * 3), pes=st.sampled_from([(1, 1), (2, 2), (1, 3), (3, 2)]))
@settings(max_examples=8)
def test_one_element_per_class_counts_what_the_model_counts(
    member: str, sizes: tuple[int, ...], pes: tuple[int, int]
) -> None:
    made = _compile(member).instantiate(dict(zip("NMK", sizes, strict=True)), pes=pes)
    assert model_counts(made.run()) == count_accesses(made.data, machine_file.load(member))


_COMPILED: dict[str, pl.Compiled] = {}


def _compile(member: str) -> pl.Compiled:
    if member not in _COMPILED:
        _COMPILED[member] = pl.compile(product, on=f"tcpa:{member}")
    return _COMPILED[member]


@pytest.mark.parametrize(
    ("kernel", "first", "others"),
    [
        (
            product,
            {"N": 4, "M": 5, "K": 3},
            # Two iterations of the product are one: sizes are of one class modulo twice the region.
            [{"N": 4, "M": 5, "K": 3}, {"N": 12, "M": 9, "K": 11}, {"N": 16, "M": 5, "K": 7}],
        ),
        (sweeps, {"N": 9, "T": 2}, [{"N": 9, "T": 2}, {"N": 17, "T": 8}, {"N": 21, "T": 4}]),
        (paths, {"N": 6}, [{"N": 6}, {"N": 12}, {"N": 20}]),
    ],
)
def test_closed_forms_are_the_models_counters(
    kernel: object, first: Mapping[str, int], others: list[Mapping[str, int]]
) -> None:
    compiled = pl.compile(kernel, on="tcpa:wide")
    form = closed_form(compiled.data, first, (2, 2), machine_file.load("wide"))
    for sizes in others:
        counts = model_counts(compiled.instantiate(sizes, pes=(2, 2)).run())
        assert {n: v for n, v in form.evaluate(sizes).items() if v} == {n: v for n, v in counts.items() if v}
    assert form.checked > len(form.differences["fetch"])


def test_the_text_of_a_closed_form_is_a_polynomial() -> None:
    def count(sizes: Mapping[str, int]) -> dict[str, int]:
        n, m = sizes["N"], sizes["M"]
        return {"a": 4 * n**3 + n * m - 7, "b": n * (n - 1) // 2, "c": 0}

    form = fit_closed_form(count, {"N": 5, "M": 3}, 4)
    assert [form.text(name) for name in "abc"] == ["4*N^3 + N*M - 7", "1/2*N^2 - 1/2*N", "0"]
    assert form.evaluate({"N": 41, "M": 43}) == count({"N": 41, "M": 43})


def test_a_closed_form_holds_for_sizes_of_one_order() -> None:
    def count(sizes: Mapping[str, int]) -> dict[str, int]:
        n, m = sizes["N"], sizes["M"]
        return {"a": n * max(n, m) + 3 * m, "b": n - m}

    form = fit_closed_form(count, {"N": 8, "M": 6}, 2)
    assert form.order == ("M", "N")
    assert [form.text(name) for name in "ab"] == ["N^2 + 3*M", "N - M"]
    above = {"N": 40, "M": 18}
    assert form.evaluate(above) == count(above)
    below = {"N": 18, "M": 40}
    assert form.evaluate(below) != count(below), "of the other order are other polynomials"


def test_what_is_no_polynomial_is_refused(golden: Golden) -> None:
    with pytest.raises(PolyloomError) as refused:
        fit_closed_form(lambda sizes: {"a": 2 ** sizes["N"]}, {"N": 1}, 1)
    golden("no_closed_form", str(refused.value))


def test_shares_of_energy(tmp_path: Path, golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    machine, source = tmp_path / "metered.toml", tmp_path / "product.py"
    machine.write_text(ENERGY, encoding="utf-8")
    source.write_text(PRODUCT, encoding="utf-8")
    asked = [str(source), "N=8", "M=8", "K=8", "--on", f"tcpa:{machine}:2x2"]
    assert main(["run", *asked]) == 0
    shown = capsys.readouterr().out
    assert main(["run", *asked, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    counts, shares = data["counts"], data["energy"]["shares"]
    own = {"add i32": 2, "mul i32": 30, "move i32": 1}
    energy = {name: counts[name] * e for name, e in zip(ACCESSES, (1, 0.25, 0.5, 1, 1, 10, 10, 2), strict=True)}
    energy["operation"] = sum(counts[name] * e for name, e in own.items() if name in counts)
    assert shares == {name: e / sum(energy.values()) for name, e in energy.items()}
    assert energy_shares(machine_file.load(str(machine)).energy or pytest.fail(), counts) == shares
    assert main(["compare", *asked[:4], "--on", f"tcpa:{machine}:2x2,tcpa:2x2", "--json"]) == 0
    here, there = json.loads(capsys.readouterr().out)["rows"]
    assert here["energy_shares"] == shares and there["energy_shares"] is None
    golden("energy", next(line for line in shown.splitlines() if line.strip().startswith("energy")))
