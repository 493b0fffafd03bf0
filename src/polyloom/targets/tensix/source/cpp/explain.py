# SPDX-License-Identifier: Apache-2.0
"""Explanation of clang's messages about a kernel, as diagnostics at the user's line.

An error within our headers, or in the unit around the user's file, is placed where the first note behind it is in the
user's files. Messages that tell of our headers' insides are said in the words of the vector language; others are passed
on. `v_if` and its kind are matched here, because a brace that is missing is noticed at the end of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from polyloom.diagnostics import Diagnostic, PolyloomError, Source, Span
from polyloom.frontend.c.clang import diagnostics
from polyloom.frontend.c.positions import Files
from polyloom.targets.tensix.source.cpp.explain_words import CONVERT, DIVISION_HELP, KNOWN, MEMORY_HELP, WORDS

_LINE: Final = re.compile(
    r"^(?P<file>[^\n]*?):(?P<line>\d+):(?P<column>\d+): (?P<kind>(?:fatal )?error|note): (?P<text>.*)$"
)
_UNIT: Final = "unit.c"
_COMMAND_LINE: Final = "<command line>"
_MACRO: Final = re.compile(r"expanded from macro '(\w+)'$")
_GIVEN: Final = re.compile(r"'([\w:]+)'")
BLANK: Final = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_REGION: Final = re.compile(r"\bv_(if|elseif|else|endif|block|endblock)\b")
_OPENING: Final = {"endif": "v_if", "elseif": "v_if", "else": "v_if", "endblock": "v_block"}
_BRACES: Final = re.compile(r"error: (?:expected|extraneous|function definition is not allowed)|__sfpi_region")
_FUNCTION: Final = re.compile(r"\b([A-Za-z_]\w*)\s*\([^;{}()]*\)\s*(?:const\s*)?\{")
_NO_FUNCTION: Final = frozenset({"if", "for", "while", "switch", "v_if", "v_elseif", "v_and"})


@dataclass(frozen=True, slots=True)
class SourcePlace:
    """A place as clang names it: line and column count from 1, the column in bytes."""

    file: str
    line: int
    column: int


@dataclass(slots=True)
class _Message:
    """An error with the notes behind it. Mutable: notes arrive one by one."""

    text: str
    places: list[SourcePlace]
    notes: list[str] = field(default_factory=list[str])

    def noted(self) -> Iterator[tuple[SourcePlace, str]]:
        return zip(self.places[1:], self.notes, strict=True)


@dataclass(slots=True)
class Explainer:
    """Translator of clang's messages about a kernel in `source`. Mutable: `alone` collects the names that have one
    candidate, a template, and `refused` where the user's files have errors, empty if there are others.
    """

    source: Source
    headers: tuple[str, ...]
    defines: tuple[str, ...]
    alone: set[str] = field(default_factory=set[str])
    refused: list[SourcePlace] = field(default_factory=list[SourcePlace])

    def __call__(self, messages: str) -> tuple[Diagnostic, ...]:
        grouped = _group_messages(messages)
        self.alone.update(filter(None, map(_lone_template, grouped)))
        causes = [_user_place(message, self.headers) for message in grouped]
        self.refused = [place for place in causes if place] if all(causes) else []
        return (
            # The first explanation that applies is the cause; the later ones tell of its consequences.
            tuple(find_unmatched(self.source) if _BRACES.search(messages) else ())
            or tuple(_macro_collisions(grouped, self.headers, self.defines))
            or tuple(_message_diagnostics(grouped, self.source, self.headers))
            or tuple(diagnostics(messages))
        )


def _lone_template(message: _Message) -> str | None:
    """Name that the user gave, where a template is all that it can mean."""
    candidates = [note for note in message.notes if "candidate" in note]
    given = _GIVEN.search(message.text)
    if given is None or Path(message.places[0].file).name != _UNIT or len(candidates) != 1:
        return None
    return given[1] if "candidate template" in candidates[0] else None


def _user_place(message: _Message, headers: tuple[str, ...]) -> SourcePlace | None:
    """Place in the user's files from which an error comes: of a template, where its instantiation is asked for."""
    asked = [place for place, note in message.noted() if note.endswith("requested here")]
    last = [message.places[0], *asked][-1]
    if Path(last.file).name == _UNIT:
        return None
    return next((place for place in (*reversed(asked), message.places[0]) if _is_user_file(place.file, headers)), None)


