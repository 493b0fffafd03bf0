# SPDX-License-Identifier: Apache-2.0
"""The library on small hosts (32 and 64 bits, both byte orders), under QEMU: the bytes and the refusals of this
host."""

from __future__ import annotations

from functools import cache

import pytest
from tests.device.cases import Case, answers, convolutions, examples, kernels, on_host, refusals
from tests.device.devices import DEVICES, RV32, Device, missing, run
from tests.device.report import LARGE, case, harness, instructions, instructions_of_qemu, program, text, worst


@cache
def cases() -> tuple[Case, ...]:
    regions = ((1, 1), (1, 3), (2, 3), (4, 4), (8, 8))
    programs = examples(["bits", "fir", "matmul", "jacobi1d", "matvec"], "wide", regions)
    return (*programs, *convolutions(regions), *kernels(["trisolv", "trmm"], ((3, 2), (4, 4))), *refusals())


# By default 32 bits in both byte orders: what 64 bits in the order of this host make, this host shows.
BY_DEFAULT = ("riscv32", "mips")


@pytest.mark.parametrize(
    "device",
    [pytest.param(d, marks=[] if d.name in BY_DEFAULT else pytest.mark.long) for d in DEVICES],
    ids=lambda d: d.name,
)
def test_a_device_makes_the_bytes_of_this_host(device: Device) -> None:
    if reason := missing(device):
        pytest.skip(reason)
    asked = cases()
    given = list(answers(run(device, harness(device), b"".join(c.message() for c in asked))))
    expected = [on_host(case) for case in asked]
    differ = [
        (c.name, a.outcome.status, e.status) for c, a, e in zip(asked, given, expected, strict=True) if a.outcome != e
    ]
    assert differ == []
    assert {0, 3, 501, 502, 503, 505, 511, 512, 513, 514, 515, 516, 517, 519, 520, 701, 702, 704} <= {
        e.status for e in expected
    }


def test_two_emulators_count_the_same_instructions() -> None:
    if reason := missing(RV32):
        pytest.skip(reason)
    executable = program(RV32, next(examples(["bits"], "wide", ((1, 3),))))
    assert instructions(executable, "rv32imac") == instructions_of_qemu(RV32, executable)


def test_the_text_and_its_helpers() -> None:
    if reason := missing(RV32):
        pytest.skip(reason)
    library, helpers = text(RV32)
    assert {name for name in helpers if not name.startswith("__")} == {"memcpy", "memset"}
    assert 10_000 < library < 72_000
    assert sum(helpers.values()) < 2000


@pytest.mark.parametrize("kernel", ["bits", "fir", "matmul"])
def test_32_kib_of_stack_and_scratch_suffice_whatever_the_region(kernel: str) -> None:
    if reason := missing(RV32):
        pytest.skip(reason)
    needed = worst(RV32, kernel, LARGE.get(kernel, (32, 32)))
    assert needed.scratch + needed.stack <= 32 * 1024


@pytest.mark.parametrize(
    "regions",
    [((1, 1), (1, 32), (32, 32)), pytest.param(((1, 16), (4, 4), (8, 8)), marks=pytest.mark.long)],
    ids=["least and largest", "between"],
)
def test_32_kib_of_stack_and_scratch_suffice_for_a_convolution(regions: tuple[tuple[int, int], ...]) -> None:
    if reason := missing(RV32):
        pytest.skip(reason)
    asked = [case("conv", region, perfect=perfect) for region in regions for perfect in (False, True)]
    for needed in answers(run(RV32, harness(RV32), b"".join(c.message() for c in asked))):
        assert needed.outcome.status == 0
        assert needed.scratch + needed.stack <= 32 * 1024
