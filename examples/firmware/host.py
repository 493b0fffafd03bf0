# SPDX-License-Identifier: Apache-2.0
"""The host's side of the mailbox: `host.py CONFIGURATION NAME=VALUE... RxC -- COMMAND...` starts the firmware, sends one
message, and compares what the array got with what Polyloom makes on this machine: the configuration of every step, and
the words that banks receive before it. The exit code is 1 where the firmware refuses, or where something differs."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import polyloom as pl
from polyloom.targets.tcpa.phases import running

_END, _SCALAR, _TRANSFER, _STEP = range(4)
_OUTSIDE = 4


@dataclass(frozen=True, slots=True)
class Step:
    """What the array gets for one step; `moved` words come from other banks, `loaded` ones from outside."""

    phase: int
    words: bytes
    moved: int
    loaded: int


@dataclass(slots=True)
class Answer:
    """The records of one message; the status is None until the last one."""

    data: bytes
    at: int = 0
    status: int | None = None
    counts: dict[bool, int] = field(default_factory=lambda: {False: 0, True: 0})

    def words(self, number: int) -> tuple[int, ...]:
        self.at += 4 * number
        return struct.unpack_from(f"<{number}I", self.data, self.at - 4 * number)

    def steps(self) -> Iterator[Step]:
        while self.status is None:
            (kind,) = self.words(1)
            if kind == _END:
                (self.status,) = self.words(1)
            elif kind == _SCALAR:
                self.words(3)
            elif kind == _TRANSFER:
                self.counts[self.words(8)[2] == _OUTSIDE] += 1
            else:
                yield self._step()

    def _step(self) -> Step:
        phase, size = self.words(2)
        self.at += 4 * size
        made = Step(phase, self.data[self.at - 4 * size : self.at], self.counts[False], self.counts[True])
        self.counts = {False: 0, True: 0}
        return made


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    path, *pairs, size = arguments[:split]
    values = {name: int(value) for name, value in (pair.split("=") for pair in pairs)}
    region = tuple(map(int, size.split("x")))
    compiled = pl.load(path)
    assert isinstance(compiled, pl.Compiled)
    given = [values[name] for name in compiled.parameters]
    message = struct.pack(f"<I{len(given)}i2I", len(given), *given, *region)
    answer = Answer(subprocess.run(arguments[split + 1 :], input=message, stdout=subprocess.PIPE, check=True).stdout)
    steps = list(answer.steps())
    if answer.status:
        print(f"refused: polyloom explain PL{answer.status:04}", file=sys.stderr)
        return 1
    expected = running.run(compiled.instantiate(values, pes=region).data).steps
    if [(step.phase, step.words) for step in steps] != [(step.number, step.data) for step in expected]:
        print("the array got other configurations than Polyloom makes here", file=sys.stderr)
        return 1
    moved, size = sum(step.moved for step in steps), sum(len(step.words) for step in steps)
    count = f"{len(steps)} configuration{'s' * (len(steps) != 1)}"
    print(f"{compiled.kernel}: {count} of {size} bytes, as on this machine; {moved} words move between banks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
