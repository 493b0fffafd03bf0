# SPDX-License-Identifier: Apache-2.0
"""Ranges of index data: between which values an input must lie so that what is addressed with it is in its array.

Addresses are linear forms over what is loaded, over scalars and over variables of loops, as in scalar evolution; each
access asks that its subscripts are from 0 to the extent. What a subscript asks of a loop's variable, that asks of the
loop's bounds. So `x[col[k]]` bounds `col` by the extent of x, and `for (k = row[i]; k < row[i + 1]; k++) ... col[k]`
bounds `row` by that of `col`. Only values of inputs are bounded; whether C means an access at all (a condition around
it, say) is not looked at, so that a range may be narrower than it had to be, and is never trusted for anything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from polyloom.analysis.loop_ranges import Range, form_range
from polyloom.ir.ssa import Constant, Function, Instruction, Operand, Value, successor_edges
from polyloom.sets import Affine

ANY: Final[Range] = (-(1 << 62), 1 << 62)
_SAME: Final = ("sext", "zext", "trunc", "copy")
_PAIRS: Final = (("slt", "sgt"), ("sle", "sge"), ("ult", "ugt"), ("ule", "uge"), ("eq", "eq"), ("ne", "ne"))
_SWAPPED: Final = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
"""A comparison with its operands exchanged."""
_DEEPEST: Final = 8
"""Loops whose bounds depend on each other."""


@dataclass(frozen=True, slots=True)
class _Variable:
    """Of a loop: where it begins, whether it rises, and forms that it does not pass, with what is to be added."""

    begins: tuple[Affine, ...]
    rises: bool
    ends: tuple[tuple[Affine, int], ...]


def index_ranges(
    function: Function, values: Mapping[str, int], shapes: Mapping[str, tuple[int, Sequence[int]]]
) -> dict[str, Range]:
    """Inferred preconditions on index data (backward interval analysis; Cousot, Cousot, "Abstract interpretation",
    1977), by parameter: the range of its elements, or of itself. `values` are those of scalars that are known, `shapes`
    the bytes of an element and the extents of arrays; what is not bounded is left out.
    """
    found = _Ranges(function, values, shapes)
    for instruction in found.instructions:
        found.access(instruction)
    return {name: range for name, range in found.bounds.items() if range != ANY and range[0] <= range[1]}


class _Ranges:
    """State of the inference: forms of values, variables of loops, and bounds that only become narrower."""

    def __init__(
        self, function: Function, values: Mapping[str, int], shapes: Mapping[str, tuple[int, Sequence[int]]]
    ) -> None:
        self.function, self.values, self.shapes = function, values, shapes
        self.instructions = [i for block in function.blocks for i in block.instructions]
        self.comparisons = [i for i in self.instructions if i.operation in _SWAPPED]
        self.defined = {i.results[0].name: i for i in self.instructions if i.results}
        self.incoming = dict(_edge_arguments(function))
        self.parameters = {p.name for p in function.parameters}
        self.bounds: dict[str, Range] = dict.fromkeys(self.parameters, ANY)
        self.forms, self.variables = dict[str, Affine](), dict[str, _Variable | None]()

    def form(self, operand: Operand) -> Affine | None:
        """The linear form of an integer; None for what has no value."""
        if isinstance(operand, Constant):
            return Affine((), operand.value)
        if not isinstance(operand, Value):
            return None
        if operand.name not in self.forms:
            self.forms[operand.name] = self._linear_form(operand.name)
        return self.forms[operand.name]

    def _linear_form(self, name: str) -> Affine:
        # Scalars that the caller knows are constants.
        """Linear form of a value by its definition, over loaded values, scalars and variables of loops."""
        if name in self.values:
            return Affine((), self.values[name])
        itself, instruction = Affine.symbol(name), self.defined.get(name)
        if instruction is None:
            return itself
        parts = [self.form(o) for o in instruction.operands]
        match instruction.operation, parts:
            case operation, [Affine() as a] if operation in _SAME:
                return a
            case "add", [Affine() as a, Affine() as b]:
                return a + b
            case "sub", [Affine() as a, Affine() as b]:
                return a - b
            case "or", [Affine() as a, Affine() as b] if a.terms and b.constant >= 0:
                return a + b  # of what is unrolled: the lowest bits are zeros
            case "mul", [Affine() as a, Affine() as b] if not a.terms or not b.terms:
                return a * b.constant if b.is_constant else b * a.constant
            case "shl", [Affine() as a, Affine(terms=()) as b] if 0 <= b.constant < 64:
                return a * (1 << b.constant)
            case _:
                return itself

    def place(self, pointer: Operand) -> tuple[str, Affine] | None:
        """The parameter that a pointer is made of, and the bytes from there."""
        if not isinstance(pointer, Value):
            return None
        if pointer.name in self.parameters:
            return pointer.name, Affine()
        instruction = self.defined.get(pointer.name)
        if instruction is None or instruction.operation != "offset":
            return None
        base, offset = self.place(instruction.operands[0]), self.form(instruction.operands[1])
        return None if base is None or offset is None else (base[0], base[1] + offset)

    def data(self, atom: str) -> str | None:
        """The parameter that a value comes from: as itself, or by a load through it."""
        if atom in self.parameters:
            return atom
        instruction = self.defined.get(atom)
        if instruction is None or instruction.operation != "load":
            return None
        found = self.place(instruction.operands[0])
        return None if found is None else found[0]

    def access(self, instruction: Instruction) -> None:
        """What a load or a store asks of the subscripts of its array."""
        if instruction.operation not in ("load", "store"):
            return
        found = self.place(instruction.operands[0 if instruction.operation == "load" else 1])
        if found is not None and found[0] in self.shapes:
            for subscript, extent in _subscripts(found[1], *self.shapes[found[0]]):
                self.ask(subscript, (0, extent - 1), ())

    def ask(self, form: Affine, asked: Range, around: tuple[str, ...]) -> None:
        """Backward propagation of a range through a linear form: each of its atoms, whatever the others are, has to
        keep the sum inside.
        """
        unknown = sum(self.variable(atom) is None for atom in form.symbols)
        # Several unknown data share what is left equally, as the digits of one index do.
        share = (asked[1] - form.constant) // unknown if unknown > 1 else ANY[1]
        for atom, factor in form.terms:
            rest = [self.spread(other, c, share) for other, c in form.terms if other != atom]
            if any(each is None for each in rest):
                continue
            least = asked[0] - form.constant - sum(each[0] for each in rest if each)
            most = asked[1] - form.constant - sum(each[1] for each in rest if each)
            # Division rounds inwards: to the next number up at the low end, down at the high end.
            low, high = (-(-least // factor), most // factor) if factor > 0 else (-(-most // factor), least // factor)
            self._bound(atom, (max(low, ANY[0]), min(high, ANY[1])), around)

    def _bound(self, atom: str, asked: Range, around: tuple[str, ...]) -> None:
        if (name := self.data(atom)) is not None:
            before = self.bounds[name]
            self.bounds[name] = max(before[0], asked[0]), min(before[1], asked[1])
        variable = self.variable(atom)
        # Bounds of loops may depend on each other in a circle, which would never end.
        if variable is None or atom in around or len(around) > _DEEPEST:
            return
        inner = (*around, atom)
        # A loop that makes no turn may begin one behind what its turns may have.
        wider = (asked[0], asked[1] + 1) if variable.rises else (asked[0] - 1, asked[1])
        for begin in variable.begins:
            self.ask(begin, wider, inner)
        for end, margin in variable.ends:
            self.ask(end, (asked[0] - max(margin, 0), asked[1] - min(margin, 0)), inner)

    def spread(self, atom: str, factor: int, share: int) -> Range | None:
        """The range of a multiple of an atom; of data that are not bounded yet, as much as is theirs."""
        found = self.known_range(atom)
        if found is None and self.variable(atom) is None:
            found = (0, max(share, 0) // abs(factor)) if share != ANY[1] else None
        return None if found is None else tuple(sorted((factor * found[0], factor * found[1])))  # pyright: ignore[reportReturnType]  # two numbers

    def known_range(self, atom: str, around: tuple[str, ...] = ()) -> Range | None:
        """The range of a loop's variable whose bounds are known."""
        variable = self.variable(atom)
        if variable is None or atom in around or not variable.ends:
            return None
        begins = [self._constant(form, (*around, atom)) for form in variable.begins]
        ends = [self._constant(form + margin, (*around, atom)) for form, margin in variable.ends]
        if not begins or None in begins or all(end is None for end in ends):
            return None
        first, last = [b for b in begins if b], [e for e in ends if e]
        if variable.rises:
            return min(b[0] for b in first), min(e[1] for e in last)
        return max(e[0] for e in last), max(b[1] for b in first)

    def _constant(self, form: Affine, around: tuple[str, ...]) -> Range | None:
        found = {atom: range for atom in form.symbols if (range := self.known_range(atom, around)) is not None}
        return form_range(form, found) if found.keys() == form.symbols else None

    def variable(self, name: str) -> _Variable | None:
        """A parameter of a block that one edge gives a constant step, and others a beginning."""
        if name not in self.variables:
            self.variables[name] = self._variable(name)
        return self.variables[name]

    def _variable(self, name: str) -> _Variable | None:
        if name not in self.incoming:
            return None
        forms = [self.form(operand) for operand in self.incoming[name]]
        steps = [f.constant for f in forms if f is not None and f.terms == ((name, 1),)]
        begins = tuple(f for f in forms if f is not None and name not in f.symbols)
        moving = [step for step in steps if step]
        # Steps of both signs tell nothing about the ends.
        if None in forms or not moving or len({step > 0 for step in moving}) > 1:
            return None
        return _Variable(begins, moving[0] > 0, tuple(self._ends(name, moving[0] > 0)))

    def _ends(self, name: str, rises: bool) -> Iterator[tuple[Affine, int]]:
        """Of comparisons with the variable: what it does not pass, and by how much less."""
        for instruction in self.comparisons:
            a, b = (self.form(operand) for operand in instruction.operands)
            operation = instruction.operation
            if b is not None and b.coefficient(name) == 1:
                a, b, operation = b, a, _SWAPPED[operation]
            if a is None or b is None or a.terms != ((name, 1),) or name in b.symbols:
                continue
            last = _overshoot(operation, a.constant, rises)
            if last is not None:
                yield b, last


