# SPDX-License-Identifier: Apache-2.0
"""Parameters of the routine that is run which the belt does not hold lie in the argument block, and are loaded from
there; results, memory and outputs are those of the source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import Golden
from tests.targets.belt.map.schedule.comparing import NAMELESS, check_run, copied

from polyloom.cli import main
from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.compile import specialize
from polyloom.targets.belt.machine import member
from polyloom.targets.belt.run import model
from polyloom.targets.belt.run.stepper import BeltStepper
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.interpret import interpret
from polyloom.targets.belt.source.ir import Module
from polyloom.targets.belt.words import belt_file
from polyloom.targets.belt.words.conasm_read import read
from polyloom.targets.belt.words.listing import listing
from polyloom.targets.belt.words.program import Program

TYPES = ("w", "w", "w", "w", "w", "w", "w", "d", "h", "d", "b", "w")
"""More than the 8 positions of `tin`, of every width that a scalar has."""
NUMBERS = [k + 1 for k in range(7)] + [1 << 40, -2, -3, -4, -5]


def mixed() -> Module:
    parameters = ", ".join(f"%p{k}: {t}" for k, t in enumerate(TYPES))
    return read_genasm(f"""function f({parameters}) -> d {{
entry:
    %h: d = widens d %p8
    %b: d = widens d %p10
    %w: d = widens d %p11
    %s: d = add %p7, %h
    %t: d = xor %p9, %b
    %u: d = sub %s, %t
    %v: d = add %u, %w
    return %v
}}
""")


def arrays(count: int) -> Module:
    """Sum of the n elements of the last array, which a loop adds up, and of the first element of every one."""
    names = [f"%a{k}" for k in range(count)]
    parameters = ", ".join(f"{name}: w" for name in names)
    loads = "\n".join(f"    %v{k}: w = load w {name}" for k, name in enumerate(names))
    sums = "\n".join(f"    %s{k}: w = add %{'s' if k > 1 else 'v'}{k - 1}, %v{k}" for k in range(1, count))
    return read_genasm(f"""function f(%n: w, {parameters}) -> w {{
entry:
{loads}
{sums}
    jump body(0:w, 0:w)
loop body(%i: w, %s: w):
    %q: b = geqs %i, %n
    leavetr %q, done(%s)
    %x: w = load w {names[-1]}, %i * 4
    store w {names[-2]}, %i * 4, %x
    %t: w = add %s, %x
    %j: w = add %i, 1:w
    next %j, %t
done(%r: w):
    %y: w = add %r, %s{count - 1}
    return %y
}}
""")


def compiled(module: Module, machine: str) -> tuple[Program, bytes]:
    program, _ = specialize(module, member(machine))
    return program, belt_file.write(program, NAMELESS)


def test_listing(golden: Golden) -> None:
    """The entry block loads what it needs; the listing tells the block's types and gives the same bytes."""
    program, data = compiled(mixed(), "tin")
    text = listing(program, NAMELESS)
    golden("memory_arguments", text)
    assert belt_file.write(*read(text)) == data
    assert belt_file.read(data).program == program


def test_scalars_of_every_width() -> None:
    _, data = compiled(mixed(), "tin")
    check_run(mixed(), data, NUMBERS)


@pytest.mark.parametrize(("machine", "count"), [("tin", 9), ("copper", 20), ("silver", 20), ("gold", 40)])
def test_arrays(machine: str, count: int) -> None:
    program, data = compiled(arrays(count), machine)
    assert len(program.routines[0].parameters) + len(program.memory_arguments) == count + 1
    for n in (0, 5):
        check_run(arrays(count), data, [n, *given(count)])


def given(count: int) -> list[Any]:
    return list(np.arange(8 * count, dtype=np.int32).reshape(count, 8) ** 2)


def test_a_stepper_has_the_block_filled() -> None:
    _, data = compiled(arrays(20), "silver")
    held, expected = given(20), given(20)
    interpret(arrays(20), [5, *expected])
    stepper = BeltStepper(data, {f"a{k}": a for k, a in enumerate(held)}, [5, *held])
    stepper.step()
    first = stepper.save()
    for _ in range(2):
        while not stepper.is_at_end:
            stepper.step()
        assert [a.tobytes() for a in held] == [a.tobytes() for a in expected]
        stepper.restore(first)


def test_a_block_that_is_filled_wrongly_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    _, data = compiled(arrays(20), "silver")
    place = model.place_arguments

    def exchanged(*args: Any) -> Any:
        ranges, belt = place(*args)
        block = ranges[len(args[0].data) - 1][1]
        block[:] = block.reshape(-1, 8)[::-1].reshape(-1)
        return ranges, belt

    monkeypatch.setattr(model, "place_arguments", exchanged)
    with pytest.raises(AssertionError):
        check_run(arrays(20), data, [5, *given(20)])


def test_a_load_of_another_argument_is_noticed() -> None:
    program, _ = compiled(arrays(20), "silver")
    routine = program.routines[0]
    changed = 0
    for b, bundle in enumerate(routine.bundles):
        for n, issue in enumerate(bundle.issues):
            if issue.name == "load" and issue.offset:
                issues = (*bundle.issues[:n], replace(issue, offset=issue.offset - 8), *bundle.issues[n + 1 :])
                bundles = (*routine.bundles[:b], replace(bundle, issues=issues), *routine.bundles[b + 1 :])
                wrong = replace(program, routines=(replace(routine, bundles=bundles),))
                with pytest.raises(AssertionError):
                    check_run(arrays(20), belt_file.write(wrong, NAMELESS), [5, *given(20)])
                changed += 1
    assert changed == len(program.memory_arguments) - 1


def test_as_many_arguments_as_parameters() -> None:
    _, data = compiled(arrays(20), "silver")
    with pytest.raises(PolyloomError, match="the routine takes 21 and gets 20 arguments"):
        model.run(data, copied([5, *given(20)])[:-1])


ARRAYS = ", ".join(f"const int a{k}[restrict n]" for k in range(15))
SOURCE = f"""double f(int n, {ARRAYS}, short h, double d, float x) {{
  int s = 0;
  for (int i = 0; i < n; i++) s += a14[i];
  return (s + a0[0] - a13[1] + h) * d + x;
}}
"""


def test_a_c_function(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Floats pass as their bits, and `show` tells what is passed in memory."""
    (tmp_path / "f.c").write_text(SOURCE, encoding="utf-8")
    words = ["n=4", "h=-3", "d=1.5", "x=0.25", "--fill", "random"]
    assert main(["run", str(tmp_path / "f.c"), *words, "--on", "belt:silver"]) == 0
    assert capsys.readouterr().out.startswith("f n=4 h=-3 d=1.5 x=0.25 on belt:silver: equal bits")
    assert main(["compile", str(tmp_path / "f.c"), "--on", "belt:silver", "-o", str(tmp_path / "f.belt")]) == 0
    assert main(["verify", str(tmp_path / "f.belt")]) == 0
    capsys.readouterr()
    assert main(["show", str(tmp_path / "f.belt")]) == 0
    assert "data arguments align 64 arguments (w, w, w, w, h, d, w)\n" in capsys.readouterr().out
