# SPDX-License-Identifier: Apache-2.0
"""Parser of plans as `ir.plan_text` prints them: declarations, heads of loops of steps, phases, each one a program of
the equation language further to the right.

A margin of two blanks says what a line belongs to, as in Python. A program is parsed where it stands, so that messages
have the lines of the whole text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import NoReturn

from polyloom.diagnostics import Source, Span, input_error
from polyloom.frontend.pla import parse
from polyloom.frontend.pla.affine import affine
from polyloom.frontend.pla.lower import RawProgram, lower
from polyloom.frontend.pla.syntax import parse_syntax
from polyloom.ir import plan_verify
from polyloom.ir.pla_names import unquote_name
from polyloom.ir.plan import Parametric, Phase, Plan
from polyloom.ir.plan_text import MARGIN
from polyloom.ir.steps import Steps, Tree
from polyloom.sets import Affine

_NAME = r"(`[^`]*`|[\w.]+)"
_FOR = re.compile(rf"for {_NAME} = (.+) \.\. (.+?)(?: by (\d+))?( downwards)?")
_PHASE = re.compile(r"phase \d+ where (.*?)(?: with (.*))?")
_PAIR = re.compile(rf"{_NAME} is {_NAME}(?: at \[([^\]]*)\])?(?:, )?")
_ARGUMENT = re.compile(rf"{_NAME} = (min\([^)]*\)|[^,]*)(?:, )?")
_SCALAR = re.compile(rf"scalar {_NAME}: (\w+) = (.+)")
_KINDS = ("input", "output", "between")
_DIMENSION = "`step`"
"""Of the loop that the declarations are read with; it stands in no text."""


def parse_plan(text: str, name: str = "<string>") -> Plan:
    """Parse a plan, verified; `name` is shown in messages. Errors: PL0102 for a line that is none of a plan, those of
    `parse` and of `ir.plan_verify`."""
    return _Reader(text, name).plan()


@dataclass
class _Reader:
    """Line cursor. Mutable: `at` is the number of the next line."""

    text: str
    name: str
    at: int = 0

    def __post_init__(self) -> None:
        self.lines = self.text.splitlines()
        self.phases = 0
        self.symbols: tuple[str, ...] = ()
        self.scalars: dict[str, Parametric] = {}

    def plan(self) -> Plan:
        """Plan: its head of declarations, then the tree of loops and phases."""
        first = self.take()
        if not first.startswith("plan "):
            self.fail("a plan begins with `plan NAME`")
        self.called = first.removeprefix("plan ")
        head, kinds, scalars = list[str](), dict[str, list[str]](), list[str]()
        while self.at < len(self.lines) and self.lines[self.at]:
            line = self.take()
            kind, _, rest = line.partition(" ")
            if kind in _KINDS:
                kinds.setdefault(kind, []).append(rest)
            elif kind == "scalar":
                scalars.append(line)
            else:
                head.append(line)
        declared = self.parse_declarations(head, [a for kind in _KINDS for a in kinds.get(kind, [])])
        # Read ahead of the loops: a scalar's value may depend on their counters.
        counters = [unquote_name(m[1]) for line in self.lines if (m := _FOR.fullmatch(line.strip()))]
        self.symbols = (*declared.parameters, *counters)
        self.scalars = {s.name: s for s in map(self.scalar, scalars)}
        # The spans would point into the text of the declarations, which is none of the user's.
        arrays = {a.name: replace(a, span=None) for a in declared.inputs}
        groups = [tuple(arrays[_array_name(a)] for a in kinds.get(kind, [])) for kind in _KINDS]
        plan = Plan(self.called, declared.parameters, declared.assumptions, *groups, body=self.nodes(""))
        self.skip_blank()
        if self.at < len(self.lines):
            self.fail("here belongs a phase or a loop of steps")
        plan_verify.verify(plan)
        return plan

    def nodes(self, margin: str) -> Tree[Phase]:
        """Loops and phases that stand at a margin, in their order."""
        found: list[Phase | Steps[Phase]] = []
        self.skip_blank()
        while self.at < len(self.lines) and _margin(self.lines[self.at]) == margin:
            line = self.lines[self.at].strip()
            if loop := _FOR.fullmatch(line):
                self.at += 1
                found.append(self.loop(loop, margin))
            elif phase := _PHASE.fullmatch(line):
                self.at += 1
                found.append(self.phase(phase[1], phase[2] or "", margin + MARGIN))
            else:
                self.fail("here belongs a phase or a loop of steps")
            self.skip_blank()
        return tuple(found)

    def loop(self, head: re.Match[str], margin: str) -> Steps[Phase]:
        """Loop of steps. Its text names the last value, the plan the bound behind it."""
        low, high = (head[3], head[2]) if head[5] else (head[2], head[3])
        lower, upper = self.bounds(low, "max"), tuple(bound + 1 for bound in self.bounds(high, "min"))
        body, stride = self.nodes(margin + MARGIN), int(head[4] or 1)
        return Steps(unquote_name(head[1]), lower, upper, body, -1 if head[5] else 1, stride=stride)

    def phase(self, bound: str, arguments: str, margin: str) -> Phase:
        """Phase: a program below its head, with the arrays that its names stand for."""
        found = list(_PAIR.finditer(bound))
        pairs = [(unquote_name(m[1]), unquote_name(m[2])) for m in found]
        windows = tuple((unquote_name(m[1]), self.affines(_split(m[3]))) for m in found if m[3] is not None)
        bounds = tuple(self.bounds(m[2], "min") for m in _ARGUMENT.finditer(arguments))
        begin = self.at
        while self.at < len(self.lines) and self.lines[self.at].startswith(margin):
            self.at += 1
        self.phases += 1
        # The lines around the program become empty ones: places in the text stay what they are.
        program = parse("\n" * begin + "\n".join(self.lines[begin : self.at]), self.name)
        called = f"{self.called}.{self.phases}" if self.count > 1 else self.called
        inputs = tuple(pair for pair in pairs if any(a.name == pair[0] for a in program.inputs))
        outputs = tuple(pair for pair in pairs if any(a.name == pair[0] for a in program.outputs))
        used = tuple(self.scalars[outer] for _, outer in inputs if outer in self.scalars)
        return Phase(replace(program, name=called), inputs, outputs, (), used, bounds, windows)

    @property
    def count(self) -> int:
        return sum(_PHASE.fullmatch(line.strip()) is not None for line in self.lines)

    def parse_declarations(self, head: list[str], arrays: list[str]) -> RawProgram:
        """Declarations as a program without equations: parameters, their domain and the arrays, each once."""
        inputs = [f"input {a}" for a in dict.fromkeys(arrays)]
        text = "\n".join([*head, *inputs, f"for {_DIMENSION}: 0 <= {_DIMENSION} < 1 do", ""])
        return lower(parse_syntax(Source(self.name, text)))

    def scalar(self, line: str) -> Parametric:
        """Scalar of steps, `scalar NAME: TYPE = VALUE` with an affine value; PL0102."""
        found = _SCALAR.fullmatch(line)
        if found is None:
            self.fail("a scalar is written `scalar NAME: TYPE = VALUE`")
        (value,) = self.affines([found[3]])
        like = self.parse_declarations([], [f"x: {found[2]}"])
        return Parametric(unquote_name(found[1]), value, like.inputs[0].dtype)

    def bounds(self, text: str, word: str) -> tuple[Affine, ...]:
        inside = text[len(word) + 1 : -1].split(", ") if text.startswith(f"{word}(") else [text]
        return self.affines(inside)

    def affines(self, texts: list[str]) -> tuple[Affine, ...]:
        """Affine forms of texts, read as the extents of an array: there the grammar has expressions of symbols
        alone."""
        source = f"input x[{', '.join(texts)}]: i32\nfor {_DIMENSION}: 0 <= {_DIMENSION} < 1 do\n"
        (found,) = parse_syntax(Source(self.name, source)).inputs
        return tuple(affine(expression, self.symbols) for expression in found.shape or ())

    def take(self) -> str:
        self.at += 1
        return self.lines[self.at - 1] if self.at <= len(self.lines) else ""

    def skip_blank(self) -> None:
        while self.at < len(self.lines) and not self.lines[self.at].strip():
            self.at += 1

    def fail(self, what: str) -> NoReturn:
        line = min(self.at, len(self.lines) - 1) if self.at < len(self.lines) else max(0, len(self.lines) - 1)
        start = sum(len(text) + 1 for text in self.lines[:line])
        length = len(self.lines[line]) if self.lines else 0
        span = Span(Source(self.name, self.text), start, start + length)
        raise input_error("PL0102", what, span=span, help="write a plan as `polyloom --print-after plan` prints it")


def _split(text: str) -> list[str]:
    """Texts of a list between brackets."""
    return text.split(", ") if text else []


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" "))]


def _array_name(text: str) -> str:
    """Array name of a declaration such as `A[N, M]: f32`."""
    found = re.match(_NAME, text)
    return unquote_name(found[1]) if found else text
