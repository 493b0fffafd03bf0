# SPDX-License-Identifier: Apache-2.0
"""Words of every machine say which line they come from, or why they are there: of C functions, kernels, equations
and vector kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.frontend.python.helpers import KERNELS
from tests.in_turns import in_turns
from tests.kernels.running import LANGUAGES
from tests.kernels.sizes import MINI

import polyloom as pl
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Options
from polyloom.ir.ssa import NOWHERE, Place
from polyloom.riscv import source_lines, symbols
from polyloom.riscv.disassemble import addresses
from polyloom.run.instance import Instance
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.program import Note
from polyloom.targets.tensix.words.arrays import note as notes

EXAMPLES = KERNELS.parent
_INSTRUCTION = re.compile(r" *[0-9a-f]+: [0-9a-f]+ +.*")
_FILES = [KERNELS / f"{name}.{LANGUAGES[n % 2]}" for n, name in enumerate(MINI)]


def of_words(data: bytes) -> Iterator[Place | None]:
    """Of an ELF file, word by word."""
    known = source_lines.decode_lines(data)
    for start, code in symbols.read_tables(data).code:
        yield from map(known.at, addresses(code, start))


def of_bundles(data: bytes) -> Iterator[Place | None]:
    """Of a belt program, operation by operation."""
    for bundle in (bundle for routine in belt_file.read(data).program.routines for bundle in routine.bundles):
        yield from (note.place for note in bundle.notes or (Note(),) * len(bundle.issues))


def made(path: Path, on: str) -> Instance:
    compiled = pl.compile(str(path), on=on)
    sizes = MINI[path.stem]
    return compiled.prepare_instance(
        {name: sizes[name.upper()] for name in compiled.signature.sizes} if "minion" in on else {}
    )


def check(places: list[Place | None], path: Path) -> None:
    """Each has a line of the file, or a reason alone; some are the user's, and none names a folder."""
    lines = path.read_text(encoding="utf-8").split("\n")
    assert places
    for place in places:
        assert place is not None
        assert place.line or place.reason
        assert not place.line or (place.file == path.name and lines[place.line - 1].strip())
    assert any(place is not None and place.line and not place.reason for place in places)
    assert any(place is not None and place.reason for place in places)


@pytest.mark.parametrize(("path", "on"), in_turns(_FILES, ("riscv:rv64gc", "minion:2", "belt:silver"), 3))
def test_every_word_of_every_kernel(path: Path, on: str) -> None:
    places = of_bundles if on.startswith("belt") else of_words
    check(list(places(made(path, on).data)), path)


@pytest.mark.parametrize("name", ["matmul", "axpy", "relu"])
@pytest.mark.parametrize("on", ["tensix", "minion:2"])
def test_every_word_of_equations(name: str, on: str) -> None:
    path = EXAMPLES / f"{name}.pla"
    compiled = pl.compile(str(path), on=on)
    check(list(of_words(compiled.prepare_instance(dict.fromkeys(compiled.parameters, 32)).data)), path)


@pytest.mark.parametrize("file", ["gemm.c", "gemm.py", "mm2.c", "mm2.py"])
def test_every_word_of_several_stages(file: str) -> None:
    """The user's words are those of all statements that compute, each in its stage."""
    path = KERNELS / file
    compiled = pl.compile(str(path), on="tensix")
    data = compiled.prepare_instance({name: MINI[path.stem][name.upper()] for name in compiled.signature.sizes}).data
    places = list(of_words(data))
    check(places, path)
    note = notes.decode(data)
    assert note is not None
    assert {place.line for place in places if place and not place.reason} == {told.line for told in note.stages}
    assert "waits until all threads have ended a stage" in {place.reason for place in places if place}


@pytest.mark.parametrize(("file", "function"), [("leaky_relu.h", "leaky_relu<8>"), ("kernels.py", "leaky_relu")])
def test_every_word_of_a_vector_kernel(file: str, function: str) -> None:
    path = EXAMPLES / "sfpi" / file
    compiled = pl.compile(str(path), on="tensix", options=Options(function=function))
    check(list(of_words(compiled.data)), path)
    assert "sets counters, lanes and Dst" in compiled.listing


@pytest.mark.parametrize("name", ["fir.c", "fir.py"])
def test_instructions_have_the_line_of_the_sum(name: str) -> None:
    path = KERNELS / name
    text = path.read_text(encoding="utf-8").split("\n")
    listing = pl.compile(str(path), on="riscv:rv64gc").listing
    lines = [line for line in listing.split("\n") if _INSTRUCTION.fullmatch(line)]
    places = [re.fullmatch(rf".*  # {re.escape(name)}:([0-9]+)(  \(.*\))?", line) for line in lines]
    assert all(places)
    sums = next(n for n, line in enumerate(text, 1) if "+= " in line)
    multiply = next(n for n, line in enumerate(lines) if "fmul.s" in line or "fmadd.s" in line)
    assert lines[multiply].endswith(f":{sums}")


def test_lines_hold_until_the_next() -> None:
    lines = source_lines.Lines((16, 24), (Place("a.c", 3, 0, "waits"), NOWHERE))
    assert [lines.at(n) for n in (15, 16, 23, 24)] == [None, Place("a.c", 3, 0, "waits"), lines.places[0], None]
    assert lines.annotate(16, "nop").endswith("# a.c:3  (waits)")
    assert lines.without(16, lines.annotate(16, "nop")) == "nop"


@pytest.mark.parametrize(
    ("on", "file"),
    [("belt:silver", "gemm.py"), ("minion:2", "matmul.pla"), ("tensix", "matmul.pla"), ("tensix", "gemm.py")],
)
def test_spans_of_a_trace_tell_their_statement(on: str, file: str) -> None:
    path, sizes = (EXAMPLES / file, {"N": 32, "M": 32, "K": 32})
    if file == "gemm.py":
        path, sizes = KERNELS / file, {"NI": 3, "NJ": 4, "NK": 5}
    told = [dict(span.arguments) for span in pl.compile(str(path), on=on).run(sizes, trace=True).trace.spans]
    lines = [" ".join(line.split()) for line in path.read_text(encoding="utf-8").split("\n")]
    sourced = [each for each in told if "source" in each]
    assert len(sourced) > len(told) // 4
    for each in sourced:
        file, _, line = each["source"].rpartition(":")
        assert file == path.name
        assert each["statement"] == lines[int(line) - 1]
    assert any("reason" in each for each in told)
    assert any("reason" not in each for each in sourced)


@pytest.mark.parametrize(("on", "code"), [("riscv:rv64i", "PL0930"), ("riscv:rv32im", "PL0930")])
def test_a_refusal_of_a_kernel_names_its_line_alone(on: str, code: str) -> None:
    """Neither the C text that was made of it nor a folder."""
    with pytest.raises(PolyloomError, match=code) as error:
        pl.compile(str(KERNELS / "fir.py"), on=on)
    assert re.search(r"@fir, line \d+: ", str(error.value))
    assert "nest.c" not in str(error.value)
    assert "/" not in str(error.value)
