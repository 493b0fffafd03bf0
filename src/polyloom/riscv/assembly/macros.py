# SPDX-License-Identifier: Apache-2.0
"""Macro expansion of assembly: `.macro`, `.rept`, `.irp`, `.if`, `.include` (GNU as manual, the directives' sections).

What an expansion makes is a source of its own, named after its place, so that errors show the expanded text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.riscv.assembly.lines import Line, ParsedStatement, parse_line, split_lines
from polyloom.riscv.assembly.text import Text, split_operands

_DEEPEST: Final = 100
"""Expansions within each other; a recursive macro ends by a condition before."""
_LARGEST: Final = 1_000
"""Characters of a macro's operand."""
_LONGEST: Final = 1_000_000
"""Statements that one text may become."""
_ENDS: Final = {".macro": ".endm", ".rept": ".endr", ".irp": ".endr", ".irpc": ".endr"}
_RELATIONS: Final[Mapping[str, Callable[[int], bool]]] = {
    ".if": lambda n: n != 0,
    ".ifne": lambda n: n != 0,
    ".ifeq": lambda n: n == 0,
    ".iflt": lambda n: n < 0,
    ".ifle": lambda n: n <= 0,
    ".ifgt": lambda n: n > 0,
    ".ifge": lambda n: n >= 0,
}
_CONDITIONS: Final = (*_RELATIONS, ".ifdef", ".ifndef", ".ifb", ".ifnb")
_PARAMETER: Final = re.compile(r"([A-Za-z_$][\w$]*)\s*(?::\s*(req|vararg))?\s*(?:=\s*(.*))?")
_USE: Final = re.compile(r"\\(?:([A-Za-z_$][\w$]*)|(@)|\(\))")
_WORD: Final = re.compile(r'(?:"(?:[^"\\]|\\.)*"|\([^()]*\)|[^\s"(])+')
DIRECTIVES: Final = (
    *_ENDS,
    ".endm",
    ".endr",
    *_CONDITIONS,
    ".elseif",
    ".else",
    ".endif",
    ".include",
    ".exitm",
    ".purgem",
)
"""Directives that are gone behind the expansion."""


class Symbols(Protocol):
    """What an expansion asks of the assembler: values that are known at its place."""

    def constant(self, text: Text) -> int: ...

    def is_defined(self, name: str) -> bool: ...


