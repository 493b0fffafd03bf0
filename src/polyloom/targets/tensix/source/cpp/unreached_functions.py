# SPDX-License-Identifier: Apache-2.0
"""Dead function elimination in the text of kernels: functions that clang refuses are left out, if nothing reaches them.

A body that is refused is taken out of the text that clang reads, so that a declaration stays: overload resolution finds
the same functions, and a call of one that has no body is an error. A head that is refused takes the whole definition
with it, which is allowed where the file has its name nowhere else. What is left has its lines and columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from polyloom.frontend.c.positions import Files
from polyloom.frontend.source import Options
from polyloom.targets.tensix.source.cpp.explain import BLANK, SourcePlace

_DIRECTIVE: Final = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.MULTILINE | re.DOTALL)
_SCOPE: Final = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()]*$")
_NAME: Final = re.compile(r"\b(?!(?:__attribute__|alignas|decltype|requires|explicit)\b)([A-Za-z_]\w*)\s*\(")


@dataclass(frozen=True, slots=True)
class _Definition:
    """A function's definition: where its head, its body and the text behind begin, and its name."""

    head: int
    body: int
    end: int
    name: str


def leave_out_functions(refused: Sequence[SourcePlace], names: tuple[str, ...], options: Options) -> Options | None:
    """Options with which clang reads the files without the functions around the places; None where that cannot help:
    something else is refused, or a function that is asked for by name.
    """
    known, texts = Files(), dict(options.instead)
    asked = {word for name in names for word in re.findall(r"\w+", name)}
    for place in dict.fromkeys(refused):
        path, whole = str(Path(place.file).resolve()), known.text(place.file)
        # Positions are those of the file on disk, as blanks keep lines and columns.
        text, span = texts.get(path, whole), known.word_span(place.file, place.line, place.column)
        found = span and next((d for d in _definitions(text) if d.head <= span.start < d.end), None)
        # Several messages may tell of one function, which is gone then.
        if found is None and text != whole:
            continue
        if span is None or found is None or found.name in asked:
            return None
        # A function whose head cannot be read cannot be declared either.
        is_head = span.start < found.body
        if is_head and len(re.findall(rf"\b{found.name}\b", text)) > 1:
            return None
        texts[path] = _blank(text, found.head if is_head else found.body, found.end)
    fewer = replace(options, instead=tuple(texts.items()))
    return fewer if fewer != options else None


def _blank(text: str, start: int, end: int) -> str:
    """Text with a semicolon and blanks in the place of a part."""
    return text[:start] + ";" + re.sub(r"[^\n]", " ", text[start + 1 : end]) + text[end:]


def _definitions(text: str) -> Iterator[_Definition]:
    """Definitions of functions, by braces: those outside of all but namespaces and classes whose head has a list of
    parameters.
    """
    for pattern in (BLANK, _DIRECTIVE):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    head, body, depth = 0, 0, 0
    for match in re.finditer(r"[;{}]", text):
        before = text[head : match.start()]
        if (match[0] == ";" and not depth) or (match[0] == "{" and not depth and _SCOPE.search(before)):
            head = match.end()
        elif match[0] == "{":
            body, depth = body if depth else match.start(), depth + 1
        elif match[0] == "}":
            depth = max(0, depth - 1)
            if not depth:
                name = _NAME.search(text[head:body])
                # `= {` begins the value of a variable.
                if name and body > head and not text[head:body].rstrip().endswith("="):
                    start = head + len(text[head:body]) - len(text[head:body].lstrip())
                    yield _Definition(start, body, match.end(), name[1])
                head = match.end()
