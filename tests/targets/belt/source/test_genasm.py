# SPDX-License-Identifier: Apache-2.0
"""genasm reads what it prints, says where a text is wrong; the verifier and the interpreter refuse what they must."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.source.branch_counts import annotate_branches
from polyloom.targets.belt.source.genasm import print_genasm
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.interpret import interpret
from polyloom.targets.belt.source.ir import Block, Branch
from polyloom.targets.belt.source.ir_verify import verify
from polyloom.targets.belt.words.semantics import NaR

FILES = sorted(Path(__file__).parent.glob("*.genasm"))
COMPLETE = """data @taps align 4 constant 0100ff
data @room align 1
function f(%n: w, %v: wx8) -> w, b { !"a file.c":3:1
entry:
    %c: b = gtrs %n, -5:w !4:2
    branch %c, body(0:w, none:w), done(%n) likely !4
loop body(%i: w, %k: w) expected 12 open "volatile access" !"util.h":7:3:
    %a: w = loads h volatile @taps+2, %i * 8 - 2048
    %b: w = load w %n + 12
    %x: wx8, %y: wx8 = widensv w none:hx16
    %z: w = calltr %c, @g(%a, %b)
    store b @room-1, 3:b
    order 0 -> 4 distance 2
    leavefl %c, done(%a)
    leave done(%b)
    next %z, %i
done(%r: w):
    return %r, 1:b
}

function g(%p: w, %q: w) -> w {
start:
    jump next.1
next.1:
    return %p
}
"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_read_print_and_verify(path: Path) -> None:
    module = verify(read_genasm(path.read_text(encoding="utf-8"), path.name))
    assert read_genasm(print_genasm(module)) == module


def test_a_text_with_everything() -> None:
    text = COMPLETE.replace("    order 0 -> 4 distance 2\n", "").replace(
        "    next", "    order 0 -> 4 distance 2\n    next"
    )
    assert print_genasm(read_genasm(COMPLETE)) == text


WRONG = {
    "operation": ("gtrs %n", "greater %n"),
    "value": ("gtrs %n", "gtrs %m"),
    "type": ("-> w, b {", "-> w, i8 {"),
    "constant": ("-5:w", "4294967296:w"),
    "terminator": ("    leave done(%b)\n    next %z, %i\n", "    return\n"),
    "rest": ("return %p", "return %p 7"),
    "bytes": ("0100ff", "0100f"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_texts(name: str, golden: Callable[[str, str], None]) -> None:
    with pytest.raises(PolyloomError) as error:
        read_genasm(COMPLETE.replace(*WRONG[name]), "wrong.genasm")
    (found,) = error.value.diagnostics
    assert found.span is not None
    golden(name, f"{found.code}, line {found.span.line}: {found.message}\nhelp: {found.help}\n")


ILL = {
    "twice": ("    %m: w", "    %a: w = add %n, 1:w\n    %m: w", "%a is defined 2 times"),
    "edge": ("jump body", "jump nobody", "an edge goes to nobody"),
    "arguments": ("body(%first, 0:w)", "body(%first)", "the arguments of body"),
    "types": ("mul %a, %b", "mul %a, 1:h", "operands of several types"),
    "result": ("%q: b = eql", "%q: w = eql", "a comparison gives b"),
    "dominance": ("return %r", "return %t", "is used where its definition does not reach"),
    "offset": ("%xe, %i * 4", "%xe, %i * 4 + 2048", "the offset is not in"),
    "leave": ("branch %some, head, done(0:w)", "leavetr %some, done(0:w)\n    jump head", "leave stands in loops"),
    "order": ("    next", "    order 1 -> 0\n    next", "order 1 -> 0 goes back"),
    "scale": ("%ye, %i * 4", "%ye, %i * 3", "the scale 3"),
}


@pytest.mark.parametrize("name", ILL)
def test_ill_formed_modules(name: str) -> None:
    text = (Path(__file__).parent / "dot.genasm").read_text(encoding="utf-8")
    old, new, message = ILL[name]
    assert old in text
    with pytest.raises(PolyloomError) as error:
        verify(read_genasm(text.replace(old, new)))
    assert error.value.code == "PL1081"
    assert message in str(error.value)


def _function(body: str, parameters: str = "%p: w", results: str = "-> w") -> str:
    return f"function f({parameters}) {results} {{\nentry:\n{body}\n}}\n"


def test_loads_outside_give_nar_and_nothing_gives_none() -> None:
    text = _function("    %a: w = load w %p + 8\n    %b: w = load w none:w\n    return %a, %b", results="-> w, w")
    (a,), (b,) = interpret(read_genasm(text), [np.zeros(2, np.int32)]).results
    assert isinstance(a, NaR)
    assert b is None


@pytest.mark.parametrize(
    "body",
    [
        "    store w %p + 8, 1:w\n    return 0:w",
        "    %z: w = divs 1:w, 0:w\n    store w %p, %z\n    return 0:w",
        "    %z: b = load b %p + 99\n    branch %z, one, one\none:\n    return 0:w",
    ],
)
def test_faults(body: str) -> None:
    with pytest.raises(PolyloomError, match="PL1082"):
        interpret(verify(read_genasm(_function(body))), [np.zeros(2, np.int32)])


def test_stores_of_none_or_to_none_are_not_done() -> None:
    array = np.arange(2, dtype=np.int32)
    lines = ("store w %p, none:w", "store w none:w, 7:w", "%z: w = divs 1:w, 0:w", "store w none:w, %z", "return 0:w")
    interpret(read_genasm(_function("\n".join(lines))), [array])
    assert array.tolist() == [0, 1]


def test_counts_of_a_run_give_branches_their_sense() -> None:
    module = read_genasm((Path(__file__).parent / "search.genasm").read_text(encoding="utf-8"))
    outcome = interpret(module, [4, 1, 2, np.array([9, 9, 1, 0], np.int32)])
    assert outcome.counts["search", "body"] == 3
    entry = annotate_branches(module, outcome.counts).functions[0].blocks[0]
    assert isinstance(entry, Block)
    assert isinstance(entry.terminator, Branch)
    assert entry.terminator.likely is True


def test_numbers_with_zeros_before_them_and_long_ones() -> None:
    read = read_genasm("function f() -> w {\nentry:\n    return 007:w\n}\n")
    assert "return 7:w" in print_genasm(read)
    with pytest.raises(PolyloomError, match="digits"):
        read_genasm(f"function f() -> w {{\nentry:\n    return {'9' * 5000}:w\n}}\n")