Opener = Callable[[Text], Source]
"""The file of a name; raises PL0906 for one that may not be opened, or is not there."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """Parameter of a macro: `kind` is `req` for one that must be given, `vararg` for one that takes all the rest."""

    name: str
    kind: str | None
    default: str


@dataclass(frozen=True, slots=True)
class Macro:
    """Macro: its parameters, and the text of its body."""

    parameters: tuple[Parameter, ...]
    body: str


@dataclass(slots=True)
class Expander:
    """Macro expander of one text, which asks for values when it comes to them."""

    symbols: Symbols
    open_file: Opener
    macros: dict[str, Macro] = field(default_factory=dict[str, Macro])
    calls: int = 0
    statements: int = 0
    places: dict[str, str] = field(default_factory=dict[str, str])
    """Of sources that are expansions, by name, where in a file they come from."""

    def expand(self, lines: Iterator[Line], depth: int = 0) -> Iterator[tuple[int, ParsedStatement]]:
        """Statements without macros and conditions, each with its line of the main text. Errors: PL0903 to PL0906."""
        conditions = list[Span]()
        for line in lines:
            self.statements += 1
            if depth > _DEEPEST or self.statements > _LONGEST:
                what = f"{_DEEPEST} expansions within each other" if depth > _DEEPEST else f"{_LONGEST:,} statements"
                raise _error(
                    line.text, f"this makes more than {what}", "end the recursion by a condition, or repeat less"
                )
            parsed = parse_line(line.text)
            name = "" if parsed.mnemonic is None else parsed.mnemonic.text
            if name not in DIRECTIVES and name not in self.macros:
                yield line.number, parsed
                continue
            # A label before a call is defined at the first statement that the call makes.
            if parsed.label is not None:
                yield line.number, ParsedStatement(parsed.label, None, Text("", parsed.label.span))
            if name == ".exitm":
                return
            if name in _CONDITIONS or name in (".elseif", ".else", ".endif"):
                self._enter_branch(name, parsed, lines, conditions)
            else:
                for text in self._expansions(name, parsed, lines):
                    yield from self.expand(split_lines(text, line.number), depth + 1)
        if conditions:
            raise input_error(
                "PL0905", "this condition does not end", span=conditions[-1], help="write .endif behind it"
            )

    def _enter_branch(self, name: str, parsed: ParsedStatement, lines: Iterator[Line], conditions: list[Span]) -> None:
        """Skips what a condition leaves out; `conditions` are the places of those that are open."""
        word = parsed.mnemonic
        assert word is not None
        if name in _CONDITIONS:
            conditions.append(word.span)
            if self._holds(name, parsed.operands):
                return
            found, operands = self._skip(lines, word.span, (".elseif", ".else", ".endif"))
            while found == ".elseif" and not self._holds(".if", operands):
                found, operands = self._skip(lines, word.span, (".elseif", ".else", ".endif"))
            if found != ".endif":
                return
        elif not conditions:
            raise _error(word, f"'{name}' stands behind no .if", "write .if before it")
        elif name != ".endif":
            # The branch before this one was taken.
            self._skip(lines, conditions[-1], (".endif",))
        conditions.pop()

    def _skip(self, lines: Iterator[Line], begin: Span, ends: tuple[str, ...]) -> tuple[str, Text]:
        """The next of `ends` that belongs to an open condition, and its operands."""
        depth = 0
        for line in lines:
            parsed = parse_line(line.text)
            name = "" if parsed.mnemonic is None else parsed.mnemonic.text
            if depth == 0 and name in ends:
                return name, parsed.operands
            depth += (name in _CONDITIONS) - (name == ".endif")
        raise input_error("PL0905", "this condition does not end", span=begin, help="write .endif behind it")

    def _holds(self, name: str, operands: Text) -> bool:
        if name in (".ifdef", ".ifndef"):
            return self.symbols.is_defined(operands.text) == (name == ".ifdef")
        if name in (".ifb", ".ifnb"):
            return (not operands.text) == (name == ".ifb")
        return _RELATIONS[name](self.symbols.constant(operands))

    def _expansions(self, name: str, parsed: ParsedStatement, lines: Iterator[Line]) -> Iterator[Source]:
        """The texts that stand in the place of a statement."""
        word, operands = parsed.mnemonic, parsed.operands
        assert word is not None
        if name in self.macros:
            self.calls += 1
            # The number of the call makes labels of bodies unique (`\@`), also of calls within calls.
            values = _arguments(self.macros[name], word, operands)
            # Operands that grow from call to call would fill any memory within few calls.
            if any(len(value) > _LARGEST for value in values.values()):
                raise _error(word, f"an operand has more than {_LARGEST:,} characters", "pass shorter operands")
            yield self._source(word, f"macro {name}", _substitute(self.macros[name].body, values, self.calls))
        elif name == ".include":
            yield self.open_file(operands)
        elif name == ".purgem":
            self.macros.pop(operands.text, None)
        elif name in _ENDS:
            body = _block(lines, word)
            if name == ".macro":
                self._define(operands, body)
            elif name == ".rept":
                count = self.symbols.constant(operands)
                if count * (body.count("\n") + 1) > _LONGEST:
                    raise _error(operands, f"this makes more than {_LONGEST:,} statements", "repeat less")
                yield from (self._source(word, f"{name} {n + 1} of {count}", body) for n in range(count))
            else:
                symbol, *given = split_operands(operands) or [operands]
                items = [g.text for g in given] if name == ".irp" else list("".join(g.text for g in given))
                for item in items:
                    yield self._source(
                        word, f"{name} {symbol.text}={item}", _substitute(body, {symbol.text: item}, self.calls)
                    )
        elif name == ".incbin":
            raise _error(word, "bytes of other files are not assembled", "write them as .word, .byte or .ascii")
        else:
            raise _error(word, f"'{name}' ends nothing", "write .macro, .rept or .irp before it")

    def _source(self, word: Text, what: str, text: str) -> Source:
        """Source of an expansion, named after where in a file it comes from."""
        place = self.places.get(word.span.source.name, f"{word.span.source.name}:{word.span.line}")
        source = Source(f"{place}: {what}", text)
        self.places[source.name] = place
        return source

    def _define(self, operands: Text, body: str) -> None:
        found = re.fullmatch(r"([A-Za-z_.$][\w.$]*)\s*,?\s*(.*)", operands.text, re.DOTALL)
        if found is None:
            raise _error(operands, "this macro has no name", "write .macro name parameter, ...")
        given = split_operands(Text(found[2], operands.span))
        if len(given) == 1 and "=" not in found[2] and ":" not in found[2]:
            given = [Text(each, operands.span) for each in found[2].split()]
        parameters = list[Parameter]()
        for each in given:
            parameter = _PARAMETER.fullmatch(each.text)
            if parameter is None:
                raise _error(
                    each, f"'{each.text}' is no parameter", "write name, name=default, name:req or name:vararg"
                )
            parameters.append(Parameter(parameter[1], parameter[2], parameter[3] or ""))
        self.macros[found[1]] = Macro(tuple(parameters), body)


def _block(lines: Iterator[Line], begin: Text) -> str:
    """The body of a block that is repeated or kept: its statements, up to the end that belongs to it."""
    end, depth, body = _ENDS[begin.text], 0, list[str]()
    for line in lines:
        mnemonic = parse_line(line.text).mnemonic
        name = "" if mnemonic is None else mnemonic.text
        if name == end and depth == 0:
            return "\n".join(body)
        # Blocks of other kinds may stand inside; only those with the same end are counted.
        depth += (_ENDS.get(name) == end) - (name == end)
        body.append(line.text.text)
    raise _error(begin, f"'{begin.text}' does not end", f"write {end} behind it")


def _arguments(macro: Macro, word: Text, operands: Text) -> dict[str, str]:
    """Values of a macro's parameters, by position or as `name=value`. Errors: PL0905."""
    names = [p.name for p in macro.parameters]
    given = [each.text for each in split_operands(operands)]
    # GNU as also takes operands that blanks part.
    if len(given) == 1 < len(names):
        given = _WORD.findall(operands.text)
    values = {p.name: p.default for p in macro.parameters}
    for n, text in enumerate(given):
        name, _, value = text.partition("=")
        if name.strip() in names:
            values[name.strip()] = _unquote(value.strip())
        elif n >= len(names):
            raise _error(
                word, f"'{word.text}' takes {len(names)} operands, and {len(given)} are given", "leave out the others"
            )
        elif macro.parameters[n].kind == "vararg":
            values[names[n]] = ", ".join(given[n:])
            break
        elif text:
            values[names[n]] = _unquote(text)
    lacking = next((p.name for p in macro.parameters if p.kind == "req" and not values[p.name]), None)
    if lacking is not None:
        raise _error(word, f"'{word.text}' needs the operand '{lacking}'", "give it, or give it a default value")
    return values


def _unquote(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text


def _substitute(body: str, values: Mapping[str, str], call: int) -> str:
    r"""Body with its parameters (`\name`), the number of the call (`\@`) and nothing (`\()`) in their places."""

    def replacement(found: re.Match[str]) -> str:
        return str(call) if found[2] else "" if found[1] is None else values.get(found[1], found[0])

    return _USE.sub(replacement, body)


def _error(text: Text, message: str, help: str) -> PolyloomError:
    return input_error("PL0905", message, span=text.span, help=help)
