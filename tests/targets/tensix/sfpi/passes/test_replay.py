# SPDX-License-Identifier: Apache-2.0
"""Replay: repeated words, unrolled and rolled, are recorded and played back; what runs is the same."""

from collections.abc import Callable

from tests.targets.tensix.sfpi.passes.bench import agree, kernel, listing, plain, run

from polyloom.targets.tensix.source.lower.compile import Options

STEP = """%a{n}: i32x32 = call @load 0:i32, 3:i32, 0:i32
%b{n}: i32x32 = call @sfpmul %a{n}, %a{n}, 0:i32
%c{n}: i32x32 = call @sfpabs %b{n}, 1:i32
call @store %c{n}, 0:i32, 3:i32, 0:i32
call @word 939556864:i32
"""
ROLLED = """entry:
jump head(0:i32)
head(%i: i32):
BODY
%next: i32 = add %i, 1:i32
%more: i1 = slt %next, 8:i32
branch %more, head(%next), done
done:
return
""".replace("BODY", STEP.replace("{n}", ""))
UNROLLED = "".join(STEP.replace("{n}", str(n)) for n in range(8))
RECORDED = """call @word 67108929:i32
call @word 939556864:i32
call @word 939556864:i32
call @word 939556864:i32
call @word 939556864:i32
"""
"""REPLAY 0, 4 with load, and what it records."""


def test_unrolled(golden: Callable[[str, str], None]) -> None:
    ran = run(kernel(UNROLLED), plain())
    agree(ran)
    agree(run(kernel(UNROLLED), plain(), options=Options(without=frozenset({"replay"}))))
    assert len(ran.words) < 24
    golden("unrolled", listing(ran))


def test_rolled(golden: Callable[[str, str], None]) -> None:
    """The body is recorded before the loop; each pass is one word."""
    ran = run(kernel(ROLLED), plain())
    agree(ran)
    golden("rolled", listing(ran))


def test_slots_of_the_source_are_left_alone() -> None:
    function = kernel(RECORDED + UNROLLED + "call @word 67108928:i32\n")
    ran = run(function, plain())
    agree(ran)
    replays = [word for word in ran.words if word >> 24 == 0x04]
    assert [word for word in replays if word >> 14 & 1023 < 4] == [67108929, 67108928]
    assert len(replays) > 2, "the compiler's own go behind them"


def test_a_computed_word_may_be_a_replay() -> None:
    """Nothing is recorded then, since the slots that it uses are not known."""
    function = kernel(UNROLLED + "call @word %n\n", "%n: i32")
    assert not any(word >> 24 == 0x04 for word in run(function, plain(), (0x02000000,)).words[:-1])