def _macro_collisions(
    messages: list[_Message], headers: tuple[str, ...], defines: tuple[str, ...]
) -> Iterator[Diagnostic]:
    """Definitions of the command line that our headers do not stand: those in whose expansion one of their errors is,
    or whose names stand where one is. Other errors follow from them.
    """
    known = Files()
    names = list(dict.fromkeys(name[0] for define in defines if (name := re.match(r"\w+", define))))
    within = [m for m in messages if _is_in_folders(m.places[0].file, headers)]
    expanded = {name for m in within for name in _expanded_macros(m, headers)}
    lines = {place for m in within if not any(_is_user_file(p.file, headers) for p in m.places) for place in m.places}
    words = {word for place in lines for word in re.findall(r"\w+", known.line(place.file, place.line))}
    # Expansion is a proof; a name that merely stands in the line is only taken where there is none.
    for name in [name for name in names if name in expanded] or [name for name in names if name in words]:
        help = f"take `-D {name}` away, or define another name: the headers of the vector library use this one"
        yield Diagnostic("PL1269", f"`-D {name}` changes the headers of the vector library", help=help)


def _expanded_macros(message: _Message, headers: tuple[str, ...]) -> Iterator[str]:
    """Macros of the command line in our headers: what the user's file hands over is none of them."""
    file = message.places[0].file
    for place, note in message.noted():
        if (macro := _MACRO.match(note)) is None:
            file = place.file
        elif place.file == _COMMAND_LINE and _is_in_folders(file, headers):
            yield macro[1]


def explain_import(error: PolyloomError) -> PolyloomError:
    """Error of the import, where C++ has a word for it."""
    first = error.diagnostics[0]
    if re.match(r"`(?:inttoptr|ptrtoint)` of a vector ", first.message):
        # clang copies what is in memory as integers.
        return PolyloomError(replace(first, code="PL1264", message="a vector in memory", help=MEMORY_HELP))
    if "`__sfpi_inexact_division`" in first.message:
        message = "a division by what is no power of two"
        return PolyloomError(replace(first, code="PL1267", message=message, help=DIVISION_HELP))
    called = re.match(r"a call of `_ZN?(\w+)` is not supported", first.message)
    if called is None:
        return error
    name = _demangle(called[1])
    help = f"define `{name}` in the file, or include what does: everything that a kernel calls becomes part of it"
    return PolyloomError(replace(first, code="PL1265", message=f"`{name}` has no body here", help=help))


def _demangle(mangled: str) -> str:
    """Name of a mangled one, the last of those with which it begins: `2ns1gEi` is g (Itanium C++ ABI, section 5.1,
    nested names).
    """
    name = ""
    while length := re.match(r"\d+", mangled):
        end = length.end() + int(length[0])
        name, mangled = mangled[length.end() : end], mangled[end:]
    return name


def find_unmatched(source: Source) -> Iterator[Diagnostic]:
    """Regions that are not closed, and what closes none."""
    # Comments and strings become blanks of the same length, so that places stay.
    text = BLANK.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source.text)
    text = re.sub(r"^[ \t]*#[^\n]*", lambda match: " " * len(match[0]), text, flags=re.MULTILINE)
    opened: list[tuple[str, int]] = []
    for match in _REGION.finditer(text):
        word, span = match[1], Span(source, match.start(), match.end())
        if word in ("if", "block"):
            opened.append((f"v_{word}", match.start()))
        elif not opened or opened[-1][0] != _OPENING[word]:
            help = f"`v_{word}` belongs to a `{_OPENING[word]}` before it, in the same block"
            yield Diagnostic("PL1260", f"`v_{word}` without `{_OPENING[word]}`", span=span, help=help)
            return
        elif word in ("endif", "endblock"):
            opened.pop()
    for word, start in opened[:1]:
        end = "v_endif" if word == "v_if" else "v_endblock"
        help = f"close it: `{end};` behind its last block"
        span = Span(source, start, start + len(word))
        yield Diagnostic("PL1260", f"`{word}` without `{end}`", span=span, help=help)