def _overshoot(operation: str, step: int, rises: bool) -> int | None:
    """How far beyond the other operand a variable goes, which with `step` is compared: of rotated loops the next
    value is."""
    ahead = step if rises else -step
    sign = 1 if rises else -1
    if operation in ("eq", "ne"):
        return -sign * max(ahead, 1)
    strict = ("slt", "ult", "sge", "uge") if rises else ("sgt", "ugt", "sle", "ule")
    loose = ("sle", "ule", "sgt", "ugt") if rises else ("sge", "uge", "slt", "ult")
    return -sign if operation in strict else 0 if operation in loose else None


def _subscripts(offset: Affine, size: int, shape: Sequence[int]) -> Iterator[tuple[Affine, int]]:
    """Delinearization of an offset in bytes (Maslov, "Delinearization: an efficient way to break multiloop dependence
    equations", 1992): the subscripts, outermost first, with their extents; of each term as many whole strides as it
    has. Where subscripts share a value it can be split in other ways, and with each the offset is in the array.
    """
    rest = offset
    strides = [size * prod(shape[n + 1 :]) for n in range(len(shape))]
    for stride, extent in zip(strides, shape, strict=True):
        if stride <= 0:
            return
        own = {n: abs(c) // stride * (1 if c > 0 else -1) for n, c in rest.terms if abs(c) >= stride}
        # Rounded to the nearest row: `a[i][j - 1]` has a negative constant of the inner subscript.
        constant = (rest.constant + stride // 2) // stride if stride > size else rest.constant // stride
        subscript = Affine.from_terms(own, constant)
        yield subscript, extent
        rest = rest - subscript * stride


def _edge_arguments(function: Function) -> Iterator[tuple[str, list[Operand]]]:
    """What edges give each parameter of a block."""
    edges = [edge for block in function.blocks for edge in successor_edges(block.terminator)]
    for block in function.blocks[1:]:
        given = [edge.arguments for edge in edges if edge.block == block.name]
        for number, parameter in enumerate(block.parameters):
            yield parameter.name, [arguments[number] for arguments in given]
