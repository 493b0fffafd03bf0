# SPDX-License-Identifier: Apache-2.0
"""`printf` in C functions: statements that are taken out of the text before clang reads it (`frontend.prints`).

Lines and columns stay. A `printf` whose value is used is no statement, and stays; so does one that the file defines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.files import read_source
from polyloom.frontend.c.calls.tokens import COMMENTS, TOKEN
from polyloom.frontend.prints import CONVERSION, Print, local_name
from polyloom.frontend.source import Options

_BEFORE: Final = (";", "{", "}", ")", "else", ":")
"""What stands before a statement (C17, section 6.8)."""
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_KINDS: Final = "diuxXoceEfFgG"
"""Conversions that show a number; `%s` and `%p` show memory."""


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Statement:
    """Statement in the text, its semicolon included, with the tokens of its arguments."""

    start: int
    end: int
    arguments: tuple[tuple[_Token, ...], ...]


def remove_prints(path: str, options: Options) -> Options:
    """Options that read the file without its prints."""
    text = _text(path, options)
    found = _statements(text)
    if not found:
        return options
    return _reading(path, options, _rewrite(text, found, lambda number: ";"))


def read_prints(path: str, options: Options) -> tuple[tuple[Print, ...], Options]:
    """Prints of a file, and options that read it with an assignment for each printed value. Errors: PL1510."""
    text = _text(path, options)
    found = _statements(text)
    source = Source(path, text)
    prints = tuple(_read_print(source, statement) for statement in found)
    return prints, _reading(path, options, _rewrite(text, found, lambda n: _assignments(n, prints[n])))


def _text(path: str, options: Options) -> str:
    written = dict(options.instead).get(path)
    return read_source(path, ".c").decode("utf-8", "surrogateescape") if written is None else written


def _reading(path: str, options: Options, text: str) -> Options:
    others = tuple(pair for pair in options.instead if pair[0] != path)
    return replace(options, instead=(*others, (path, text)))


def _rewrite(text: str, statements: Sequence[_Statement], instead: Callable[[int], str]) -> str:
    """Text with something else in the place of statements, on the same lines."""
    for number, statement in reversed(list(enumerate(statements))):
        made = instead(number)
        rest = text[statement.start : statement.end]
        # Blanks behind what is shorter: columns of what follows on the line stay.
        blanks = re.sub(r"[^\n]", " ", rest)[len(made) :] if "\n" not in rest[: len(made)] else "\n" * rest.count("\n")
        text = f"{text[: statement.start]}{made}{blanks}{text[statement.end :]}"
    return text


def _assignments(number: int, made: Print) -> str:
    """Block that assigns each value, twice: what is assigned once may be another name for an expression of loops."""
    values = made.expressions or ("0",)
    names = [local_name(number, n) for n in range(len(values))]
    # `__auto_type` is clang's and GCC's: the type of its value.
    parts = (f"__auto_type {name} = ({value}); {name} = ({value});" for name, value in zip(names, values, strict=True))
    return "{ " + " ".join(part.replace("\n", " ") for part in parts) + " }"


def _statements(text: str) -> list[_Statement]:
    if "printf" not in text:
        return []
    tokens = [
        _Token(match[0], match.start(), match.end())
        for match in TOKEN.finditer(text)
        if not match[0].startswith(COMMENTS) and not match[0].lstrip().startswith("#")
    ]
    found = list[_Statement]()
    for n, token in enumerate(tokens[:-1]):
        before = tokens[n - 1].text if n else ""
        if token.text == "printf" and tokens[n + 1].text == "(" and before in _BEFORE:
            end, arguments = _arguments(tokens, n + 2)
            if end < len(tokens) and tokens[end].text == ";":
                found.append(_Statement(token.start, tokens[end].end, arguments))
    return found


def _arguments(tokens: Sequence[_Token], start: int) -> tuple[int, tuple[tuple[_Token, ...], ...]]:
    """Arguments of a call from behind its parenthesis on, and the number of the token behind the closing one."""
    depth, found = 0, list[list[_Token]]([[]])
    for n in range(start, len(tokens)):
        text = tokens[n].text
        if text == ")" and not depth:
            return n + 1, tuple(map(tuple, found))
        depth += (text in "([{") - (text in ")]}")
        if text == "," and not depth:
            found.append([])
        else:
            found[-1].append(tokens[n])
    return len(tokens), ()


def _read_print(source: Source, statement: _Statement) -> Print:
    """Print of a statement. Errors: PL1510 for a format that is no text, or that shows something else than numbers."""
    span = Span(source, statement.start, statement.end - 1)
    format, *values = statement.arguments
    if not format or not all(token.text.startswith('"') for token in format):
        help = 'write the text itself, as in `printf("%f\\n", x)`'
        raise _refusal(span, "the format of a `printf` in a kernel is a text between quotes", help)
    # Texts side by side are one (C17, section 5.1.1.2, phase 6).
    text = "".join(re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), token.text[1:-1]) for token in format)
    pieces, kinds, end = list[str](), list[str](), 0
    for match in CONVERSION.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        if match["kind"] == "%":
            pieces.append("%%")
            continue
        if match["kind"] not in _KINDS:
            help = "print numbers, by %d, %u, %x, %f, %e or %g"
            raise _refusal(span, f"`{match[0]}` shows no number", help)
        kinds.append(match["kind"])
        pieces.append(f"%{match['flags']}{match['width']}{match['precision'] or ''}{match['kind']}")
    if len(kinds) != len(values):
        message = f"the format has {len(kinds)} conversions, and {len(values)} values follow"
        raise _refusal(span, message, "write a value for each conversion")
    expressions = tuple(source.text[value[0].start : value[-1].end] for value in values if value)
    return Print(span, "".join([*pieces, text[end:]]).rstrip("\n"), expressions)


def _refusal(span: Span, message: str, help: str) -> PolyloomError:
    return input_error("PL1510", message, span=span, help=help)
