# SPDX-License-Identifier: Apache-2.0
"""`run` and `compile` the whole way on the paper's running example: keys, verdicts, files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Call

import polyloom as pl
from polyloom import api
from polyloom.frontend.source import Arrays
from polyloom.modulo.guards.solve import search
from polyloom.targets.forms import loops

ON = ("--on", "tcpa:paper:1x3")
COMMON = ["verified", "kernel", "on", "parameters", "cycles", "operations", "compile_seconds", "run_seconds", "outputs"]
MAPPING = [
    "pes",
    "initiation_interval",
    "minimum_initiation_interval",
    "proved_minimal",
    "interval_bound_by",
    "predicted_cycles",
]
PROGRAMS = [
    "processor_classes",
    "kernel_classes",
    "control_signals",
    "instruction_words",
    "symbolic_bytes",
    "concrete_bytes",
]
KEYS = [
    *COMMON,
    "verdict",
    "compared_with",
    "comparisons",
    "region",
    *MAPPING,
    *PROGRAMS,
    "instantiations",
    "phases",
    "time",
    "counts",
    "instantiate_seconds",
    "bound_by",
    "account",
]


def test_json_has_the_promised_keys(call: Call) -> None:
    status, out, err = call("run", "bits.pla", "N=16", *ON, "--json")
    data = json.loads(out)
    assert (status, err) == (0, "")
    assert list(data) == KEYS
    assert (data["verified"], data["kernel"], data["on"], data["parameters"], data["pes"]) == (
        True,
        "bits",
        ON[1],
        {"N": 16},
        [1, 3],
    )
    assert (data["initiation_interval"], data["minimum_initiation_interval"], data["proved_minimal"]) == (2, 2, True)
    assert data["outputs"]["bits"]["dtype"] == "int32"


def test_given_inputs_and_written_outputs(call: Call, scratch: Path) -> None:
    status, out, _ = call(
        "run",
        "bits.pla",
        "N=16",
        *ON,
        "--in",
        "in=in.npy",
        "--out",
        "bits=out.npy",
        "--trace",
        "run.vcd",
        "--report",
        "run.html",
        "--json",
    )
    bits = np.load(scratch / "out.npy")
    assert status == 0
    assert bits.tolist() == [12345 >> n & 1 for n in range(16)]
    assert json.loads(out)["outputs"]["bits"]["sha256"] == hashlib.sha256(bits.astype("<i4").tobytes()).hexdigest()
    assert (scratch / "run.vcd").read_text().startswith("$timescale")
    assert (scratch / "run.html").read_text().startswith("<!doctype html>")


def test_operands_may_follow_options(call: Call) -> None:
    assert call("run", "--on", "tcpa:paper:1x3", "bits.pla", "--json", "N=16")[0] == 0


def test_seed_chooses_the_inputs(call: Call) -> None:
    sums = {
        json.loads(call("run", "bits.pla", "N=16", *ON, "--seed", str(n), "--json")[1])["outputs"]["bits"]["sha256"]
        for n in (0, 0, 1, 2, 3)
    }
    assert 1 < len(sums) < 5


def test_a_difference_is_exit_4(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    interpret = loops.interpret

    def wrong(plan: api.Plan, parameters: Mapping[str, int], inputs: Arrays) -> Arrays:
        outputs = interpret(plan, parameters, inputs)
        outputs["bits"][3] ^= 2
        return outputs

    monkeypatch.setattr(loops, "interpret", wrong)
    status, out, err = call("run", "bits.pla", "N=16", *ON, "--json")
    assert (status, json.loads(out)["verified"]) == (4, False)
    assert err.startswith("error[PL0812]: bits[3] differs from the source: expected ")
    instance = pl.compile("bits.pla", on="tcpa:paper").instantiate(N=16, pes=(1, 3))
    with pytest.raises(pl.PolyloomError, match="PL0812"):
        instance.run()


def test_compiling_twice_gives_the_same_bytes(call: Call, scratch: Path) -> None:
    for name in ("one.plsc", "two.plsc"):
        search.cache_clear()
        assert call("compile", "bits.pla", "--on", "tcpa:paper", "-o", name)[0] == 0
    assert (scratch / "one.plsc").read_bytes() == (scratch / "two.plsc").read_bytes()


def test_objects_show_themselves(scratch: Path) -> None:
    del scratch
    compiled = pl.compile("bits.pla", on="tcpa:paper:1x3")
    result = compiled.instantiate(N=16).run()
    assert repr(compiled).startswith("<symbolic configuration of bits(N): ")
    assert repr(result) == "<run of bits(N=16): 33 cycles, equal bits, compared with the source>"
    assert repr(result.show()).startswith("<page of bits N=16 on tcpa:paper:1x3: ")
    compiled.save("saved.plsc")
    assert pl.load("saved.plsc").data == compiled.data


def test_every_part_of_a_run_is_told() -> None:
    told: list[tuple[str, float]] = []
    source = api.load_source("examples/kernels/trisolv.py")
    instance = api.compile(source, "tcpa:unit:1x1").instantiate(N=4)
    instance.measure({}, progress=lambda step, fraction: told.append((step, fraction)))
    assert told == [
        ("running", 0.0),
        ("comparing with the source's equations", 1 / 3),
        ("comparing with the source", 2 / 3),
    ]
