# SPDX-License-Identifier: Apache-2.0
"""Rules of vector kernels, and warnings of lanes without a value."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from tests.targets.tensix.sfpi.form.lanes import RAW, kernel
from tests.targets.tensix.sfpi.kernels import kernel as random_kernel

from polyloom.diagnostics import PolyloomError
from polyloom.ir.ssa import Edge, Place
from polyloom.targets.tensix.source.build import Builder, constant
from polyloom.targets.tensix.source.verify import verify
from polyloom.targets.tensix.words.isa import Member

Body = Callable[[Builder], None]
Golden = Callable[[str, str], None]


NARROW = ("push", "cond")


def open_if(b: Builder) -> None:
    b.effect("push")
    b.effect("cond", b.call("mask_of", b.call("load", RAW, 3, 0)))


def alone(name: str) -> Body:
    return lambda b: b.effect(name)


def narrowed_alone(b: Builder) -> None:
    b.effect("and_", b.call("mask_of", b.call("load", RAW, 3, 0)))


def half_open(b: Builder) -> None:
    b.branch(b.scalar("slt", b.entry[0], 0), Edge("then"), Edge("after"))
    b.block("then")
    open_if(b)
    b.jump("after")
    b.block("after")


def run_time_mode(b: Builder) -> None:
    b.effect("store", b.call("splat", 1), b.entry[0], 3, 0)


def wrong_mode(b: Builder) -> None:
    b.effect("lreg_write", 9, b.call("splat", 1))


def random_numbers(b: Builder) -> None:
    b.effect("store", b.call("rand"), RAW, 3, 0)


def arithmetic_shift(b: Builder) -> None:
    b.effect("store", b.call("sfpshft_i", b.call("splat", 1), 3, 2), RAW, 3, 0)


ERRORS: dict[str, Body] = {
    "if-without-endif": open_if,
    "endif-alone": alone("pop"),
    "else-alone": alone("else_"),
    "and-alone": narrowed_alone,
    "open-on-one-way": half_open,
    "mode-at-run-time": run_time_mode,
    "mode-out-of-range": wrong_mode,
    "random-on-wormhole": random_numbers,
    "arithmetic-shift-on-wormhole": arithmetic_shift,
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, golden: Golden) -> None:
    with pytest.raises(PolyloomError) as caught:
        verify(kernel(ERRORS[name], "n"))
    golden(name, str(caught.value) + "\n")


def test_blackhole_has_what_wormhole_refuses() -> None:
    for body in (random_numbers, arithmetic_shift):
        assert verify(kernel(body), "blackhole") == ()


def declared(*steps: str) -> Body:
    """A vector without a first value, then steps: a letter assigns it, and other words act on conditions."""

    def body(b: Builder) -> None:
        x = b.call("load", RAW, 3, 0)
        b.place = Place("kernel.h", 2, 5)
        y = b.call("undefined")
        for k, step in enumerate(steps):
            b.place = Place("kernel.h", 3 + k, 1)
            if step == "=":
                y = b.call("assign", y, x)
            elif step == "store":
                b.effect("store", y, RAW, 3, 2)
            elif step == "compare":
                b.effect("cond", b.call("cmp_i", 0, y, x))
            elif step in ("cond", "and_"):
                b.effect(step, b.call("mask_of", x))
            else:
                b.effect(step)

    return body


COVERED = {
    "at once": ("=", "store"),
    "both arms": ("push", "cond", "=", "else_", "=", "pop", "store"),
    "three arms": ("push", "cond", "=", "else_", "cond", "=", "else_", "=", "pop", "store"),
    "where it was written": ("push", "cond", "=", "store", "pop"),
    "deeper": ("push", "cond", "=", "push", "cond", "store", "pop", "pop"),
    "arms within an arm": (*NARROW, *NARROW, "=", "else_", "=", "pop", "store", "else_", "=", "pop", "store"),
    "a block": ("push", "=", "and_", "pop", "store"),
    "never used": ("push", "pop"),
}  # fmt: skip
OPEN = {
    "nowhere": ("store",),
    "one arm": ("push", "cond", "=", "pop", "store"),
    "no last else": ("push", "cond", "=", "else_", "cond", "=", "pop", "store"),
    "the other arm": ("push", "cond", "=", "else_", "store", "pop"),
    "narrowed": ("push", "cond", "and_", "=", "else_", "=", "pop", "store"),
    "compared": ("push", "compare", "pop"),
}


@pytest.mark.parametrize("name", COVERED)
def test_no_warning_where_all_lanes_have_been_written(name: str) -> None:
    assert verify(kernel(declared(*COVERED[name]))) == ()


@pytest.mark.parametrize("name", OPEN)
def test_warnings(name: str) -> None:
    (found,) = verify(kernel(declared(*OPEN[name])))
    assert (found.code, found.exit_code) == ("PL1243", 0)
    assert found.message.startswith("kernel.h, line 2: ")


def test_a_loop_that_writes_only_in_some_rounds_is_warned_of() -> None:
    def body(b: Builder) -> None:
        x, y = b.call("load", RAW, 3, 0), b.call("undefined")
        i, z = b.fresh(constant(0).type), b.fresh(x.type)
        b.jump("head", constant(0), y)
        b.block("head", [i, z])
        b.branch(b.scalar("slt", i, b.entry[0]), Edge("body"), Edge("after"))
        b.block("body")
        b.jump("head", b.scalar("add", i, 1), b.call("assign", z, x))
        b.block("after")
        b.effect("store", z, RAW, 3, 2)

    assert len(verify(kernel(body, "n"))) == 1


def test_a_warning_shows_the_declaration(golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "void f() {\n    vFloat y;\n    v_if (x != 0) {\n        y = x;\n    }\n    v_endif;\n    dst_reg[1] = y;\n}\n"
    )
    (tmp_path / "kernel.h").write_text(text)
    (found,) = verify(kernel(declared("push", "cond", "=", "pop", "store")))
    golden("lanes-without-a-value", found.render() + "\n")


@pytest.mark.parametrize("member", ["wormhole", "blackhole"])
def test_random_kernels_are_well_formed(member: Member) -> None:
    for seed in range(60):
        verify(random_kernel(Random(seed), member), member)