def _message_diagnostics(messages: list[_Message], source: Source, headers: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Diagnostics, one for each line: what follows from an error there is left out."""
    known = Files()
    lines: set[tuple[str, int] | None] = set()
    for message in messages:
        shown = next((place for place in message.places if _is_user_file(place.file, headers)), None)
        line = (shown.file, shown.line) if shown else None
        if line in lines:
            continue
        lines.add(line)
        if Path(message.places[0].file).name == _UNIT:
            yield _explain_name(message, source)
            continue
        span = known.word_span(_user_name(shown.file, source), shown.line, shown.column) if shown else None
        code, text, help = _explain_message(message)
        yield Diagnostic(code, text, span=span, help=help)


def _group_messages(messages: str) -> list[_Message]:
    found: list[_Message] = []
    for match in filter(None, map(_LINE.match, messages.splitlines())):
        place = SourcePlace(match["file"], int(match["line"]), int(match["column"]))
        if match["kind"] != "note":
            found.append(_Message(re.sub(r" \[-W[\w-]+\]$", "", match["text"]), [place]))
        elif found:
            found[-1].places.append(place)
            found[-1].notes.append(match["text"])
    return found


def _user_name(file: str, source: Source) -> str:
    """User's file by the name that the user gave."""
    return source.name if Path(file).resolve() == Path(source.name).resolve() else file


def _is_user_file(file: str, headers: tuple[str, ...]) -> bool:
    return file != _COMMAND_LINE and Path(file).name != _UNIT and not _is_in_folders(file, headers)


def _is_in_folders(file: str, headers: tuple[str, ...]) -> bool:
    return any(Path(file).resolve().is_relative_to(Path(folder).resolve()) for folder in headers)


def _explain_name(message: _Message, source: Source) -> Diagnostic:
    """Diagnostic of what is wrong with the name that the user gave beside the file."""
    lines = source.text.split("\n")
    notes = tuple(
        dict.fromkeys(
            f"line {place.line}: {_function_head(lines, place.line)}"
            for place, note in message.noted()
            if "candidate" in note and place.line <= len(lines) and Path(place.file).name == Path(source.name).name
        )
    )[:8]
    given = _GIVEN.search(message.text)
    name = given[1] if given else ""
    if notes:
        help = (
            "give the template arguments, `f<false, 8>`; a call, `f<false>(1, 2)`, chooses among functions of one name"
        )
        return Diagnostic("PL1268", f"`{name}` does not say which function it is", notes=notes, help=help)
    # A regular expression suffices here: the list is a suggestion, and clang has refused the file.
    functions = [each for each in dict.fromkeys(_FUNCTION.findall(source.text)) if each not in _NO_FUNCTION]
    candidates = get_close_matches(name.split("::")[-1], functions, 3, 0.5) or functions
    help = "functions of the file: " + ", ".join(f"`{each}`" for each in candidates[:12]) if candidates else None
    return Diagnostic("PL1268", f"no such function of a kernel: {message.text.partition(';')[0]}", help=help)


def _function_head(lines: list[str], line: int) -> str:
    """Text of a function's head, with its template parameters."""
    before = lines[line - 2].strip() if line > 1 and lines[line - 2].startswith("template") else ""
    return " ".join(f"{before} {lines[line - 1]}".partition("{")[0].split())


def _explain_message(message: _Message) -> tuple[str, str, str | None]:
    """Code, message and help of an error."""
    for pattern, code, said, help in WORDS:
        if match := re.search(pattern, message.text):
            return code, match.expand(said), match.expand(help)
    if message.text.startswith("no viable overloaded '='"):
        return _explain_assignment(message)
    if meant := re.search(r"; did you mean '(.*?)'\?$", message.text):
        return "PL0151", f"the C compiler says: {message.text[: meant.start()]}", f"did you mean `{meant[1]}`?"
    return "PL0151", f"the C compiler says: {message.text}", None


def _explain_assignment(message: _Message) -> tuple[str, str, str]:
    """Explanation of an assignment; what clang says of it stands in its notes."""
    pairs = [found for note in message.notes if (found := re.search(KNOWN, note))]
    if pairs and "Datums" not in pairs[0][2]:
        given, wanted = pairs[0][1], pairs[0][2]
        return "PL1267", f"a {given} where a {wanted} stands", CONVERT.format(wanted)
    help = "floats go to the layouts FSrcB, F32, F16a and F16b, integers to I32 and SM32, unsigned ones to U32 and U16"
    return "PL1267", "a kind that this layout of Dst does not hold", help
