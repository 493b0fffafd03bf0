# SPDX-License-Identifier: Apache-2.0
"""Recurrences through picks: the first passes keep their initial values, and no recur lengthens their circuit."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from tests.targets.belt.map.schedule.comparing import check

from polyloom import api
from polyloom.diagnostics import PolyloomError
from polyloom.targets.belt.machine import member, members
from polyloom.targets.belt.source.genasm_read import read_genasm
from polyloom.targets.belt.source.ir import Module

LOOPS = {
    "argmax": """#include <stdint.h>
int32_t argmax(int n, const int32_t x[restrict n]) {
  int32_t m = -2147483647 - 1;
  int p = -1;
  for (int i = 0; i < n; i++)
    if (x[i] > m) { m = x[i]; p = i; }
  return p;
}
""",
    "fminmax": """float fminmax(int n, const float x[restrict n]) {
  float low = 1e30f, high = -1e30f;
  for (int i = 0; i < n; i++) {
    if (x[i] < low) low = x[i];
    if (x[i] > high) high = x[i];
  }
  return high - low;
}
""",
    "brk": """#include <stdint.h>
int32_t brk(int n, int32_t k, const int32_t x[restrict n]) {
  int32_t last = -1;
  for (int i = 0; i < n; i++) {
    if (x[i] == k) break;
    if (x[i] > 0) last = i;
  }
  return last;
}
""",
    "tail": """#include <stdint.h>
int32_t tail(int n, const int32_t x[restrict n]) {
  int32_t last = -1;
  for (int i = 0; i < n; i++)
    if (x[i] > 0) last = i;
  return last;
}
""",
    "greatest": """#include <stdint.h>
int32_t greatest(int n, int32_t m, const int32_t x[restrict n]) {
  for (int i = 0; i < n; i++)
    if (x[i] >= m) m = x[i];
  return m;
}
""",
}
SCALARS = {"brk": {"k": 7}, "greatest": {"m": -3}}


# By default the widest member, on which the bound is seen, and the narrowest one.
QUICK = ("gold", "tin")


@pytest.mark.parametrize(
    "machines",
    [QUICK, pytest.param(tuple(m for m in members() if m not in QUICK), marks=pytest.mark.long)],
    ids=["quick", "others"],
)
@pytest.mark.parametrize("name", LOOPS)
def test_no_recur_bounds_the_interval(name: str, machines: tuple[str, ...], tmp_path: Any) -> None:
    pytest.importorskip("ziglang", reason="C needs the extra `c`")
    path = tmp_path / f"{name}.c"
    path.write_text(LOOPS[name], encoding="utf-8")
    for machine in machines:
        made: Any = api.compile(str(path), f"belt:{machine}", spl="always")
        if machine == "gold":
            assert made.target.made(made.data)["initiation_interval"] == 1
        for n in (1, 2, 3, 4, 5, 9, 30):
            assert made.run(n=n, fill="random", **SCALARS.get(name, {})).verified


COMPARE = ("eql", "neq", "lsss", "leqs", "gtrs", "geqs", "lssu", "gtru", "gequ", "lequ")
UPDATES = ("add", "sub", "xor", "and", "or")


def drawn(random: Random) -> Module:
    """States of which each is picked from its old value, an element, the counter, another state, or a sum of these."""
    states = [f"%s{k}" for k in range(random.randrange(1, 4))]
    begin = [random.choice(("0:w", "-1:w", "%c", "%d", "7:w", "-2147483648:w")) for _ in states]
    lines, known = ["%v: w = load w %x, %i * 4"], ["%v", "%i", "%c", *states]
    after: list[str] = []
    for k, state in enumerate(states):
        other = random.choice((state, random.choice(known), "3:w"))
        lines.append(f"%t{k}: b = {random.choice(COMPARE)} {random.choice(('%v', '%v', *known))}, {other}")
        changed = random.choice(known)
        if random.random() < 0.5:
            lines.append(f"%u{k}: w = {random.choice(UPDATES)} {state}, {random.choice((changed, '1:w'))}")
            changed = f"%u{k}"
        arms = (changed, state) if random.random() < 0.7 else (state, changed)
        lines.append(f"%n{k}: w = pick %t{k}, {arms[0]}, {arms[1]}")
        known.append(f"%n{k}")
        after.append(f"%n{k}")
    if random.random() < 0.5:
        lines.append(f"store w %y, %i * 4, {random.choice(known)}")
    body = "\n".join(f"    {line}" for line in lines)
    parameters = ", ".join(f"{s}: w" for s in states)
    results = ", ".join(f"%r{k}" for k in range(len(states)))
    return read_genasm(f"""function main(%n: w, %c: w, %d: w, %x: w, %y: w) -> {", ".join("w" for _ in states)} {{
entry:
    jump body(0:w, {", ".join(begin)})
loop body(%i: w, {parameters}):
    %q: b = geqs %i, %n
    leavetr %q, done({", ".join(states)})
    %j: w = add %i, 1:w
{body}
    next %j, {", ".join(after)}
done({", ".join(f"%r{k}: w" for k in range(len(states)))}):
    return {results}
}}
""")


def arguments(n: int, random: Random) -> list[Any]:
    arrays = [np.array([random.randrange(-9, 9) for _ in range(n + 1)], np.int32) for _ in range(2)]
    return [n, random.randrange(-9, 9), random.randrange(-(2**31), 2**31), *arrays]


def check_seed(seed: int) -> int | None:
    """Its recurs, and all trip counts right."""
    random = Random(seed)
    machine = member(members()[seed % len(members())], seed % 3 != 0)
    case = drawn(random)
    try:
        return check(case, machine, lambda n: arguments(n, random), counts=(0, 1, 2, 3, 5, 11), solver="best").recurs
    except PolyloomError as error:
        if error.code == "PL1110" and machine.scratch < 512:
            return None
        raise


@pytest.mark.parametrize("chunk", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(1, 5))])
def test_drawn_states(chunk: int) -> None:
    for seed in range(30 * chunk, 30 * chunk + 30):
        check_seed(seed)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(100))
def test_many_drawn_states(chunk: int) -> None:
    for seed in range(1000 + 50 * chunk, 1050 + 50 * chunk):
        check_seed(seed)
