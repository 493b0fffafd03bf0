# SPDX-License-Identifier: Apache-2.0
"""Verdicts in the log format of herd and its kin: for each test its states and how many executions are in and out.

Test NAME ...
States N            then N lines like `0:x5=1; [x]=2;`
Observation NAME Sometimes POSITIVE NEGATIVE
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from polyloom.targets.riscv.rvwmo.check import Verdict

_ENTRY: Final = re.compile(r"^Test (\S+).*\nStates (\d+)\n((?:.*\n)*?)(?=(?:Loop )?(?:Ok|No)\b)(?:.*\n)*?Observation \S+ \w+ (\d+) (\d+)", re.MULTILINE)
_PAIR: Final = re.compile(r"\[?([^\s;=\[\]]+)\]?=([^;]+);")

State = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a log says of one test."""

    states: frozenset[State]
    positive: int
    negative: int


def entries(text: str) -> dict[str, list[Entry]]:
    """By name; several where a log has several tests of one name."""
    found: dict[str, list[Entry]] = {}
    for match in _ENTRY.finditer(text):
        states = frozenset(_state(line) for line in match[3].splitlines())
        found.setdefault(match[1], []).append(Entry(states, int(match[4]), int(match[5])))
    return found


def entry(verdict: Verdict) -> Entry:
    """A verdict as a log would have it."""
    return Entry(frozenset(map(_state, verdict.states)), verdict.positive, verdict.negative)


def _state(line: str) -> State:
    return frozenset((place, _value(value)) for place, value in _PAIR.findall(line))


def _value(text: str) -> str:
    """Logs write 64-bit values without a sign where the type has none."""
    return str(int(text) - (1 << 64)) if text.isdecimal() and int(text) >= 1 << 63 else text
