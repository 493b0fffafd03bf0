# SPDX-License-Identifier: Apache-2.0
"""Addresses in a machine's mode, base + index * scale + offset, with few instructions and few variables in a loop.

In a superblock loop, an address that is affine over induction variables takes as base what does not vary, made before
the loop, and as index a variable; where no scale makes it one, a variable of its own is added, shared by all addresses
of its stride (strength reduction; Cooke, Kennedy, 1977). A gather takes the gathered value as index; what varies beside
it becomes a pointer that grows. So an array costs one value, and all arrays of a stride one addition, the counter's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from polyloom.analysis.affine import (
    Affine,
    AffineForms,
    affine,
    induction_steps,
    initial_values,
)
from polyloom.analysis.superblocks import (
    SideExit,
    Superblock,
    entry_edge,
    superblocks,
    with_line,
    with_preheader,
    with_superblock,
)
from polyloom.ir.ssa import Function, Instruction, Operand, Value, integer_constant
from polyloom.ir.ssa_types import PTR
from polyloom.transform.ssa.function_editing import names, on_each_function
from polyloom.transform.ssa.materialize import materialize
from polyloom.transform.ssa.preheaders import with_preheaders
from polyloom.twos_complement import sign_extend

Fresh = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class AddressMode:
    """`scales`, the greatest first; offsets are signed and have so many bits."""

    scales: tuple[int, ...]
    offset_bits: int

    def offset(self, number: int) -> int:
        """The part of a constant that an access holds, the same base for all constants near each other."""
        half = 1 << (self.offset_bits - 1)
        return number - ((number + half) & ~(2 * half - 1))


@on_each_function
def select_addresses(function: Function, mode: AddressMode) -> Function:
    """Addressing mode selection with strength reduction (Cooke, Kennedy 1977): the function whose superblock loops
    access memory in the mode.
    """
    function = with_preheaders(function)
    fresh = names(function)
    for loop in superblocks(function):
        function = _Selection(function, loop, mode, fresh).function()
    return function


@dataclass(slots=True)
class _Selection:
    """Mutable: a loop whose addresses are rewritten, what is made before it, variables that are added."""

    source: Function
    loop: Superblock
    mode: AddressMode
    fresh: Fresh
    head: list[Instruction] = field(default_factory=list[Instruction])
    line: list[Instruction | SideExit] = field(default_factory=list[Instruction | SideExit])
    added: list[tuple[Value, Operand, int]] = field(default_factory=list[tuple[Value, Operand, int]])
    made: dict[Affine, Operand] = field(default_factory=dict[Affine, Operand])
    variables: dict[Affine, Value] = field(default_factory=dict[Affine, Value])
    computed: dict[tuple[str, Operand, Operand], Value] = field(
        default_factory=dict[tuple[str, Operand, Operand], Value]
    )

    def function(self) -> Function:
        forms = AffineForms(self.source, self.loop)
        basic, own = induction_steps(self.loop, forms), self.loop.definitions
        for item in self.loop.line:
            if isinstance(item, Instruction) and item.operation in ("load", "store"):
                place = item.operation == "store"
                if not item.operands[place].type.lanes:
                    pointer = self._pointer(forms.address(item), basic, own)
                    given = (pointer if k == place else o for k, o in enumerate(item.operands))
                    item = item if pointer is None else replace(item, operands=tuple(o for o in given if o is not None))
            self.line.append(item)
        address = self.source.address
        loop, begun = self.loop, list(entry_edge(self.source, self.loop)[1].arguments)
        for variable, first, step in self.added:
            grown = Value(self.fresh(variable.name), variable.type)
            operation = "offset" if variable.type == PTR else "add"
            self.line.append(Instruction(operation, (variable, integer_constant(address, step)), (grown,)))
            loop = replace(loop, parameters=(*loop.parameters, variable), following=(*loop.following, grown))
            begun.append(first)
        changed = with_preheader(self.source, self.loop, self.head, begun)
        return with_superblock(changed, with_line(loop, self.line), self.fresh)

    def _pointer(self, address: Affine, basic: Mapping[Value, int], own: frozenset[str]) -> Operand | None:
        """The address in the mode; None where it stays as it is computed."""
        inside = {atom: c for atom, c in address.terms if isinstance(atom, Value) and atom.name in own}
        outside = {atom: c for atom, c in address.terms if atom not in inside}
        counted = {atom: c for atom, c in inside.items() if atom in basic}
        others = {atom: c for atom, c in inside.items() if atom not in basic}
        # What an access holds itself; the rest goes to the base, which near accesses so share.
        low = self.mode.offset(address.constant)
        base = affine(address.constant - low, outside)
        if not inside:
            return self._access(self._loop_invariant(base), None, 1, low)
        if not others:
            scale = next(s for s in self.mode.scales if all(c % s == 0 for c in counted.values()))
            index = self._index(affine(0, {atom: c // scale for atom, c in counted.items()}), basic)
            return self._access(self._loop_invariant(base), index, scale, low)
        # Two gathered values need an addition in any case; the mode saves nothing.
        if len(others) != 1 or (coefficient := next(iter(others.values()))) not in self.mode.scales:
            return None
        gathered = next(iter(others))
        if counted:
            return self._access(self._moving_pointer(base, counted, basic), gathered, coefficient, low)
        return self._access(self._loop_invariant(base), gathered, coefficient, low)

    def _access(self, base: Operand, index: Operand | None, scale: int, low: int) -> Operand | None:
        address = self.source.address
        # A pointer as the index: base and index exchange their roles, which an unscaled sum allows.
        if index is not None and (index.type == PTR or base.type != PTR):
            if scale != 1:
                return None
            is_zero = base == integer_constant(address, 0)
            base, index = index, None if is_zero else base
        if index is not None and scale != 1:
            index = self._compute("shl", index, integer_constant(address, scale.bit_length() - 1))
        if base.type != PTR:
            base = self._compute("inttoptr", base, base)
        found = base if index is None else self._compute("offset", base, index)
        return self._compute("offset", found, integer_constant(address, low)) if low else found

    def _compute(self, operation: str, a: Operand, b: Operand) -> Value:
        """In the loop; what is there already is taken."""
        if (operation, a, b) not in self.computed:
            result = Value(self.fresh("at"), PTR if operation in ("offset", "inttoptr") else self.source.address)
            operands = (a,) if operation == "inttoptr" else (a, b)
            self.line.append(Instruction(operation, operands, (result,)))
            self.computed[operation, a, b] = result
        return self.computed[operation, a, b]

    def _loop_invariant(self, wanted: Affine) -> Operand:
        """A value made before the loop."""
        if wanted not in self.made:
            self.made[wanted] = materialize(wanted, self.head, self.fresh, self.source.address)
        return self.made[wanted]

    def _begin(self, wanted: Affine) -> Affine:
        """What a form over induction variables is as the loop begins."""
        first = initial_values(self.source, self.loop)
        forms = AffineForms(self.source, entry_edge(self.source, self.loop)[0])
        found = Affine(wanted.constant)
        for atom, coefficient in wanted.terms:
            assert isinstance(atom, Value)
            found = found + forms.form(first[atom]) * coefficient
        return found

    def _index(self, wanted: Affine, basic: Mapping[Value, int]) -> Operand:
        """A variable that is the form over induction variables."""
        if len(wanted.terms) == 1 and wanted.terms[0][1] == 1:
            return wanted.terms[0][0]
        if wanted not in self.variables:
            self._add(wanted, "k", self._loop_invariant(self._begin(wanted)), wanted, basic)
        return self.variables[wanted]

    def _moving_pointer(self, base: Affine, counted: Mapping[Value, int], basic: Mapping[Value, int]) -> Operand:
        varying = affine(0, counted.items())
        if base + varying not in self.variables:
            self._add(base + varying, "p", self._loop_invariant(base + self._begin(varying)), varying, basic)
        return self.variables[base + varying]

    def _add(self, key: Affine, name: str, first: Operand, varying: Affine, basic: Mapping[Value, int]) -> None:
        # Modulo the width of an address: steps are signed where they can be.
        step = sum(basic[atom] * c for atom, c in varying.terms if isinstance(atom, Value))
        self.variables[key] = Value(self.fresh(name), first.type)
        self.added.append((self.variables[key], first, sign_extend(step, self.source.pointers)))
