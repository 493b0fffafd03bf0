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

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.parser import AffineParser, Parser, UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from polyloom.diagnostics import PolyloomError, Source, Span, input_error
from polyloom.frontend.mlir.dialects import make_context
from polyloom.frontend.mlir.verify import find_violation

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


class _Lexer(MLIRLexer):
    """xDSL's lexer with a pattern of strings that takes linear time: nested repetitions try all ways to divide a string
    that does not end (catastrophic backtracking)."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*"')


class _Parser(Parser):
    """xDSL's parser, which also notes where operations stand."""

    def __init__(self, context: Any, text: str, name: str, offset: int, places: dict[Operation, tuple[int, int]]):
        super().__init__(context, "", name)
        self._parser_state = ParserState(_Lexer(Input(text, name)))
        self.offset, self.places, self.begun = offset, places, 0

    def parse_operation(self) -> Operation:
        start = self.begun = self._current_token.span.start
        made = super().parse_operation()
        # The last token of the operation ends before the one that waits, and the blanks in between.
        text = self._current_token.span.input.content
        end = len(text[: self._current_token.span.start].rstrip())
        self.places[made] = (self.offset + start, self.offset + max(end, start + 1))
        return made

    def top_operations(self) -> Iterator[Operation | tuple[int, int, int, Exception]]:
        """Operations of a module one after the other; of one that cannot be read, where it begins and
        ends, where reading stopped, and the error."""
        while self._current_token.kind != MLIRTokenKind.EOF:
            start = self.pos
            if self._current_token.kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
                continue
            if self._current_token.kind == MLIRTokenKind.R_BRACE:
                # Of a module that is read function by function.
                end = _MODULE_END.match(self._current_token.span.input.content, start)
                self._resume_from(start + 1 if end is None else end.end())
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
                yield found
            # xDSL's parsers of operations raise what Python raises, too, for what they do not expect.
            except Exception as error:
                text = self._current_token.span.input.content
                # Within `module { }` functions are skipped one by one, too.
                opening = _MODULE.match(text, start)
                if opening is None:
                    # What Python raises has no place: it is of the operation that was begun last.
                    at = self.begun
                    yield start, self._skip(start), at, error
                else:
                    self._resume_from(opening.end())

    def _skip(self, start: int) -> int:
        """Error recovery: the operation from `start` up to the next one at the top is skipped (panic mode; Aho et al.
        2006, section 4.1.4)."""
        text, depth, end = self._current_token.span.input.content, 0, 0
        opening = _STRING.match(text, start)
        for found in _MARK.finditer(text, start + 1 if opening is None else opening.end()):
            word = found[0]
            if word in ("{", "}"):
                depth += 1 if word == "{" else -1
            if depth < 0 or (depth == 0 and word[0] not in '{}"/'):
                end = found.start()
                break
        else:
            end = len(text)
        # What the operation that failed had begun would be unfinished business of the next one.
        self.blocks.clear()
        self.forward_block_references.clear()
        self._parser_state.dialect_stack[:] = ["builtin"]
        self._resume_from(end)
        return end

    def parse_affine_map_of_ssa_ids(self) -> tuple[AffineMap, Any]:
        """`[%i + symbol(%n), 3]`: every value is a symbol, whatever it is called."""
        spans = list[Any]()
        names = dict[str, int]()

        def value() -> AffineExpr | None:
            is_symbol = self.parse_optional_keyword("symbol") is not None
            if is_symbol:
                self.parse_punctuation("(")
            token = self._parse_optional_token(MLIRTokenKind.PERCENT_IDENT)
            if token is None:
                return None
            if is_symbol:
                self.parse_punctuation(")")
            if token.text not in names:
                names[token.text] = len(names)
                spans.append(token.span)
            return AffineExpr.symbol(names[token.text])

        reader = AffineParser(self._parser_state)
        found = self.parse_comma_separated_list(
            self.Delimiter.SQUARE,
            lambda: reader._parse_affine_expr(value),  # pyright: ignore[reportPrivateUsage]: its maps only have this
        )
        operands = [self.resolve_operand(UnresolvedOperand(span, 0), IndexType()) for span in spans]
        return AffineMap(0, len(names), tuple(found)), operands


