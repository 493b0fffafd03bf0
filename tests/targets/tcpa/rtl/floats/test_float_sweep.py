# SPDX-License-Identifier: Apache-2.0
"""A slice of `make floats`: two operations of E4M3, and a changed line of Verilog that both ways to choose operands
notice. Netlists become C++ gate by gate.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.targets.tcpa.rtl.floats.golden_floats import E4M3, F16, F32
from tests.targets.tcpa.rtl.floats.sweep import float_sweep
from tests.targets.tcpa.rtl.floats.sweep.bit_slices import circuit_function
from tests.targets.tcpa.rtl.floats.sweep.float_sweep import OPERATIONS, build_sweep, kept_sweep, run_sweep

from polyloom.diagnostics import PolyloomError
from polyloom.targets.tcpa.rtl import verilog_files
from polyloom.targets.tcpa.rtl.yosys import TOOL

BY_NAME = {operation.name: operation for operation in OPERATIONS}
SLICE = (BY_NAME["add_adder"], BY_NAME["compare"])


def _need_tools() -> None:
    for tool in (TOOL, float_sweep.COMPILER):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")


def test_no_difference_in_a_small_format() -> None:
    _need_tools()
    program = kept_sweep(E4M3, SLICE, 1)
    for operation in SLICE:
        every, some = run_sweep(program, operation, 0, 1), run_sweep(program, operation, 1000, 1)
        assert (every.compared, every.differences, every.difference) == (65_536, 0, "")
        assert (some.compared, some.differences) == (1024, 0)


def test_a_changed_line_is_noticed(tmp_path: Path) -> None:
    """Ties to even become ties upward."""
    _need_tools()
    text = (verilog_files.LIBRARY / "floats" / "float_round.v").read_text(encoding="utf-8")
    changed = text.replace("up = guard && (rest || moved[WIDTH-MAN-1]);", "up = guard;")
    assert changed != text
    program = build_sweep(tmp_path, E4M3, SLICE[:1], 1, {"float_round.v": changed})
    every, some = (run_sweep(program, SLICE[0], count, 1) for count in (0, 4096))
    assert 0 < every.differences < every.compared
    assert some.differences
    assert "the host" in every.difference
    assert every.line(E4M3).startswith("e4m3   add_adder         65,536 ")


def test_all_operands_are_compared_where_they_have_32_bits() -> None:
    assert BY_NAME["madd"].drawn(E4M3, 7) == BY_NAME["div"].drawn(F16, 7) == BY_NAME["sqrt"].drawn(F32, 7) == 0
    assert BY_NAME["from_i32"].drawn(E4M3, 7) == 0
    assert BY_NAME["madd"].drawn(F16, 7) == BY_NAME["div"].drawn(F32, 7) == 7


def test_a_missing_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(float_sweep, "COMPILER", "no-such-compiler")
    with pytest.raises(PolyloomError, match="`no-such-compiler` is not installed"):
        build_sweep(tmp_path, E4M3, SLICE, 1)


def _module(result: list[int | str], cells: Mapping[str, tuple[str, dict[str, int | str]]]) -> Mapping[str, Any]:
    """A module as `write_json` writes it, with the operands' bits 2, 3 and 4."""
    ports = {port: {"bits": bits} for port, bits in (("a", [2]), ("b", [3]), ("c", [4]), ("result", result))}
    made = {
        name: {"type": kind, "connections": {pin: [bit] for pin, bit in pins.items()}}
        for name, (kind, pins) in cells.items()
    }
    return {"ports": ports, "cells": made}


def test_gates_are_computed_before_they_are_used() -> None:
    cells: Mapping[str, tuple[str, dict[str, int | str]]] = {
        "last": ("$_XOR_", {"A": 6, "B": 4, "Y": 5}),
        "first": ("$_ANDNOT_", {"A": 2, "B": 3, "Y": 6}),
    }
    assert circuit_function("f", _module([5, "0", 2], cells)).splitlines() == [
        "static void f(const Slice* a, const Slice* b, const Slice* c, Slice* result) {",
        "    const Slice zero = {}, one = ~zero;",
        "    const Slice n6 = a[0] & ~b[0];",
        "    const Slice n5 = n6 ^ c[0];",
        "    result[0] = n5;",
        "    result[1] = zero;",
        "    result[2] = a[0];",
        "}",
    ]


def test_an_undefined_bit_is_refused() -> None:
    with pytest.raises(KeyError, match="x"):
        circuit_function("f", _module(["x"], {}))
