# SPDX-License-Identifier: Apache-2.0
"""Recursive-descent parser of the equation language (docs/language.md).

    text       = { declaration } "for" [ name {"," name} ":" ] expression {"," expression} "do" { equation }
    declaration= "parameter" expression {"," expression} | ("input" | "output" | "variable") array {"," array}
    array      = name [ "[" [ expression {"," expression} ] "]" ] ":" type
    equation   = [ name ":" ] access "=" expression [ "if" expression ]
    access     = name "[" [ expression {"," expression} ] "]"

A name in backquotes is a name whatever it says.

One expression grammar serves values, indices and conditions; which of them is meant decides `lower.py`. From loosest to
tightest: `or`, `xor`, `and`, `not`, comparisons (chained), `shl shr`, `+ -`, `* /`, unary `-`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from polyloom.diagnostics import Diagnostic, PolyloomError, Source, Span, input_error
from polyloom.frontend.pla.lexer import Token, tokenize
from polyloom.ir.pla_names import KEYWORDS

COMPARISONS = {"=": "eq", "==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
LONGEST_NUMBER = 400
"""Digits of a literal; no element type distinguishes more."""
T = TypeVar("T")
# `not` stands between these and the comparisons, as in Python: `not a < b` is the complement of the comparison.
_LEVELS: tuple[dict[str, str], ...] = ({"or": "or"}, {"xor": "xor"}, {"and": "and"})
_ARITHMETIC: tuple[dict[str, str], ...] = (
    {"shl": "shl", "shr": "shr"},
    {"+": "add", "-": "sub"},
    {"*": "mul", "/": "div"},
)


@dataclass(frozen=True, slots=True)
class Number:
    """Literal; a `float` was written with a point, an exponent, or as `inf` or `nan`."""

    value: int | float
    span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """Dimension or parameter."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Truth:
    """`true` or `false`."""

    value: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Access:
    """`name[index]`; `name_span` covers the name alone."""

    name: str
    index: tuple[Expression, ...]
    name_span: Span
    span: Span


@dataclass(frozen=True, slots=True)
class Apply:
    """Named operation, written as an operator or as a call; `not` is one, though it is no operation on values."""

    operation: str
    operands: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Comparison:
    """Chained comparison: `operands[0] relations[0] operands[1] relations[1] ...`; `symbols` are as written."""

    operands: tuple[Expression, ...]
    relations: tuple[str, ...]
    symbols: tuple[str, ...]
    span: Span


Expression = Number | Name | Truth | Access | Apply | Comparison


@dataclass(frozen=True, slots=True)
class Declaration:
    """`name[shape]: dtype`; `shape` is None without brackets."""

    name: str
    shape: tuple[Expression, ...] | None
    dtype: str
    span: Span
    dtype_span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """Equation as written: `label: target = value if condition`."""

    label: str | None
    target: Access
    value: Expression
    condition: Expression | None
    span: Span


@dataclass(slots=True)
class Text:
    """Syntax tree of a text. It is filled statement by statement, hence not frozen."""

    parameters: list[Expression]
    inputs: list[Declaration]
    outputs: list[Declaration]
    variables: list[Declaration]
    dimensions: list[Name]
    space: list[Expression]
    statements: list[Statement]
    loop: Span | None = None


def parse_syntax(source: Source) -> Text:
    """Parse the syntax of a text; raises every PL0101 and PL0102 found, one per statement."""
    tokens, errors = tokenize(source)
    if errors:
        raise PolyloomError(*errors)
    text = Text([], [], [], [], [], [], [])
    parser = _Parser(tokens)
    while not parser.at_end:
        try:
            parser.statement(text)
        except PolyloomError as error:
            errors += error.diagnostics
            # Panic mode: the rest of the statement is skipped, so that each fault is reported once (Aho et al. 2006,
            # section 4.1).
            parser.recover()
    if text.loop is None and not errors:
        errors.append(
            Diagnostic(
                "PL0102",
                "no iteration space",
                span=tokens[-1].span,
                help="write `for 0 <= i < N do` before the equations",
            )
        )
    if errors:
        raise PolyloomError(*errors)
    return text


