# SPDX-License-Identifier: Apache-2.0
"""Assembler of *conasm*, as `conasm` prints it (docs/formats.md, Conasm). Errors are PL1007 and PL1008 at their place
in the text.

The bundle in which a result drops may be left out; where it stands, it must be the one that follows from the member.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Final, NoReturn, cast

from polyloom.diagnostics import Source, Span, input_error, nearest
from polyloom.ir.signature import Signature
from polyloom.ir.ssa import NOWHERE, Data, Place
from polyloom.numerals import parse_integer
from polyloom.targets.belt import machine
from polyloom.targets.belt.isa import OPS
from polyloom.targets.belt.machine import KINDS, Machine, Slot
from polyloom.targets.belt.value_types import BYTES, Type, Width
from polyloom.targets.belt.words import signature_line
from polyloom.targets.belt.words.conasm import drop_bundle, is_transfer
from polyloom.targets.belt.words.facts_json import canonical_json, parse_facts
from polyloom.targets.belt.words.fields import layout
from polyloom.targets.belt.words.layout import ARGUMENT_BYTES
from polyloom.targets.belt.words.program import NONE, Belt, Bundle, Immediate, Issue, Note, Operand, Program, Routine

# White space and comments match without the group `token`, and are dropped by that.
_TOKEN: Final = re.compile(r'\s+|;[^\n]*|(?P<token>"(?:[^"\\]|\\.)*"|@line\b|[\w.$]+|->|[-+]\d+|[^\w\s])')
# At most three digits of lanes: the widest vector has 128 bytes, and longer numbers only slow `int` down.
_TYPE: Final = re.compile(r"([bhwdq])(?:x([1-9][0-9]{0,2}))?")
_NAME: Final = re.compile(r"([a-z][a-z0-9]*)(?:\.([bhwdq])?(?:x([1-9][0-9]{0,2}))?)?")
_SLOT: Final = re.compile(f"([{KINDS}])([0-9]{{1,2}})")
_HEX: Final = re.compile(r"(?:[0-9a-f]{2})*")


def read(text: str, called: str = "<string>") -> tuple[Program, Signature]:
    """Assemble a text: the program, and the signature of the routine that is run."""
    # Offsets of messages count in the normalized text, which is also the one that they quote.
    reader = _Reader(Source(called, text.replace("\r\n", "\n")))
    return reader.program()


@dataclass(slots=True)
class _Line:
    """Token cursor over a line, with offsets. Mutable."""

    source: Source
    tokens: list[tuple[str, int]]
    end: int
    at: int = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.next
        self.at += 1
        return token

    @property
    def following(self) -> str:
        """Token behind the next one."""
        return self.tokens[self.at + 1][0] if self.at + 1 < len(self.tokens) else ""

    def skip(self, token: str) -> bool:
        found = self.next == token
        self.at += found
        return found

    def expect(self, token: str) -> None:
        if not self.skip(token):
            self.fail(f"expected `{token}`", f"write `{token}` here")

    def number(self, what: str) -> int:
        """Number in decimal, or with a prefix such as `0x`, with or without a sign."""
        sign = -1 if self.skip("-") else 1
        # Offsets are written `+ 8`, with the sign as a token of its own.
        self.skip("+")
        token = self.next
        try:
            value = parse_integer(token, 0)
        except ValueError:
            self.fail(f"expected {what}, a number", "write a number, such as 8 or 0x10")
        self.at += 1
        return sign * value

    def name(self, what: str) -> str:
        """Name, plain or quoted as JSON has it."""
        token = self.next
        if token.startswith('"'):
            self.at += 1
            return _unquote(token, self)
        if not re.fullmatch(r"[\w.$]+", token):
            self.fail(
                f"expected {what}", "write a name, in quotes where it has other characters than `a`, `_`, `.` and `$`"
            )
        self.at += 1
        return token

    def end_line(self) -> None:
        if self.next:
            self.fail(f"`{self.next}` does not belong here", "write one bundle, routine or datum per line")

    def fail(self, message: str, help: str, back: int = 0, code: str = "PL1007") -> NoReturn:
        """Raise the error at a token, `back` tokens before the next one."""
        place = self.at - back
        token, start = self.tokens[place] if place < len(self.tokens) else ("", self.end)
        raise input_error(code, message, span=Span(self.source, start, start + max(len(token), 1)), help=help)


def _unquote(token: str, line: _Line) -> str:
    try:
        return str(json.loads(token))
    except ValueError:
        line.fail("a text in quotes is not written as JSON has it", 'write for instance "a b"', 1)


@dataclass(slots=True)
class _Reader:
    """One pass over the lines; calls are resolved at the end, because a routine may stand behind its callers."""

    source: Source
    member: Machine | None = None
    signature: Signature | None = None
    told: str = "{}"
    data: list[Data] = field(default_factory=list[Data])
    memory_arguments: tuple[Width, ...] = ()
    routines: list[Routine] = field(default_factory=list[Routine])
    calls: list[tuple[str, _Line, int]] = field(default_factory=list[tuple[str, "_Line", int]])
    described: list[str] = field(default_factory=list[str])
    header: _Line | None = None

    def program(self) -> tuple[Program, Signature]:
        """Program and signature of all lines; PL1008 for a call of no routine."""
        offset = 0
        for text in self.source.text.split("\n"):
            self.line(text, offset)
            offset += len(text) + 1
        end = _Line(self.source, [], len(self.source.text))
        member = self.require_member(end)
        if not self.routines:
            end.fail("there is no routine", "write `routine f () -> ()` and its bundles")
        names = [routine.name for routine in self.routines]
        for callee, line, at in self.calls:
            if callee not in names:
                line.at = at
                line.fail(f"there is no routine '{callee}'", nearest(callee, names, "routine"), code="PL1008")
        program = Program(
            *(member.name, member.phasing, member.description, tuple(self.routines)),
            *(tuple(self.data), self.memory_arguments, self.told),
        )
        try:
            parse_facts(program)
        # What is told refers to bundles by number, and bundles can have been edited by hand.
        except (ValueError, KeyError, TypeError, RecursionError):
            end.fail("what is told of the loops does not fit the bundles", "leave the line `told` out")
        return program, self.signature or Signature(names[0], (), (), ())

    def require_member(self, line: _Line) -> Machine:
        """Member of the program, once its lines have been read; PL1007 where none has been named."""
        if self.member is None and self.described:
            self.member = machine.read("\n".join(self.described) + "\n", self.source.name)
        if self.member is None:
            line.at = 0
            line.fail("the member is not known here", "begin with a line such as `member silver`")
        return self.member

    def line(self, text: str, offset: int) -> None:
        """Read one line, by the word that it begins with."""
        # Raw lines first: TOML and JSON have tokens of their own.
        if text.startswith("|"):
            self.described.append(text[2:])
            return
        if text.startswith("signature "):
            self.signature = self.read_signature(text, offset)
            return
        if text.startswith("told "):
            self.told = self.read_facts(text, offset)
            return
        tokens = [(m["token"], offset + m.start("token")) for m in _TOKEN.finditer(text) if m["token"]]
        line = _Line(self.source, tokens, offset + len(text))
        if not tokens:
            return
        match line.take():
            case "member":
                self.read_member(line)
            case "data":
                self.data.append(self.datum(line))
            case "routine":
                self.routine(line)
            case number if number.isdecimal() and self.routines:
                self.bundle(line, parse_integer(number))
            case other:
                line.fail(
                    f"`{other}` begins no line", "begin with member, signature, data, routine or a bundle's number", 1
                )
        line.end_line()

    def read_member(self, line: _Line) -> None:
        """Read the name of a shipped member, and `unphased`; an empty line announces a description."""
        if not line.next:
            return
        called = line.take()
        # A member's name may have characters that are tokens by themselves: `my-belt` is three.
        while line.next in (".", "/", "-") or (line.next and line.next != "unphased"):
            called += line.take()
        if called not in machine.members():
            line.fail(f"there is no belt machine '{called}'", nearest(called, machine.members(), "member"), 1, "PL1008")
        self.member = machine.member(called, False if line.skip("unphased") else None)

    def read_signature(self, text: str, offset: int) -> Signature:
        return signature_line.read(text, self.source, offset)

    def read_facts(self, text: str, offset: int) -> str:
        try:
            return canonical_json(json.loads(text.removeprefix("told ")))
        except (ValueError, RecursionError):
            span = Span(self.source, offset, offset + len(text))
            help = "write it as `polyloom show` does, or leave the line out"
            raise input_error("PL1007", "what is told of the loops is no JSON", span=span, help=help) from None

    def datum(self, line: _Line) -> Data:
        """Read a datum: name, alignment, bytes in hexadecimal; or types, of the argument block."""
        if self.memory_arguments:
            line.fail("a datum follows the argument block", "write the block as the last datum", 1)
        name = line.name("the name of a datum")
        if name in [datum.name for datum in self.data]:
            line.fail(f"there is already a datum '{name}'", "give it another name", 1)
        line.expect("align")
        align = line.number("an alignment")
        if line.skip("arguments"):
            self.memory_arguments = self.argument_widths(line)
            return Data(name, bytes(ARGUMENT_BYTES * len(self.memory_arguments)), align, False)
        constant = line.skip("constant")
        digits = "" if line.skip("-") else line.take()
        if not _HEX.fullmatch(digits):
            line.fail("expected bytes", "write two hexadecimal digits for each byte, or `-` for none", 1)
        return Data(name, bytes.fromhex(digits), align, constant)

    def argument_widths(self, line: _Line) -> tuple[Width, ...]:
        """Read the types of the arguments in memory, scalars of at most 8 bytes."""
        types = self.types(line)
        if not types or any(t.lanes > 1 or BYTES[t.width] > ARGUMENT_BYTES for t in types):
            line.fail("an argument in memory is a scalar of at most 8 bytes", "write for instance (w, d)", 1)
        return tuple(t.width for t in types)

    def routine(self, line: _Line) -> None:
        """Read the head of a routine."""
        name = line.name("the name of a routine")
        if name in [routine.name for routine in self.routines]:
            line.fail(f"there is already a routine '{name}'", "give it another name", 1)
        parameters = self.types(line)
        line.expect("->")
        self.routines.append(Routine(name, (), (), parameters, self.types(line)))

    def types(self, line: _Line) -> tuple[Type, ...]:
        """Read a list of types in parentheses."""
        line.expect("(")
        found: list[Type] = []
        while not line.skip(")"):
            if found:
                line.expect(",")
            match = _TYPE.fullmatch(line.take())
            if match is None:
                line.fail("expected a type", "write a width and lanes, such as w or bx8", 1)
            found.append(Type(cast("Width", match[1]), int(match[2] or 1)))
        return tuple(found)

    def bundle(self, line: _Line, number: int) -> None:
        """Read a bundle: operations, drops, `rotate`, and the way back of a loop's pass."""
        routine, member = self.routines[-1], self.require_member(line)
        # Numbers are redundant and checked, because targets of transfers are such numbers.
        if number != len(routine.bundles):
            line.fail(f"bundle {number} follows {len(routine.bundles) - 1}", f"write {len(routine.bundles)}", 1)
        line.expect(":")
        issues: list[tuple[Issue, Note]] = []
        while not line.skip(":"):
            if issues and not line.skip("|"):
                line.fail("expected `|` and an operation, or `:` and the drops", "end the bundle with `: drops 2`")
            issues.append(self.issue(line, number, member))
        line.expect("drops")
        drops = line.number("the number of drops")
        rotate = line.skip("rotate")
        loops = routine.loops
        if line.skip("back"):
            size = line.number("the bundles of a pass")
            if not 0 < size <= number + 1:
                line.fail("the pass begins before the routine", f"write 1 to {number + 1}", 1)
            loops = (*loops, (number + 1 - size, size))
        notes = tuple(note for _, note in issues)
        # Code without any names or places carries no notes at all, as the encoder writes it.
        kept = notes if any(note != Note() for note in notes) else ()
        made = Bundle(tuple(issue for issue, _ in issues), drops, rotate, kept)
        self.routines[-1] = replace(routine, bundles=(*routine.bundles, made), loops=loops)

    def issue(self, line: _Line, at: int, member: Machine) -> tuple[Issue, Note]:
        """Operation with its slot and note; PL1007, PL1008."""
        slot = _SLOT.fullmatch(line.take())
        if slot is None:
            line.fail("expected a slot", "write the slot before the operation: `F0 load.w(b0) delay 3`", 1)
        named = _NAME.fullmatch(line.take())
        if named is None or named[1] not in OPS:
            written = named[1] if named else line.tokens[min(line.at, len(line.tokens)) - 1][0]
            line.fail(f"there is no operation '{written}'", nearest(written, OPS, "operation"), 1, "PL1008")
        issue = Issue(
            named[1],
            Slot(slot[1], int(slot[2])),
            width=cast("Width | None", named[2]),
            lanes=int(named[3] or 1),
        )
        issue, names = self.operands(line, issue)
        issue = self.trailing_fields(line, issue)
        return issue, self.note(line, issue, names, at, member)

    def operands(self, line: _Line, issue: Issue) -> tuple[Issue, tuple[str, ...]]:
        """Read operands in parentheses, with the names of their values."""
        kind = layout(OPS[issue.name])
        if issue.name in ("call", "calltr"):
            at = line.at
            issue = replace(issue, callee=line.name("the routine that is called"))
            self.calls.append((issue.callee, line, at))
        line.expect("(")
        if kind in ("con", "frames"):
            value = line.number("a literal" if kind == "con" else "the bytes of scratch")
            line.expect(")")
            return (replace(issue, literal=value) if kind == "con" else replace(issue, offset=value)), ()
        found: list[Operand] = []
        names: list[str] = []
        while not line.skip(")"):
            if found:
                line.expect(",")
            found.append(_operand(line))
            names.append(line.name("a name") if line.skip("%") else "")
            if kind == "memory":
                issue = _address(line, issue)
        # Names at the end are left out in files, too: one text, one file.
        while names and not names[-1]:
            names.pop()
        return replace(issue, operands=tuple(found)), tuple(names)

    def trailing_fields(self, line: _Line, issue: Issue) -> Issue:
        """Fields that follow the operands: a delay, a byte of scratch, frames, a target."""
        kind = layout(OPS[issue.name])
        if kind == "memory" and line.skip("delay"):
            return replace(issue, delay=line.number("a delay"))
        if kind == "scratch":
            line.expect("at")
            return replace(issue, offset=line.number("a byte of scratch"))
        if kind == "frames":
            line.expect("frames")
            frames = line.number("the number of frames")
            line.expect("of")
            return replace(issue, frames=frames, frame=line.number("the bytes of a frame"))
        if kind == "control" and is_transfer(issue.name):
            line.expect("to")
            return replace(issue, target=line.number("a bundle"))
        return issue

    def note(self, line: _Line, issue: Issue, names: tuple[str, ...], at: int, member: Machine) -> Note:
        """Read results, stage and source place, which make the note of an operation."""
        results: list[str] = []
        if line.skip("->"):
            while line.skip("%"):
                results.append(line.name("a name"))
                line.skip(",")
            if line.skip("@"):
                self.drop(line, issue, at, member)
        stage = int(line.take()[1:]) if re.fullmatch(r"s[0-9]{1,9}", line.next) else None
        return Note(names, tuple(results), stage, _place(line))

    def drop(self, line: _Line, issue: Issue, at: int, member: Machine) -> None:
        """Check the bundle of a drop against the member's latency; PL1007."""
        written, due = line.number("the bundle of the drop"), drop_bundle(issue, at, member)
        if written != due:
            help = "leave `@` and the number out" if due is None else f"write @{due}, or leave it out"
            line.fail(f"{issue.name} does not drop in bundle {written} on {member.name}", help, 1)


