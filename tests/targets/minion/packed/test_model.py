# SPDX-License-Identifier: Apache-2.0
"""Packed instructions inside the model: registers that a tensor operation still holds, and floats that are off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from polyloom.cli.entry import main

START = """\
_start: li t0, 0x2000
        {on}
        csrr t0, mhartid
        bnez t0, done
        csrwi mcache_control, 1
        csrwi mcache_control, 3
        mov.m.x m0, zero, 0xff
        la a0, data
        {body}
done:   li t0, 0x1feed000
        csrw validation0, t0
        .data
data:   .float 1, 2, 3, 4, 5, 6, 7, 8
        .zero 992
"""
PRODUCT = "tensor_fma fp32 16x16x16 A=scp[0..15] B=scp[16..31] C=f0..f31 mul"


def simulated(tmp_path: Path, body: str, *options: str, on: str = "csrs mstatus, t0") -> int:
    source, elf = tmp_path / "k.s", tmp_path / "k.elf"
    source.write_text(START.format(on=on, body=body), encoding="utf-8")
    assert main(["asm", str(source), "--on", "minion", "-o", str(elf)]) == 0
    return main(["simulate", str(elf), "--on", "minion:1", *options])


@pytest.mark.parametrize("access", ["fswg.ps f3, (a0)", "fscw.ps f3, f4(a0)", "fadd.pi f1, f3, f3", "fsw.ps f3, 0(a0)"])
@pytest.mark.parametrize("wait", [True, False])
def test_registers_of_a_tensor_operation(
    access: str, wait: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "\n".join([PRODUCT, *(["tensor_wait fma"] if wait else []), access])
    assert simulated(tmp_path, body, "--hazards", "report") == 0
    assert ("tensor_wait 7 is missing" in capsys.readouterr().out) is not wait


def test_floats_that_are_off_are_illegal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert simulated(tmp_path, "nop", on="nop") == 1
    assert "illegal instruction" in capsys.readouterr().err


@pytest.mark.parametrize("mode", [(), ("--functional",)])
def test_a_loop_over_lanes(mode: tuple[str, ...], tmp_path: Path) -> None:
    body = "flw.ps f0, (a0)\nmov.m.x m0, zero, 0x0f\nfadd.ps f0, f0, f0\nmov.m.x m0, zero, 0x3f\nfsw.ps f0, 0(a0)"
    out = tmp_path / "d.npy"
    assert simulated(tmp_path, body, "--out", f"data={out}:8:f32", *mode) == 0
    assert np.load(out).tolist() == [2, 4, 6, 8, 5, 6, 7, 8]