class _Parser:
    """Cursor over the tokens; every method consumes what its name says or raises PL0102."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.position]

    @property
    def at_end(self) -> bool:
        return self.next.kind == "end"

    def recover(self) -> None:
        """Skip to the next line that begins a statement."""
        # At least one token, or a fault at a statement's first word would be found for ever.
        if not self.at_end:
            self.position += 1
        while not self.at_end and not (self.next.starts_line and self.begins_statement()):
            self.position += 1

    def begins_statement(self) -> bool:
        """Whether the next words begin a declaration, a loop or an equation."""
        if self.next.text in ("parameter", "input", "output", "variable", "for"):
            return True
        return self.is_name() and self.tokens[self.position + 1].text in ("[", ":")

    def is_name(self) -> bool:
        return self.next.kind == "name" and self.next.text not in KEYWORDS

    def take(self) -> Token:
        token = self.next
        self.position += not self.at_end
        return token

    def accept(self, *texts: str) -> Token | None:
        return self.take() if self.next.kind != "end" and self.next.text in texts else None

    def expect(self, text: str, after: str) -> Token:
        return self.accept(text) or self.fail(f"`{text}` {after}")

    def fail(self, expected: str, help: str | None = None) -> NoReturn:
        token = self.next
        found = "the end of the text" if token.kind == "end" else f"`{token.text}`"
        raise input_error("PL0102", f"expected {expected}, found {found}", span=token.span, help=help)

    def name(self, what: str) -> Token:
        """Name that is no keyword; PL0203, PL0102."""
        if self.next.text in KEYWORDS:
            raise input_error(
                "PL0203",
                f"`{self.next.text}` is reserved and cannot name {what}",
                span=self.next.span,
                help="choose another name",
            )
        return self.take() if self.is_name() else self.fail(f"the name of {what}")

    def enclosing_span(self, start: Span) -> Span:
        return Span(start.source, start.start, self.tokens[self.position - 1].span.end)

    def comma_list(self, item: Callable[[], T]) -> list[T]:
        items = [item()]
        while self.accept(","):
            items.append(item())
        return items

    def statement(self, text: Text) -> None:
        """Parse a declaration, the loop or an equation; one of them begins the line."""
        declarations = {"input": text.inputs, "output": text.outputs, "variable": text.variables}
        keyword = self.next
        if keyword.text == "parameter" or keyword.text in declarations or keyword.text == "for":
            if text.loop is not None:
                self.fail("an equation", "declarations stand before the one `for ... do`")
            self.take()
        if keyword.text == "parameter":
            text.parameters += self.comma_list(self.expression)
        elif keyword.text in declarations:
            declarations[keyword.text] += self.comma_list(self.declaration)
        elif keyword.text == "for":
            self.loop(text, keyword)
        elif text.loop is None:
            self.fail("`parameter`, `input`, `output`, `variable` or `for`", "equations stand after `for ... do`")
        else:
            text.statements.append(self.equation())

    def loop(self, text: Text, keyword: Token) -> None:
        """Parse the iteration space: dimensions, if they are listed, then inequalities up to `do`."""
        # A list of dimensions is known by what follows its first name: inequalities begin with names, too.
        if self.is_name() and self.tokens[self.position + 1].text in (",", ":"):
            text.dimensions += [Name(t.name, t.span) for t in self.comma_list(lambda: self.name("a dimension"))]
            self.expect(":", "after the dimensions")
        text.space += self.comma_list(self.expression)
        self.expect("do", "after the iteration space")
        text.loop = self.enclosing_span(keyword.span)

    def declaration(self) -> Declaration:
        name = self.name("an array or a variable")
        shape = tuple(self.index()) if self.next.text == "[" else None
        self.expect(":", f"and a type after `{name.text}`")
        dtype = self.take() if self.next.kind == "name" else self.fail("a type: i8, i16, i32 or f32")
        return Declaration(name.name, shape, dtype.text, name.span, dtype.span)

    def equation(self) -> Statement:
        """Parse an equation; it ends where a line ends."""
        start = self.next.span
        label = None
        if self.is_name() and self.tokens[self.position + 1].text == ":":
            label = self.take().name
            self.take()
        target = self.access(self.name("a variable"))
        if not self.accept("="):
            self.fail("`=` after the equation's left side", _definition_help(self.next.text))
        value = self.expression()
        condition = self.expression() if self.accept("if") else None
        # An equation ends with its line: what follows on it lacks an operator.
        if not self.at_end and not self.next.starts_line:
            self.fail("an operator, `if` or a new line", _juxtaposition_help(self.tokens[self.position - 1], self.next))
        return Statement(label, target, value, condition, self.enclosing_span(start))

    def access(self, name: Token) -> Access:
        if self.next.text != "[":
            help = "subscripts stand in brackets" if self.next.text == "(" else f"write `{name.text}[]` for a scalar"
            self.fail(f"`[` after `{name.text}`", help)
        index = tuple(self.index())
        return Access(name.name, index, name.span, self.enclosing_span(name.span))

    def index(self) -> list[Expression]:
        """Parse an index in brackets, which may be empty for a scalar."""
        self.expect("[", "before an index")
        if self.accept("]"):
            return []
        items = self.comma_list(self.expression)
        self.expect("]", "after an index")
        return items

    def expression(self) -> Expression:
        return self.binary(_LEVELS, self.negation)

    def negation(self) -> Expression:
        token = self.accept("not")
        if token is None:
            return self.comparison()
        operand = self.negation()
        return Apply("not", (operand,), self.enclosing_span(token.span))

    def comparison(self) -> Expression:
        """Parse a chain of comparisons, which stands for their conjunction, as in Python."""
        first = self.binary(_ARITHMETIC, self.unary)
        operands, symbols = [first], list[str]()
        while token := self.accept(*COMPARISONS):
            symbols.append(token.text)
            operands.append(self.binary(_ARITHMETIC, self.unary))
        if not symbols:
            return first
        return Comparison(
            tuple(operands), tuple(COMPARISONS[s] for s in symbols), tuple(symbols), self.enclosing_span(first.span)
        )

    def binary(self, levels: tuple[dict[str, str], ...], leaf: Callable[[], Expression]) -> Expression:
        """Parse left-associative operators by levels of precedence, the loosest first."""
        if not levels:
            return leaf()
        left = self.binary(levels[1:], leaf)
        while token := self.accept(*levels[0]):
            right = self.binary(levels[1:], leaf)
            left = Apply(levels[0][token.text], (left, right), self.enclosing_span(left.span))
        return left

    def unary(self) -> Expression:
        """Parse a sign, or a primary expression."""
        token = self.accept("-")
        if token is None:
            return self.primary()
        operand = self.unary()
        span = self.enclosing_span(token.span)
        # A negative literal is a literal: -128 fits into an i8, whose 128 does not.
        return Number(-operand.value, span) if isinstance(operand, Number) else Apply("neg", (operand,), span)

    def primary(self) -> Expression:
        """Parse a number, a parenthesis, a truth value, an access, a call or a name."""
        token = self.next
        if token.kind == "number" or token.text in ("inf", "nan"):
            if len(token.text) > LONGEST_NUMBER:
                self.fail("a shorter number")
            return Number(_number_value(self.take().text), token.span)
        if self.accept("("):
            inner = self.expression()
            self.expect(")", "to close the parenthesis")
            return inner
        if token.text in ("true", "false"):
            return Truth(self.take().text == "true", token.span)
        if not self.is_name():
            self.fail("a value, a name or `(`")
        self.take()
        if self.next.text == "[":
            return self.access(token)
        return self.call(token) if self.accept("(") else Name(token.name, token.span)

    def call(self, name: Token) -> Expression:
        operands = tuple(self.comma_list(self.expression))
        self.expect(")", f"after the operands of {name.text}")
        return Apply(name.text, operands, self.enclosing_span(name.span))


def _number_value(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)


def _definition_help(found: str) -> str | None:
    """Help for another operator between an equation's sides."""
    if found in ("+", "-", "*", "/"):
        return "a variable has one value per iteration, and keeps it: write for instance `s[i] = s[i-1] + x[i]`"
    return "write `=`" if found == "==" else None


def _juxtaposition_help(left: Token, right: Token) -> str | None:
    if right.text == "else":
        return "write another equation for the rest, with an `if` of its own"
    return f"write `{left.text}*{right.text}` for a product" if left.kind == "number" and right.kind == "name" else None