def _operand(line: _Line) -> Operand:
    """Read a position, a None or an immediate."""
    token = line.next
    if re.fullmatch(r"b[0-9]{1,2}", token):
        line.at += 1
        return Belt(int(token[1:]))
    none = re.fullmatch(r"none(?:\.([bhwdq]))?", token)
    if none:
        line.at += 1
        return Belt(NONE, cast("Width | None", none[1]))
    if not re.fullmatch(r"[-+]?[0-9]*", token) or not token:
        line.fail("expected an operand", f"write a position such as b0, a number, or none.{next(iter(BYTES))}")
    return Immediate(line.number("an immediate"))


def _address(line: _Line, issue: Issue) -> Issue:
    """Scale and offset of a memory operand. Both stand behind the operand that they belong to."""
    if line.skip("*"):
        issue = replace(issue, scale=line.number("a scale"))
    if line.next[:1] in ("+", "-") and line.next:
        issue = replace(issue, offset=line.number("an offset"))
    return issue


def _place(line: _Line) -> Place:
    """Read a source place, NOWHERE without one."""
    if not line.skip("@line"):
        return NOWHERE
    row = line.number("a line")
    # Behind a line without a column the colon is that before the bundle's drops.
    column = line.number("a column") if line.following.isdecimal() and line.skip(":") else 0
    file = line.name("a file") if line.next.startswith('"') else ""
    return Place(file, row, column, line.name("a reason") if line.skip("for") else "")
