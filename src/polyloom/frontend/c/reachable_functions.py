# SPDX-License-Identifier: Apache-2.0
"""Reachable functions: only what the chosen function reaches is compiled; where a file has errors, other functions are
left out, or become declarations where something names them.

Functions are found in the text, as tokens (C17, section 5.1.1.2); each identifier that is a function's name reaches it.
What this does not understand, such as braces in branches of the preprocessor that do not match, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, TypeVar

from polyloom.diagnostics import PolyloomError
from polyloom.files import read_source
from polyloom.frontend.c.calls.ignore import remove_ignored
from polyloom.frontend.c.calls.prints import remove_prints
from polyloom.frontend.c.calls.tokens import COMMENTS, TOKEN
from polyloom.frontend.source import Options

T = TypeVar("T")
_FAILED: Final = "PL0151"
"""What clang refuses."""


@dataclass(frozen=True, slots=True)
class _Body:
    """Function definition in the text: where its head and its body begin, and where it ends, and the words
    in the body.
    """

    name: str
    head: int
    start: int
    end: int
    words: frozenset[str]


def read_reachable(path: str, function: str | None, options: Options, read: Callable[[Options], T]) -> T:
    """Reading of what is reachable: what `read` gives; where clang refuses the file for what the chosen `function` does
    not reach, without that. Errors: clang's, unless another one is about what is reached.
    """
    # Prints are taken out of a stub, too; what `--ignore` cuts is known of the whole file alone.
    is_cut = bool(options.ignore)
    options = remove_prints(path, remove_ignored(path, options))
    try:
        # The whole file first: it is the normal case, and its errors are the ones to show.
        return read(options)
    except PolyloomError as error:
        text = None if error.code != _FAILED or is_cut else stub_unreachable(path, function)
        if text is None:
            raise
        try:
            return read(remove_prints(path, replace(options, instead=((path, text),))))
        except PolyloomError as other:
            raise (error if other.code == _FAILED else other) from None


def stub_unreachable(path: str, function: str | None) -> str | None:
    """Text of the file with every body that `function` does not reach as a declaration; None where nothing
    becomes one.
    """
    text = read_source(path, ".c").decode("utf-8", "surrogateescape")
    bodies = {body.name: body for body in _function_bodies(text)}
    if function not in bodies:
        return None
    kept = _reachable_functions(function, bodies)
    others = [body for body in bodies.values() if body.name not in kept]
    for body in others:
        text = _blank_text(text, body.start, body.end)
    for body in others:
        if len(re.findall(rf"\b{body.name}\b", text)) == 1:  # nothing else names it, such as a table
            text = _blank_text(text, body.head, body.end)
    return text if others else None


def unreached_bodies(text: str, function: str | None) -> tuple[range, ...]:
    """Bodies that `function` does not reach; without one, that of `main`, which is no kernel."""
    bodies = {body.name: body for body in _function_bodies(text)}
    if function is not None and function not in bodies:
        return ()
    kept = bodies.keys() - {"main"} if function is None else _reachable_functions(function, bodies)
    return tuple(range(body.start, body.end) for body in bodies.values() if body.name not in kept)


def _blank_text(text: str, start: int, end: int) -> str:
    """Spaces behind a semicolon, which ends a declaration; lines stay."""
    return text[:start] + ";" + re.sub(r"[^\n]", " ", text[start + 1 : end]) + text[end:]


def _reachable_functions(function: str, bodies: Mapping[str, _Body]) -> frozenset[str]:
    """Reachability in the call graph that the words of the bodies give: a superset of the calls."""
    found, work = {function}, [function]
    while work:
        for name in bodies[work.pop()].words & bodies.keys() - found:
            found.add(name)
            work.append(name)
    return frozenset(found)


def _function_bodies(text: str) -> Iterator[_Body]:
    """Function bodies at the level of the file, by matching braces; none where these do not match."""
    found, head, words, depth, start, first = list[_Body](), list[str](), set[str](), 0, 0, 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token.startswith(COMMENTS):
            continue
        words.add(token)
        if token == "{":
            start, words = (match.start(), set[str]()) if not depth else (start, words)
            depth += 1
        elif token == "}":
            depth -= 1
            if depth < 0:
                return
            if not depth and (name := _defined_name(head)):
                found.append(_Body(name, first, start, match.end(), frozenset(words)))
            head = [] if not depth else head
        elif not depth:
            first = first if head else match.start()
            head = [] if token == ";" or token.lstrip().startswith("#") else [*head, token]
    if not depth:
        yield from found


def _defined_name(head: list[str]) -> str | None:
    """The name in a function's head: a word before the first parenthesis, outside of attributes; none of an initial
    value or a structure."""
    if "=" in head or ")" not in head:
        return None
    names = (a for a, b in pairwise(head) if b == "(" and a.isidentifier())
    return next((name for name in names if not name.startswith("__attribute")), None)
