# SPDX-License-Identifier: Apache-2.0
"""A program means the same whatever its names are, also where they are names that the compiler makes or reserves.

Random kernels are compiled and run, and again under names of the compiler's vocabulary, on the same data: the same bits
come out of every interpreter and of every target, or both are refused for one reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest
from tests.frontend.python import programs
from tests.frontend.python.helpers import Arrays, arguments, assert_same
from tests.kernels import nests
from tests.names import vocabulary
from tests.names.renaming import renamed, renaming, with_size
from tests.riscv.backend.running import run

from polyloom import api, frontend
from polyloom.diagnostics import PolyloomError
from polyloom.frontend.pla import parse
from polyloom.frontend.source import Options, Source
from polyloom.ir import nest_interpret, plan_interpret, recurrence_interpret
from polyloom.ir.nest_c import print_c
from polyloom.ir.pla import Program
from polyloom.ir.pla_text import print_program
from polyloom.sets.isl import to_set

pytestmark = pytest.mark.usefixtures("roughly_scheduled")

NAMES = ("N", "f", "A", "B", "x", "y", "P", "q", "p", "n", "z", "v", "w", "i", "j", "k", "l", "total", "SCALE", "SHIFT")
with_c = pytest.mark.skipif(find_spec("ziglang") is None, reason="C needs the extra `c`")


def text_of(seed: int) -> str:
    """Loops that suit the array, or branches on data."""
    return nests.kernel(seed) if seed % 3 else programs.Writer(Random(seed), "f32" if seed % 2 else "i16").kernel()


def loaded(path: Path, text: str) -> Source | str:
    """The source, or the code for which it is refused."""
    path.write_text(text, encoding="utf-8")
    try:
        return frontend.load(str(path))
    except PolyloomError as error:
        return error.diagnostics[0].code


def data(source: Source) -> tuple[dict[str, int], Arrays]:
    assert source.nest is not None
    sizes = {name: 3 + n for n, name in enumerate(source.nest.parameters)}
    return sizes, arguments(source.nest, sizes)


def check_interpreters(source: Source, sizes: Mapping[str, int], inputs: Arrays) -> None:
    """What the nest means is what its equations mean, those of the plan, and what the source itself does."""
    assert source.nest is not None
    written = nest_interpret.interpret(source.nest, sizes, inputs)
    taken = {a.name: inputs[a.name] for a in source.plan.inputs}
    # A nest that runs in steps because it has no dataflow as a whole has a plan alone.
    of_equations = {} if source.system is None else recurrence_interpret.interpret(source.system, sizes, inputs)
    of_plan = plan_interpret.interpret(source.plan, sizes, taken)
    for found in (source.reference(sizes, inputs), written | of_equations, written | of_plan):
        assert_same(written, dict(found))


def expected(source: Source, sizes: Mapping[str, int], inputs: Arrays) -> Arrays:
    assert source.nest is not None
    return nest_interpret.interpret(source.nest, sizes, inputs)


def check_on_array(source: Source, sizes: Mapping[str, int], inputs: Arrays, want: Arrays, folder: Path) -> str:
    """The saved file, loaded again, on the user's own arrays: "" or the code for which the array is refused."""
    taken = {a.name: inputs[a.name] for a in source.plan.inputs}
    try:
        compiled = api.compile(source, "tcpa:wide")
        compiled.save(folder / "k.plsc")
        again = api.load(folder / "k.plsc")
        assert isinstance(again, api.Compiled)
        got = again.instantiate(sizes, pes=(2, 2)).run(taken).outputs
    except PolyloomError as error:
        return error.diagnostics[0].code
    assert_same({name: want[name] for name in got}, dict(got))
    return ""


def check_texts(source: Source) -> None:
    """What is shown of the equations reads back: as it is, or, where isl's gist finds a simpler condition in the second
    reading (it is not idempotent), with the same points."""
    for phase in source.plan.phases:
        text, name = print_program(phase.program), f"{phase.program.name}.pla"
        again = parse(text, name)
        if print_program(again) != text:
            assert _unconditional(again) == _unconditional(phase.program)
            symbols = phase.program.dimensions, phase.program.parameters
            for own, other in zip(phase.program.equations, again.equations, strict=True):
                assert to_set(own.condition, *symbols).is_equal(to_set(other.condition, *symbols))
            assert print_program(parse(print_program(again), name)) == print_program(again)


