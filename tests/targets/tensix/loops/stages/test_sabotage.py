# SPDX-License-Identifier: Apache-2.0
"""A changed word in the programs of any stage is noticed: by the comparison in bits, or by the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.targets.tensix.loops.stages import kernels

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.targets.tensix import stages as loops
from polyloom.targets.tensix.map.oracle import evaluate
from polyloom.targets.tensix.words.encode import rotate_word
from polyloom.targets.tensix.words.isa import instructions_by_name, spelling_key

VALUES = {"N": 40, "M": 33, "K": 50, "L": 35}
WRONG = ("PL0812", "PL1220", "PL1221", "PL1222", "PL1235", "PL1236")


def places(data: bytes, name: str) -> list[int]:
    """Where the file has words of an instruction."""
    words, opcode = np.frombuffer(data[: len(data) & ~3], "<u4"), instructions_by_name()[spelling_key(name)].opcode
    return [4 * int(n) for n in np.flatnonzero((words >> 2 | words << 30) >> 24 == opcode)]


_RIGHT: list[bytes] = []
"""Words of `layers` for `VALUES`, compiled once."""


def sabotaged(monkeypatch: pytest.MonkeyPatch, name: str, number: int, flip: int) -> None:
    """The word of an instruction, the one of this number in the file, with other bits."""
    compiled = loops.compile_stages

    def changed(*given: Any) -> bytes:
        if not _RIGHT:
            _RIGHT.append(compiled(*given))
        data = _RIGHT[0]
        at = places(data, name)[number]
        word = int.from_bytes(data[at : at + 4], "little") ^ rotate_word(flip)
        return data[:at] + word.to_bytes(4, "little") + data[at + 4 :]

    monkeypatch.setattr(loops, "compile_stages", changed)


def test_nothing_is_wrong_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    sabotaged(monkeypatch, "MVMUL", 0, 0)
    assert pl.compile(kernels.layers, on="tensix").run(VALUES).verified


@pytest.mark.parametrize(
    ("name", "number", "flip"),
    [
        ("MVMUL", 0, 8),  # the row of Dst; of the first product, and of the second one
        ("MVMUL", 16, 8),
        ("SFPADD", 0, 1 << 8),  # a register of the formula
        ("SFPSTORE", 0, 2),  # the place in Dst
        ("SFPSTORE", -1, 2),
        ("UNPACR", 0, 1 << 23),  # the other unpacker
        ("PACR", 0, 1 << 8),  # a packer less
        ("PACR", -1, 1 << 8),
        ("SEMPOST", 0, 4),  # another semaphore
        ("SEMGET", 0, 4),
        ("SETADCZW", -1, 1 << 9),
        ("ADDDMAREG", 0, 1 << 6),
    ],
)
def test_changed_words(monkeypatch: pytest.MonkeyPatch, name: str, number: int, flip: int) -> None:
    sabotaged(monkeypatch, name, number, flip)
    with pytest.raises(PolyloomError) as error:
        pl.compile(kernels.layers, on="tensix").run(VALUES, max_cycles=20000)  # pyright: ignore[reportArgumentType]: an option of the target
    assert error.value.code in WRONG


@pytest.mark.parametrize("number", range(4))
def test_each_stage_is_compared(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """An oracle that has another bit in one array of a stage differs."""
    right = evaluate.stage_datums

    def wrong(each: Any, *of: Any) -> Any:
        found = right(each, *of)
        return found ^ 0x400000 if each.stage.result == wanted else found

    monkeypatch.setattr(evaluate, "stage_datums", wrong)
    compiled = pl.compile(kernels.layers, on="tensix")
    assert compiled.subject is not None
    wanted = compiled.subject.content.program.stages[number].result
    with pytest.raises(PolyloomError) as error:
        compiled.run(VALUES)
    assert error.value.code == "PL0812"
