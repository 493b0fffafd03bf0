# SPDX-License-Identifier: Apache-2.0
"""The host's side of the mailbox: `host.py CONFIGURATION NAME=VALUE... RxC -- COMMAND...` starts the firmware, sends
one message, and compares what the array got with what Polyloom makes on this machine: the configuration of every step,
and how long the words take that banks receive before it. The exit code is 1 where the firmware refuses, or where
something differs."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import polyloom as pl
from polyloom.targets.tcpa.run.phases import step_sequence
from polyloom.targets.tcpa.words.concrete_file import strip_origin

_END, _SCALAR, _TRANSFER, _STEP = range(4)
_OUTSIDE = 4
Bank = tuple[int, ...]
"""Side, position, channel."""


@dataclass(frozen=True, slots=True)
class Step:
    """What the array gets for one step; `moved` are (sender, receiver) of words that come from other banks."""

    phase: int
    words: bytes
    moved: list[tuple[Bank, Bank]]

    @property
    def transfer_cycles(self) -> int:
        """Each bank sends one word per cycle, and receives one."""
        return max((n for pair in zip(*self.moved, strict=True) for n in Counter(pair).values()), default=0)


@dataclass(slots=True)
class Answer:
    """The records of one message; the status is None until the last one."""

    data: bytes
    at: int = 0
    status: int | None = None

    def words(self, number: int) -> tuple[int, ...]:
        self.at += 4 * number
        return struct.unpack_from(f"<{number}I", self.data, self.at - 4 * number)

    def steps(self) -> Iterator[Step]:
        moved: list[tuple[Bank, Bank]] = []
        while self.status is None:
            (kind,) = self.words(1)
            if kind == _END:
                (self.status,) = self.words(1)
            elif kind == _SCALAR:
                self.words(3)
            elif kind == _TRANSFER:
                _, _, *banks = self.words(8)
                if banks[0] != _OUTSIDE:
                    moved.append((tuple(banks[:3]), tuple(banks[3:])))
            else:
                phase, size = self.words(2)
                self.at += 4 * size
                yield Step(phase, self.data[self.at - 4 * size : self.at], moved)
                moved = []


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
    expected = step_sequence.run(compiled.instantiate(values, pes=region).data)
    # The package also says what its words were made of, for people.
    if [(step.phase, step.words) for step in steps] != [
        (step.number, strip_origin(step.data)) for step in expected.steps
    ]:
        print("the array got other configurations than Polyloom makes here", file=sys.stderr)
        return 1
    if tuple(step.transfer_cycles for step in steps) != expected.transfers:
        print("other words move between banks than Polyloom counts here", file=sys.stderr)
        return 1
    count = f"{len(steps)} configuration{'s' * (len(steps) != 1)}"
    moved, size = sum(len(step.moved) for step in steps), sum(len(step.words) for step in steps)
    print(f"{compiled.kernel}: {count} of {size} bytes, as on this machine; {moved} words move between banks")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
