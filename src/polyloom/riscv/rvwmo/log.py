# SPDX-License-Identifier: Apache-2.0
"""Logs of herd, of hardware and their kin: what they say of each test, and whether a verdict agrees with it.

Test NAME ...
States N            then N lines like `0:x5=1; [x]=2;`: all final states that a model allows
Histogram (N states)  in its place, with lines like `17 :>0:x5=1; x=2;`: those that a machine has shown, and how often
Ok | No ...
Hash=...
Observation NAME Sometimes POSITIVE NEGATIVE

A machine need not show what it may do, so its states are compared as a subset. It is one where states have a histogram,
or where no `Observation` is given. Format: the tools litmus7 and herd7 of the diy tool suite, which distinguish logs by
the same word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from polyloom.numerals import parse_integer
from polyloom.riscv.isa import X_NAMES, register_number
from polyloom.riscv.rvwmo.check import Verdict
from polyloom.twos_complement import sign_extend

_TEST: Final = re.compile(r"Test (\S+)")
_TABLE: Final = re.compile(r"(States|Histogram)\b")
_END: Final = re.compile(r"(?:Loop )?(?:Ok|No|Undef|Succeeded|Failed|\?\?)")
_HASH: Final = re.compile(r"hash[ \t]*=[ \t]*(\S+)", re.IGNORECASE)
_OBSERVATION: Final = re.compile(r"Observation \S+ \w+ (\d+) (\d+)")
_TIMES: Final = re.compile(r"\d+[ \t]*[:*]>")
_PAIR: Final = re.compile(r"\[?([^\s;=\[\]]+)\]?=([^;]+);")
_HART_REGISTER: Final = re.compile(r"(\d+):(\w+)")
_NUMBER: Final = re.compile(r"-?(?:0x[0-9a-fA-F]{1,16}|[0-9]{1,20})")

State = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Entry:
    """Result of one test in a log. `counts` are the executions inside and outside of the proposition; None where a
    machine showed the states.
    """

    name: str
    hash: str | None
    states: frozenset[State]
    counts: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Log:
    """Log: entries by their hash; those without one by their name; and the names of all."""

    by_hash: Mapping[str, Sequence[Entry]]
    by_name: Mapping[str, Sequence[Entry]]
    names: frozenset[str]

    def about(self, name: str, hash: str) -> tuple[tuple[Entry, ...], ...]:
        """Groups of entries on a test. One entry of each group has to agree: entries of one hash are of one test; of
        those that have but their name, models' and machines' are a group each, because different tests can share a
        name.
        """
        named = self.by_name.get(name, ())
        # A hash names a test for certain: each entry that has it must agree by itself.
        groups = [(entry,) for entry in self.by_hash.get(hash.lower(), ())]
        groups += [tuple(e for e in named if e.counts is not None), tuple(e for e in named if e.counts is None)]
        return tuple(group for group in groups if group)


def merge_entries(entries: Iterable[Entry]) -> Log:
    """The log of all the entries."""
    by_hash, by_name, names = defaultdict[str, list[Entry]](list), defaultdict[str, list[Entry]](list), set[str]()
    for entry in entries:
        names.add(entry.name)
        (by_name[entry.name] if entry.hash is None else by_hash[entry.hash]).append(entry)
    return Log(by_hash, by_name, frozenset(names))


def parse_log(text: str) -> Iterator[Entry]:
    """Entries of a log; what is not whole is left out."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if _TEST.match(line)]
    for start, end in pairwise([*starts, len(lines)]):
        if (found := _parse_entry(lines[start:end])) is not None:
            yield found


def _parse_entry(lines: Sequence[str]) -> Entry | None:
    """Entry from the lines from one `Test` to the next; None where it is not whole."""
    name = _TEST.match(lines[0])
    table = next((n for n, line in enumerate(lines) if _TABLE.match(line)), None)
    if name is None or table is None:
        return None
    end = next((n for n, line in enumerate(lines) if n > table and _END.match(line)), None)
    if end is None:
        return None
    shown, rest = lines[table + 1 : end], lines[end:]
    if lines[table].startswith("Histogram"):
        shown = [line for line in shown if _TIMES.match(line)]
    hash = next((m[1].lower() for m in map(_HASH.match, rest) if m), None)
    observed = next((m for m in map(_OBSERVATION.match, rest) if m), None)
    counts = (
        None
        if observed is None or lines[table].startswith("Histogram")
        else (parse_integer(observed[1]), parse_integer(observed[2]))
    )
    return Entry(name[1], hash, frozenset(map(_parse_state, shown)), counts)


def agrees(verdict: Verdict, entry: Entry) -> bool:
    """Whether a log's states and counts are the verdict's; of a machine, whether its states are allowed: a machine need
    not show all that it may do.
    """
    states = frozenset(map(_parse_state, verdict.states))
    if entry.counts is None:
        return entry.states <= states
    return (entry.states, entry.counts) == (states, (verdict.positive, verdict.negative))


def forbidden_states(verdict: Verdict, groups: Iterable[Iterable[Entry]]) -> tuple[str, ...]:
    """Forbidden states: those that a machine showed, and the verdict does not allow."""
    shown = frozenset[State]().union(*(entry.states for group in groups for entry in group if entry.counts is None))
    return tuple(sorted(map(_state_text, shown - frozenset(map(_parse_state, verdict.states)))))


def _parse_state(line: str) -> State:
    line = _TIMES.sub("", line.partition("#")[0], count=1)
    return frozenset((_canonical_place(place), _canonical_value(value.strip())) for place, value in _PAIR.findall(line))


def _state_text(state: State) -> str:
    """As a verdict prints it."""
    return " ".join(f"{place}={value};" if ":" in place else f"[{place}]={value};" for place, value in sorted(state))


def _canonical_place(text: str) -> str:
    """Registers have several names."""
    found = _HART_REGISTER.fullmatch(text)
    number = register_number(found[2], X_NAMES) if found else None
    return text if found is None or number is None else f"{found[1]}:x{number}"


def _canonical_value(text: str) -> str:
    """Value as a signed number: logs write hexadecimal on request, and 64 bits without a sign where the type has
    none."""
    if not _NUMBER.fullmatch(text):
        return text
    value = parse_integer(text, 16 if "x" in text else 10)
    # Verdicts have signed values throughout.
    return str(sign_extend(value, 64))