def _unconditional(program: Program) -> str:
    return print_program(
        replace(program, equations=tuple([replace(e, condition=program.space) for e in program.equations]))
    )


def check_on_processor(path: Path, sizes: Mapping[str, int], inputs: Arrays, want: Arrays) -> None:
    result = run(str(path), "riscv:rv64gc", Options(), {n: str(v) for n, v in sizes.items()}, inputs, 0)
    assert not result.differences
    kept = {
        name: array for name, array in want.items() if name not in result.outputs
    }  # stores of what was there are no stores
    assert_same(kept, {name: inputs[name] for name in kept})
    assert_same({name: want[name].reshape(array.shape) for name, array in result.outputs.items()}, dict(result.outputs))


def case(seed: int, folder: Path, *, of_c: bool, processor: bool) -> str:
    """What came of a kernel under names of the compiler: "" or why it was refused, as it was under its own."""
    random, plain = Random(seed), loaded(folder / "plain.py", text_of(seed))
    text = text_of(seed)
    if of_c:
        if isinstance(plain, str) or plain.nest is None:
            return str(plain)
        text = print_c(plain.nest)
        plain = loaded(folder / "plain.c", text)
    made = vocabulary.made(plain) if isinstance(plain, Source) else ()
    names = renaming(random, text, NAMES, made, of_c=of_c)
    other = renamed(text, names)
    if not of_c:
        other, size = with_size(other, names.get("N", "N"))
        if random.random() < 0.5:  # a size is called otherwise than its variable
            names["N"] = random.choice(
                [
                    n
                    for n in (*NAMES, *made, "i")
                    if n.isidentifier() and n not in {names.get(m, m) for m in NAMES if m in text}
                ]
                or ["i"]
            )
            other, _ = with_size(other, names["N"])
        assert size
    path = folder / ("other.c" if of_c else "other.py")
    source = loaded(path, other)
    if isinstance(plain, str) or isinstance(source, str):
        assert plain == source, other
        return str(plain)
    sizes, inputs = data(plain)
    want = {names.get(n, n): a for n, a in expected(plain, sizes, inputs).items()}
    sizes, inputs = {names.get(n, n): v for n, v in sizes.items()}, {names.get(n, n): a for n, a in inputs.items()}
    assert_same(want, expected(source, sizes, inputs))
    check_interpreters(source, sizes, inputs)
    check_texts(source)
    if processor:
        check_on_processor(path, sizes, inputs, want)
    return (
        check_on_array(source, sizes, inputs, want, folder) if seed % 3 else ""
    )  # many branches take long to schedule


@pytest.mark.parametrize(
    "seed", [*(s for s in range(10) if s != 3), *(pytest.param(s, marks=pytest.mark.long) for s in (3, *range(10, 22)))]
)
def test_python(seed: int, tmp_path: Path) -> None:
    case(seed, tmp_path, of_c=False, processor=False)


@with_c
@pytest.mark.parametrize("seed", [100, 101, 102, 104, *(pytest.param(s, marks=pytest.mark.long) for s in (103, 105))])
def test_c_and_machine_code(seed: int, tmp_path: Path) -> None:
    case(seed, tmp_path, of_c=True, processor=True)


@with_c
@pytest.mark.parametrize("seed", [200, 201, 203, pytest.param(204, marks=pytest.mark.long)])
def test_machine_code_of_python(seed: int, tmp_path: Path) -> None:
    case(seed, tmp_path, of_c=False, processor=True)


@with_c
@pytest.mark.long
def test_many(tmp_path: Path) -> None:
    found = [case(seed, tmp_path, of_c=seed % 2 == 1, processor=seed % 3 == 0) for seed in range(1000, 1400)]
    assert found.count("") > len(found) // 2
