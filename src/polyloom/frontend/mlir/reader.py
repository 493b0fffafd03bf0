# SPDX-License-Identifier: Apache-2.0
"""Reader of MLIR modules by xDSL: operations with their places in the text, and its errors as ours.

A file may hold several modules, between lines `// -----` (`mlir-opt -split-input-file`). A function that is not asked
for may hold what xDSL does not know: then it is skipped, and its error is kept for those who ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.frontend.mlir.dialects import make_context

_SPLIT: Final = re.compile(r"^// ?-----.*$", re.MULTILINE)
_NAMED: Final = re.compile(r"func\.func\s+(?:\w+\s+)*@(?P<name>[\w$.-]+)")


@dataclass(slots=True)
class Module:
    """Operations at the top of a module, by their names; `places` are those of all operations in the text, `refused`
    the errors of functions that cannot be read (mutable while it is read)."""

    text: Source
    symbols: dict[str, Operation] = field(default_factory=dict[str, Operation])
    places: dict[Operation, tuple[int, int]] = field(default_factory=dict[Operation, tuple[int, int]])
    refused: dict[str, PolyloomError] = field(default_factory=dict[str, PolyloomError])

    def span(self, operation: Operation) -> Span:
        """Place of an operation: its first line, of one that is longer."""
        place = self.places.get(operation)
        if place is None:
            parent = operation.parent_op()
            return Span(self.text, 0, 0) if parent is None else self.span(parent)
        start, end = place
        line = self.text.text.find("\n", start)
        return Span(self.text, start, end if line < 0 else min(end, line))

    @property
    def text_span(self) -> Span:
        return Span(self.text, 0, 0)

    @property
    def functions(self) -> Mapping[str, FuncOp]:
        """Functions that have a body."""
        found = {name: op for name, op in self.symbols.items() if isinstance(op, FuncOp)}
        return {name: op for name, op in found.items() if op.body.blocks}


class _Parser(Parser):
    """xDSL's parser, which also notes where operations stand."""

    def __init__(self, context: Any, text: str, name: str, offset: int, places: dict[Operation, tuple[int, int]]):
        super().__init__(context, text, name)
        self.offset, self.places = offset, places

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        made = super().parse_operation()
        # The last token of the operation ends before the one that waits, and the blanks in between.
        text = self._current_token.span.input.content
        end = len(text[: self._current_token.span.start].rstrip())
        self.places[made] = (self.offset + start, self.offset + max(end, start + 1))
        return made

    def top_operations(self) -> Iterator[Operation | tuple[int, int, Exception]]:
        """Operations of a module one after the other; of one that cannot be read, its place and its error."""
        while self._current_token.kind != MLIRTokenKind.EOF:
            start = self.pos
            if self._current_token.kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
                continue
            if self._current_token.kind == MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
                continue
            try:
                # Values are visible in their function alone, as in a region that is isolated from above.
                self.ssa_values, self.forward_ssa_references = {}, {}
                found = self.parse_optional_operation()
                if found is None:
                    self.raise_error("expected an operation")
                if self.forward_ssa_references:
                    names = ", ".join(f"%{name}" for name in self.forward_ssa_references)
                    self.raise_error(f"values are used and not defined: {names}", start)
                found.verify()
                yield found
            except (ParseError, VerifyException, ValueError, TypeError, AssertionError, NotImplementedError) as error:
                text = self._current_token.span.input.content
                # Within `module { }` functions are skipped one by one, too.
                if re.match(r"(builtin\.)?module\b", text[start:]):
                    yield from self._enter_module(start, error)
                    continue
                end = self._skip(start)
                yield start, end, error

    def _enter_module(self, start: int, error: Exception) -> Iterator[tuple[int, int, Exception]]:
        text = self._current_token.span.input.content
        opening = _opening_brace(text, start)
        if opening is None:
            yield start, len(text), error
            self._resume_from(len(text))
            return
        self._resume_from(opening + 1)

    def _skip(self, start: int) -> int:
        """Error recovery: the operation from `start` up to its closing brace is skipped (panic mode, Aho et al. 2006,
        section 4.1.4)."""
        text = self._current_token.span.input.content
        found = re.compile(r"^\s*(func\.func|module|memref\.global|#|!|\})", re.MULTILINE).search(text, start + 1)
        end = len(text) if found is None else found.start()
        self.blocks.clear()
        self.forward_block_references.clear()
        self._parser_state.dialect_stack[:] = ["builtin"]
        self._resume_from(end)
        while self._current_token.kind == MLIRTokenKind.R_BRACE:
            self._consume_token()
        return end


def _opening_brace(text: str, start: int) -> int | None:
    """The brace that opens a module's body, behind its attributes."""
    found = re.compile(r"module\b(\s*@[\w.$-]+)?(\s*attributes\s*\{[^{}]*\})?\s*\{").search(text, start)
    return None if found is None else found.end() - 1


def read_module(path: str, text: str) -> list[Module]:
    """The modules of a file. Functions with errors are in `refused`; raises PL0170 where nothing can be read."""
    source = Source(path, text)
    found, start = list[Module](), 0
    for end in (*(m.start() for m in _SPLIT.finditer(text)), len(text)):
        found.append(_read_part(source, start, end))
        start = end
    return found


def _read_part(source: Source, start: int, end: int) -> Module:
    module = Module(source)
    parser = _Parser(make_context(), source.text[start:end], source.name, start, module.places)
    try:
        for found in parser.top_operations():
            if isinstance(found, Operation):
                _add_operation(module, found)
            else:
                first, last, error = found
                named = _NAMED.search(source.text, start + first, start + last)
                name = named["name"] if named else ""
                module.refused[name] = _refusal(source, start, start + first, error)
    except ParseError as error:
        module.refused[""] = _refusal(source, start, start, error)
    return module


def _add_operation(module: Module, found: Operation) -> None:
    if found.name == "builtin.module":
        for inner in found.regions[0].block.ops:
            _add_operation(module, inner)
        return
    name = found.properties.get("sym_name") or found.attributes.get("sym_name")
    if name is not None:
        module.symbols[getattr(name, "data", str(name))] = found


_UNKNOWN: Final = re.compile(r"Operation (?P<name>\S+) is not registered")


def _refusal(source: Source, offset: int, at: int, error: Exception) -> PolyloomError:
    """xDSL's error as ours, at its place."""
    message = error.msg if isinstance(error, ParseError) else str(error)
    span = Span(source, at, at + 1)
    if isinstance(error, ParseError):
        start = min(offset + error.span.start, len(source.text))
        span = Span(source, start, max(start + 1, min(offset + error.span.end, len(source.text))))
    message = " ".join(message.split("\n")[0].split()) or type(error).__name__
    unknown = _UNKNOWN.search(message)
    if unknown is not None:
        help = "lower it to func, affine, scf, arith, math, index, memref, tensor, linalg or bufferization first"
        return input_error("PL0172", f"the operation `{unknown['name']}` is not known", span=span, help=help)
    help = "`mlir-opt FILE` shows whether it is valid; docs/mlir.md lists every operation and form that is read"
    return input_error("PL0170", f"xDSL refuses this module: {message}", span=span, help=help)