_MODULE: Final = re.compile(
    r"(?:builtin\.)?module\b(\s*@[\w.$-]+)?(\s*attributes\s*\{[^{}]*\})?\s*\{|"
    r'"builtin\.module"\s*\(\)\s*(<\{[^{}]*\}>\s*)?\(\{'
)
_MODULE_END: Final = re.compile(r"\}\s*\)\s*(\{[^{}]*\}\s*)?:\s*\(\)\s*->\s*\(\)")
_STRING: Final = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_MARK: Final = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[{}]|\b(?:func\.func|memref\.global|module)\b|^[#!][\w.-]+\s*=', re.MULTILINE
)
"""What a skipped operation may hold, and where the next one begins."""


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
    tops = list[Operation]()
    try:
        # The first token is read when the parser is made.
        parser = _Parser(make_context(), source.text[start:end], source.name, start, module.places)
        for found in parser.top_operations():
            if isinstance(found, Operation):
                tops.append(found)
            else:
                first, last, at, error = found
                named = _NAMED.search(source.text, start + first, start + last)
                name = named["name"] if named else ""
                module.refused[name] = _refusal(source, start, start + at, error)
    except Exception as error:  # a lexer's, or one of an alias
        module.refused[""] = _refusal(source, start, start, error)
    # Calls are verified where their functions are found.
    ModuleOp([op for op in tops if op.parent is None])
    for found in tops:
        _add_operation(module, found)
    return module


def _add_operation(module: Module, found: Operation) -> None:
    if found.name == "builtin.module":
        for inner in found.regions[0].block.ops:
            _add_operation(module, inner)
        return
    name = found.properties.get("sym_name") or found.attributes.get("sym_name")
    if name is None:
        return
    key = getattr(name, "data", str(name))
    called = [
        getattr(op.properties.get("callee"), "string_value", str)() for op in found.walk() if op.name == "func.call"
    ]
    unread = next((name for name in called if name in module.refused), None)
    if unread is not None:
        # To xDSL's verifier, a function that could not be read is one that is not there.
        module.refused[key] = module.refused[unread]
        return
    try:
        found.verify()
    except Exception as error:
        module.refused[key] = _verification_refusal(module, found, error)
        return
    wrong = find_violation(found)
    if wrong is None:
        module.symbols[key] = found
    else:
        message = wrong.message if wrong.code != "PL0170" else f"`{wrong.operation.name}` is not valid: {wrong.message}"
        span = module.span(wrong.operation)
        module.refused[key] = input_error(wrong.code, message, span=span, help=wrong.help or _VALID)


def _verification_refusal(module: Module, found: Operation, error: Exception) -> PolyloomError:
    """The error of an operation that xDSL's verifier refuses, at the innermost one that it refuses alone."""
    # Innermost first: the verifier of a function repeats what it says about an operation within.
    for inner in found.walk(reverse=True):
        try:
            inner.verify(verify_nested_ops=False)
        except Exception as own:
            found, error = inner, own
            break
    lines = [line.strip() for line in str(error).split("\n") if line.strip()]
    message = lines[-1] if lines else type(error).__name__
    return input_error("PL0170", f"xDSL refuses `{found.name}`: {message}", span=module.span(found), help=_VALID)


_UNKNOWN: Final = re.compile(r"Operation (?P<name>\S+) is not registered")
_FOREIGN: Final = re.compile(r"'(?P<name>[\w.$-]+)' is not registered")
_LOWER: Final = "lower it to func, affine, scf, arith, math, index, memref, tensor, linalg or bufferization first"
_VALID: Final = "`mlir-opt FILE` shows whether it is valid; docs/mlir.md lists every operation and form that is read"


def _refusal(source: Source, offset: int, at: int, error: Exception) -> PolyloomError:
    """xDSL's error as ours, at its place."""
    message = error.msg if isinstance(error, ParseError) else str(error)
    at = min(at, len(source.text))
    span = Span(source, at, at + 1)
    if isinstance(error, ParseError):
        start = min(offset + error.span.start, len(source.text))
        span = Span(source, start, max(start + 1, min(offset + error.span.end, len(source.text))))
    message = " ".join(message.split("\n")[0].split()) or type(error).__name__
    unknown, foreign = _UNKNOWN.search(message), _FOREIGN.search(message)
    if unknown is not None:
        name = unknown["name"]
        # xDSL has read the name when it notices.
        start = source.text.rfind(name, offset, span.start + len(name))
        span = span if start < 0 else Span(source, start, start + len(name))
        return input_error("PL0172", f"the operation `{name}` is not known", span=span, help=_LOWER)
    if foreign is not None:
        return input_error("PL0172", f"the type or attribute `{foreign['name']}` is not known", span=span, help=_LOWER)
    if "semi-affine" in message:
        help = "give a constant factor: sizes multiply nothing in an affine map"
        return input_error("PL0174", "an affine map multiplies two variables", span=span, help=help)
    return input_error("PL0170", f"xDSL refuses this module: {message}", span=span, help=_VALID)
