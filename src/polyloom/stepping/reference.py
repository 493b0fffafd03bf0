# SPDX-License-Identifier: Apache-2.0
"""Reference of a debugged run: every value that the source stores, in its own order and the machine's own arithmetic,
and which of them a machine's stored value is.

The source's loops are interpreted once, before the run. A machine may store an element less often than the source does,
for optimization keeps sums in registers, but in the same order (output dependences): a stored value is matched with the
first equal one that the source stores into this element from the last match on. Where there is none, it is wrong. What
the source stores and the machine never shows has no counterpart; it is counted. Where the loops are not known, or where
they store more than `MOST` values, the outputs of the subject's oracle stand for the last value of each element.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from polyloom.diagnostics import PolyloomError
from polyloom.frontend.source import Arrays
from polyloom.ir.nest import Assign, Nest
from polyloom.ir.nest_interpret import interpret_stores
from polyloom.recursion import with_deep_stack
from polyloom.targets.provenance import Provenance, provenance
from polyloom.targets.stepper import Event, StoredElement
from polyloom.targets.subject import Subject

MOST: Final = 2_000_000
"""Stored values of a reference; some hundred bytes each."""
Element = tuple[str, tuple[int, ...]]
Iteration = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Instance:
    """Value that the source stores: by which statement, where, in which iteration."""

    statement: str
    iteration: Iteration
    value: Any
    place: Provenance | None


@dataclass(frozen=True, slots=True)
class Match:
    """Value of the machine beside what the source has: `instance` is None where nothing stored there is equal, and then
    `expected` what the source would store next. One `is_inside` was computed and not stored: that it differs is a
    suspicion, for the compiler may have computed the statement in another way.
    """

    stored: StoredElement
    instance: Instance | None
    expected: Instance | None = None
    is_inside: bool = False
    # Which of the element's values it is, or should be.
    number: int = -1

    @property
    def is_wrong(self) -> bool:
        return self.instance is None


@dataclass(slots=True)  # a run moves it
class Cursor:
    """Cursor of a run in a reference: of each element how many of its values are past, and of each value whether it has
    had a counterpart.
    """

    past: array[int]
    met: bytearray
    # Of prints (`prints.py`): of each element how many values are past for them.
    told: array[int]

    @property
    def bytes(self) -> int:
        return 2 * self.past.itemsize * len(self.past) + len(self.met)

    @property
    def count(self) -> int:
        """Values of arguments that have had a counterpart in what was stored, or inside the machine."""
        return self.met.count(1)

    def copy(self) -> Cursor:
        return Cursor(self.past[:], self.met[:], self.told[:])


@dataclass(slots=True)  # filled by the interpreter of the source
class Reference:
    """Stored values of the source by element, in its order; `is_complete` where they are all of them, not the last
    alone. `bounds` are by how much the last values may be missed.
    """

    elements: dict[Element, list[Instance]] = field(default_factory=dict[Element, list[Instance]])
    is_complete: bool = True
    bounds: Mapping[str, Any] = field(default_factory=dict[str, Any])
    _places: dict[str, Provenance | None] = field(default_factory=dict[str, Provenance | None])
    _loops: dict[str, None] = field(default_factory=dict[str, None])
    count: int = 0
    order: list[tuple[Element, int]] = field(default_factory=list[tuple[Element, int]])
    """Stored values in the order of the source."""
    # Variables of the source, which are no outputs: followed for prints alone.
    variables: frozenset[str] = frozenset()
    # By element: its number, and that of its first value.
    _numbers: dict[Element, tuple[int, int]] = field(default_factory=dict[Element, tuple[int, int]])
    # By statement and iteration: the element, and which of its values it is.
    _instances: dict[tuple[str, Iteration], tuple[Element, int]] = field(
        default_factory=dict[tuple[str, Iteration], tuple[Element, int]]
    )
    _statement_loops: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def note(self, assign: Assign, iteration: Iteration, index: tuple[int, ...], value: Any) -> None:
        """Stored value of the interpreter. Errors: MemoryError beyond `MOST`."""
        self.count += assign.target.name not in self.variables
        if len(self.order) >= MOST:
            raise MemoryError
        # Once for each statement, as places are looked up in the text.
        if assign.name not in self._places:
            self._places[assign.name] = provenance(assign.span)
            self._loops |= dict.fromkeys(name for name, _ in iteration)
        made = Instance(assign.name, iteration, value, self._places[assign.name])
        known = self.elements.setdefault((assign.target.name, index), [])
        self.order.append(((assign.target.name, index), len(known)))
        known.append(made)

    def number(self, element: Element) -> int:
        """Number of an element, after `open_cursor`."""
        return self._numbers[element][0]

    def slot(self, element: Element, n: int) -> int:
        """Number of a stored value."""
        return self._numbers[element][1] + n

    @property
    def loops(self) -> tuple[str, ...]:
        """Names of the loops around what is stored."""
        return tuple(self._loops)

    def open_cursor(self) -> Cursor:
        """Cursor at the start of a run; the reference is complete by then."""
        first = 0
        for number, (element, known) in enumerate(self.elements.items()):
            self._numbers[element] = number, first
            first += len(known)
        # A 32-bit integer for each element: there are at most `MOST` values.
        zeros = array("i", bytes(4 * len(self.elements)))
        return Cursor(zeros, bytearray(first), zeros[:])

    def match(self, event: Event, cursor: Cursor) -> tuple[Match, ...]:
        """Counterparts of what an event has stored, or has computed as the value of a statement."""
        # Of last values alone nothing follows for a partial sum that is stored before.
        if not self.is_complete or not (event.stores or event.statement):
            return ()
        if event.statement:
            found = self._match_statement(event, cursor)
            return () if found is None else (found,)
        return tuple(found for stored in event.stores if (found := self._match(stored, cursor)) is not None)

    def _match(self, stored: StoredElement, cursor: Cursor) -> Match | None:
        element = stored.array, stored.index
        known = self.elements.get(element)
        if known is None:
            # The source stores nothing there: an array of the compiler's, or an element that the machine writes back.
            return None
        number, first = self._numbers[element]
        # From the last match itself on: a machine may write the same value twice, as partial tiles do.
        start = cursor.past[number]
        for n in range(max(start - 1, 0), len(known)):
            if is_equal(known[n].value, stored.value):
                cursor.past[number] = n + 1
                cursor.met[first + n] = 1
                return Match(stored, known[n], number=n)
        expected = min(start, len(known) - 1)
        return Match(stored, None, known[expected], number=expected)

    def find_instance(self, statement: str, iteration: Iteration) -> tuple[Element, int] | None:
        """What a statement stores in an iteration, which may have more loops than those of the statement: the element,
        and which of its values it is.
        """
        if not self._instances:
            for element, known in self.elements.items():
                for n, made in enumerate(known):
                    self._instances[made.statement, made.iteration] = element, n
                    self._statement_loops.setdefault(made.statement, tuple(name for name, _ in made.iteration))
        loops = self._statement_loops.get(statement)
        own = None if loops is None else _statement_iteration(loops, iteration)
        return None if own is None else self._instances.get((statement, own))

    def _match_statement(self, event: Event, cursor: Cursor) -> Match | None:
        """Counterpart of a value that stays inside: of its own statement and iteration alone."""
        found = self.find_instance(event.statement, event.iteration)
        if found is None:
            return None
        (name, index), n = found
        expected = self.elements[name, index][n]
        stored = StoredElement(name, index, event.result)
        if not is_equal(expected.value, event.result):
            return Match(stored, None, expected, True, n)
        # 2: a variable is none of the values that are counted.
        cursor.met[self.slot((name, index), n)] = 2 if name in self.variables else 1
        return Match(stored, expected, None, True, n)

    def list_missing(self, arrays: Arrays) -> list[tuple[Element, Instance, Any]]:
        """Elements that do not end as the source leaves them, with the values that they have."""
        found = list[tuple[Element, Instance, Any]]()
        for (name, index), known in self.elements.items():
            if name in arrays and not self._is_close(name, index, known[-1].value, arrays[name][index]):
                found.append(((name, index), known[-1], arrays[name][index]))
        return found

    def _is_close(self, name: str, index: tuple[int, ...], expected: Any, value: Any) -> bool:
        bound = self.bounds.get(name)
        if is_equal(expected, value) or bound is None:
            return is_equal(expected, value)
        allowed = float(bound[index])
        return bool(np.isnan(allowed) or abs(float(expected) - float(value)) <= allowed)


def _statement_iteration(loops: Sequence[str], iteration: Iteration) -> Iteration | None:
    """Iteration of a statement with these loops, in an iteration of a machine. Loops that the compiler has fused have
    the name of one of them, which differs from the others by a number behind it (`names.fresh_name`).
    """
    known, found = dict(iteration), list[tuple[str, int]]()
    others = [name for name in known if name not in loops]
    for loop in loops:
        fused = [name for name in others if _base_name(name) == _base_name(loop)]
        if loop not in known and len(fused) != 1:
            return None
        found.append((loop, known[loop if loop in known else fused[0]]))
    return tuple(found)


def _base_name(name: str) -> str:
    """`j` of `j_2`."""
    base, _, number = name.rpartition("_")
    return base if base and number.isdigit() else name


def is_equal(a: Any, b: Any) -> bool:
    """Equality bit for bit; NaNs are equal, whatever their bits."""
    # Payloads of NaNs differ between machines, as IEEE 754-2008, 6.2.3, allows.
    if a != a and b != b:
        return True
    # By bytes, because zeros of both signs compare as equal (IEEE 754, section 5.11).
    return bool(np.asarray(a, np.asarray(b).dtype).tobytes() == np.asarray(b).tobytes())


@dataclass(frozen=True, slots=True)
class SourceLoops:
    """Loops of a source with the values that they run for."""

    nest: Nest
    sizes: Mapping[str, int]
    inputs: Arrays


def source_loops(nest: Nest, values: Mapping[str, int], inputs: Arrays) -> SourceLoops:
    """Loops with values of their parameters, some of which are arguments, and the arguments that are given."""
    known = {**{name: int(inputs[name]) for name in nest.parameters if name in inputs}, **values}
    sizes = {name: known[name] for name in nest.parameters}
    given = {s.name: inputs[s.name] for s in nest.storage if s.role == "argument" and s.name in inputs}
    return SourceLoops(nest, sizes, given)


def make_reference(subject: Subject, values: Mapping[str, int], inputs: Arrays) -> Reference | None:
    """Reference of a subject for these values of its parameters and inputs; None without an oracle that decides."""
    # With bounds other orders of a sum are right, too: then no bit of what is stored on the way is certain.
    bounded = next((oracle for oracle in subject.oracles if oracle.bounds is not None), None)
    nest = subject.nest() if bounded is None and _is_exact(subject) else None
    if nest is not None:
        try:
            found, made = run_loops(nest, values, inputs, subject.observed is not None)
            # Loops may have other arithmetic than the machine, such as other floats: then its oracle decides.
            if _agrees(subject, values, inputs, made):
                return found
        except (MemoryError, PolyloomError):
            pass  # too many values, or a nest that asks for other arguments: the outputs decide
    return _final_values(subject, values, inputs)


def run_loops(nest: Nest, values: Mapping[str, int], inputs: Arrays, has_variables: bool) -> tuple[Reference, Arrays]:
    """Reference of loops in their own arithmetic, with variables of the source where prints are to be followed, and
    the outputs. Errors: MemoryError, those of the interpreter.
    """
    found, loops = Reference(), source_loops(nest, values, inputs)
    if has_variables:
        found.variables = frozenset(s.name for s in nest.storage if s.role == "local" and not s.shape)
    return found, with_deep_stack(interpret_stores)(nest, loops.sizes, loops.inputs, found.note, found.variables)


def _agrees(subject: Subject, values: Mapping[str, int], inputs: Arrays, made: Arrays) -> bool:
    """Whether the first oracle has the same outputs as the loops."""
    # Copies: oracles may compute in place.
    outputs = subject.oracles[0].outputs(values, {n: a.copy() for n, a in inputs.items()})
    return outputs is None or all(
        n in made and np.array_equal(a, made[n], equal_nan=a.dtype.kind == "f") for n, a in outputs.items()
    )


def _is_exact(subject: Subject) -> bool:
    """Whether the first oracle decides bit for bit, as the source's own loops do."""
    return bool(subject.oracles) and all(oracle.judges for oracle in subject.oracles[:1])


def _final_values(subject: Subject, values: Mapping[str, int], inputs: Arrays) -> Reference | None:
    # The first that judges is nearest to the machine; those behind it are nearer to the user.
    for oracle in subject.oracles:
        outputs = oracle.outputs(values, {n: a.copy() for n, a in inputs.items()}) if oracle.judges else None
        if outputs is not None:
            bounds: Arrays = {} if oracle.bounds is None else oracle.bounds(values, inputs, outputs)
            return Reference(_list_last_instances(outputs), False, bounds, count=sum(a.size for a in outputs.values()))
    return None


def _list_last_instances(outputs: Arrays) -> dict[Element, list[Instance]]:
    return {
        (name, index): [Instance("", (), value, None)]
        for name, array in outputs.items()
        for index, value in np.ndenumerate(array)
    }


def shown_iteration(iteration: Sequence[tuple[str, int]]) -> str:
    """`i=1 k=2`."""
    return " ".join(f"{name}={value}" for name, value in iteration)
