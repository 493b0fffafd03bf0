# SPDX-License-Identifier: Apache-2.0
"""Lists of functions of libraries in C that are not a part of this repository: names and options, and no text of them.

A list is `NAME.txt`: lines `include DIR`, `define TEXT` and `ignore NAME,...` for all, `constant FILE NAME=VALUE ...`
for macros of a header that get other values, and `extent N` for pointers whose extent no line gives; then one line per
function, its file below the checkout, its name, and options of `polyloom run`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from polyloom.diagnostics import PolyloomError
from polyloom.frontend import c
from polyloom.frontend.source import Options, Reference
from polyloom.ir.nest import Nest

HERE: Final = Path(__file__).parent
BUILT: Final = HERE.parents[1] / "build" / "libraries"
_CALLED: Final = re.compile(
    r"(?:the function|is passed to|cannot be linked:) `(\w+)`(?: cannot be called here|, whose body| has no body)"
)
_TABLE: Final = re.compile(r"`(\w+)` is neither")
_UNUSED: Final = re.compile(r"the function has no (?:integer argument|array parameter) `([^`]+)`")
_EXTENT: Final = re.compile(r"the outermost extent of `([^`]+)` is not known")
_ROUNDS: Final = 40


@dataclass(frozen=True, slots=True)
class Function:
    """Function of a library: its file, and how it is read."""

    path: Path
    options: Options

    @property
    def name(self) -> str:
        return self.options.function or ""


@dataclass(frozen=True, slots=True)
class Library:
    """Functions of a checkout; `extent` is what pointers get whose extents the list does not have."""

    root: Path
    functions: tuple[Function, ...]
    extent: str = ""

    def companions(self, name: str) -> Iterator[Path]:
        """The files that define a function or a table."""
        pattern = re.compile(rf"^[\w \t*]*\b{name}\s*(\(|\[)[^;]*?[{{=]", re.MULTILINE)
        for path in sorted(self.root.rglob("*.c")):
            if pattern.search(path.read_text(encoding="utf-8", errors="replace")):
                yield path


def read_list(path: Path, root: Path) -> Library:
    """Functions of a list whose files a checkout has."""
    shared, functions, extent = Options(), list[Function](), ""
    for line in path.read_text(encoding="utf-8").splitlines():
        words = shlex.split(line, comments=True)
        match words:
            case []:
                pass
            case ["include", folder]:
                shared = replace(shared, includes=(*shared.includes, str(root / folder)))
            case ["ignore", text]:
                shared = replace(shared, ignore=tuple(text.split(",")))
            case ["constant", file, *values]:
                shared = replace(shared, includes=(*shared.includes, *_changed_headers(root / file, values, path.stem)))
            case ["define", text]:
                shared = replace(shared, defines=(*shared.defines, text))
            case ["extent", text]:
                extent = text
            case [file, name, *given]:
                functions.append(Function(root / file, _with_options(replace(shared, function=name), given, root)))
            case _:
                raise ValueError(f"{path}: {line}")
    return Library(root, tuple(each for each in functions if each.path.is_file()), extent)


def _changed_headers(header: Path, values: list[str], library: str) -> Iterator[str]:
    """A folder with a copy of a header in which macros have other values: it is to be found before the header's."""
    if header.is_file():
        text = header.read_text(encoding="utf-8")
        for name, _, value in (each.partition("=") for each in values):
            text = re.sub(rf"(#define {name}) .*", rf"\1 {value}", text)
        (BUILT / library).mkdir(parents=True, exist_ok=True)
        (BUILT / library / header.name).write_text(text, encoding="utf-8")
        yield str(BUILT / library)


def _with_options(options: Options, words: list[str], root: Path) -> Options:
    for flag, value in zip(words[::2], words[1::2], strict=True):
        key = {"--shape": "shapes", "--set": "values", "--ignore": "ignore", "--with": "companions"}[flag]
        found = str(root / value) if flag == "--with" else value
        options = replace(options, **{key: (*getattr(options, key), found)})
    return options


def find_lists(root: Path, folder: Path = HERE) -> list[Library]:
    """The lists of which a checkout has files."""
    found = [read_list(path, root) for path in sorted(folder.glob("*.txt"))]
    return [library for library in found if library.functions]


def load(library: Library, function: Function) -> tuple[Function, Nest, Reference]:
    """Nest of a function, with the files that it needs (`--with`), as the refusals name them."""
    for _ in range(_ROUNDS):
        try:
            return (function, *c.load(str(function.path), function.options))
        except PolyloomError as error:
            more = answer_refusal(library, function, str(error))
            if more is None:
                raise
            function = more
    raise AssertionError(function.name)


def answer_refusal(library: Library, function: Function, message: str) -> Function | None:
    """A function with what a refusal asks for; None where the library has no answer."""
    options = function.options
    if library.extent and (missing := _EXTENT.findall(message)):
        shapes = (*options.shapes, *(f"{name}={library.extent}" for name in missing))
        return replace(function, options=replace(options, shapes=shapes))
    if unused := {_field(name) for name in _UNUSED.findall(message)}:
        # A field of which nothing is used is no argument.
        kept = [
            tuple(text for text in texts if _field(text.partition("=")[0]) not in unused)
            for texts in (options.shapes, options.values)
        ]
        return replace(function, options=replace(options, shapes=kept[0], values=kept[1]))
    for name in (*_CALLED.findall(message), *_TABLE.findall(message)):
        for path in library.companions(name):
            if str(path) not in options.companions and path != function.path:
                return replace(function, options=replace(options, companions=(*options.companions, str(path))))
    return None


def _field(name: str) -> str:
    return re.sub(r"->|\.", "_", name)
