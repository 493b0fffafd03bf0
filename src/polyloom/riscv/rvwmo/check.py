# SPDX-License-Identifier: Apache-2.0
"""Litmus test simulation: which final states the memory model allows, and whether the test's condition holds (Alglave,
Maranget and Tautschnig 2014).

The pipeline: text -> `reader` -> `unfold` (paths of each hart) -> for each combination of paths `executions` (which
uses `ppo` and `coherence`) -> final states, counted inside and outside of the proposition, after the filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from polyloom.diagnostics import PolyloomError, Source, infeasible, input_error, nearest
from polyloom.riscv.rvwmo.executions import Outcome, allowed_outcomes
from polyloom.riscv.rvwmo.litmus import Equal, Litmus, Place, Quantifier, Register, holds, mentioned_places
from polyloom.riscv.rvwmo.path import Operation, Path
from polyloom.riscv.rvwmo.reader import read_litmus
from polyloom.riscv.rvwmo.unfold import Hart
from polyloom.riscv.rvwmo.values import Constant, Pointer, UndefinedError, signed, unsigned

MAX_EXECUTIONS: Final = 5_000_000
_SIZES: Final[Mapping[str, int]] = {"char": 1, "short": 2, "int": 4, "long": 8, "intptr_t": 8, "uintptr_t": 8}
_TYPES: Final[Mapping[str, int]] = {**_SIZES, **{f"{u}int{8 * n}_t": n for u in ("", "u") for n in (1, 2, 4, 8)}}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a test: sorted final states, the numbers of executions inside (`positive`) and outside of the
    proposition, whether the condition with its quantifier holds, and whether a loop was cut (then longer executions are
    not counted).
    """

    name: str
    states: tuple[str, ...]
    positive: int
    negative: int
    quantifier: Quantifier
    cut: bool = False

    @property
    def verdict(self) -> Literal["Never", "Sometimes", "Always"]:
        return "Never" if self.positive == 0 else "Always" if self.negative == 0 else "Sometimes"

    @property
    def condition_holds(self) -> bool:
        return {"exists": self.positive > 0, "forall": self.negative == 0, "~exists": self.positive == 0}[
            self.quantifier
        ]


def check_text(text: str, name: str = "<litmus>", max_executions: int = MAX_EXECUTIONS) -> Verdict:
    """Verdict on the test in `text`, which messages call `name`. Errors: PL0902 to PL0904, PL0940 to PL0945."""
    return judge(read_litmus(Source(name, text)), max_executions)


def judge(test: Litmus, max_executions: int = MAX_EXECUTIONS) -> Verdict:
    """Verdict on a parsed test; at most `max_executions` candidates are examined (PL0944)."""
    try:
        return _Judge(test, max_executions).verdict()
    except UndefinedError as reason:
        help = "addresses are only added to, subtracted, selected and compared for equality"
        raise input_error("PL0943", f"{test.name}: {reason} has no meaning in a test", help=help) from None


class _Judge:
    """One test on its way to a verdict: its locations, what is observed, the paths of its harts, and the budget of
    work.
    """

    def __init__(self, test: Litmus, max_executions: int) -> None:
        self._test = test
        self._limit = self._budget = min(
            max_executions, 1 << 40
        )  # more than anybody waits for, and the native count holds it
        _check_declarations(test)
        self._names = _location_names(test)
        self._shown = mentioned_places(test.condition) | frozenset(test.locations)
        self._observed = self._shown | (mentioned_places(test.filter) if test.filter else frozenset[Place]())
        for place in sorted(self._observed, key=str):
            self._check_place(place)
        self._paths = [list(Hart(test, hart, self._names).paths(self._count)) for hart in range(len(test.harts))]

    def verdict(self) -> Verdict:
        states: set[str] = set()
        counts = {True: 0, False: 0}
        cut = False
        # Each hart's control flow is fixed first: an execution then has a fixed list of operations, and what is left is
        # who reads from whom.
        for paths in product(*self._paths):
            self._count(1)
            layout = _initial_accesses(paths)
            for outcome, number in self._outcomes(paths, layout):
                # Only now: a fault on a path that no execution takes is no error of the test.
                if fault := next((path.fault for path in paths if path.fault is not None), None):
                    raise PolyloomError(fault)
                self._check_layout(paths, layout)
                if any(path.cut for path in paths):
                    cut = True
                    continue
                final = {place: self._final_value(place, paths, outcome, layout) for place in self._observed}
                if self._test.filter is None or holds(self._test.filter, _equality(final)):
                    states.add(_state_text({place: final[place] for place in self._shown}))
                    counts[holds(self._test.condition, _equality(final))] += number
        return Verdict(self._test.name, tuple(sorted(states)), counts[True], counts[False], self._test.quantifier, cut)

    def _outcomes(self, paths: tuple[Path, ...], layout: Layout) -> Iterator[tuple[Outcome, int]]:
        """Outcomes of the allowed executions of one path per hart, with their numbers."""
        initial = {name: self._initial_value(name, layout) for name in self._names}
        registers = [
            paths[place.hart].registers[place.number] for place in self._observed if isinstance(place, Register)
        ]
        memory = frozenset(place for place in self._observed if isinstance(place, str))
        return allowed_outcomes(paths, initial, registers, memory, self._count)

    def _count(self, candidates: int) -> int:
        """Charges work to the budget, and returns what is left. Errors: PL0944."""
        # Work is counted where it is done, so that the limit ends a test in any of its stages.
        self._budget -= candidates
        if self._budget < 0:
            help = "observe fewer registers, or give more with --max-executions N"
            raise infeasible("PL0944", f"{self._test.name}: more than {self._limit} candidate executions", help=help)
        return self._budget

    def _check_place(self, place: Place) -> None:
        if isinstance(place, Register) and place.hart not in range(len(self._test.harts)):
            raise input_error(
                "PL0941", f"the test has no hart {place.hart}", help=f"the harts are P0 to P{len(self._test.harts) - 1}"
            )
        if isinstance(place, str) and place not in self._names:
            span = next((e.span for e in _equations(self._test) if e.place == place), None)
            raise input_error(
                "PL0941",
                f"the test has no location '{place}'",
                span=span,
                help=nearest(place, sorted(self._names), "location"),
            )

    def _check_layout(self, paths: tuple[Path, ...], layout: Layout) -> None:
        """Refuses mixed-size accesses: every location is accessed at one offset with one width, within its type.
        Errors: PL0942.
        """
        for operation in (operation for path in paths for operation in path.operations):
            name, (offset, width) = operation.location, operation.place
            first = layout[name]
            size = _declared_value(self._test, name)[1] or 8
            if first.place != operation.place:
                what = (
                    f"with {first.place[1]} and with {width} bytes"
                    if first.place[0] == offset
                    else f"at offsets {first.place[0]} and {offset}"
                )
                raise _mixed_size_error(f"'{name}' is accessed {what}", operation)
            if offset or width > size:
                raise _mixed_size_error(
                    f"'{name}' has {size} bytes, and {width} bytes at offset {offset} are accessed", operation
                )

    def _initial_value(self, name: str, layout: Layout) -> Constant:
        """What a load reads of the initial value."""
        value, _ = _declared_value(self._test, name)
        return signed(value, 8 * layout[name].place[1]) if isinstance(value, int) and name in layout else value

    def _final_value(self, place: Place, paths: tuple[Path, ...], outcome: Outcome, layout: Layout) -> Constant:
        if isinstance(place, Register):
            value = outcome.register(paths[place.hart].registers[place.number])
            assert value is not None
            return value
        value = outcome.register(outcome.memory[place])
        assert value is not None
        return self._extend_location(place, value, layout)

    def _extend_location(self, name: str, value: Constant, layout: Layout) -> Constant:
        """Value of a location as wide as its type: a narrower access leaves the upper bytes as they were."""
        before, size = _declared_value(self._test, name)
        if isinstance(value, Pointer) or isinstance(before, Pointer) or name not in layout:
            return value
        width = layout[name].place[1]
        bits = 8 * (size or max(4, width))
        # Little endian: the narrow access covers the low bytes.
        upper = unsigned(before, bits) >> 8 * width << 8 * width
        return signed(upper | unsigned(value, 8 * width), bits)


Layout = Mapping[str, Operation]
"""By location, its first access."""


def _initial_accesses(paths: tuple[Path, ...]) -> Layout:
    # Backwards, so that the first access of each location is the one that stays.
    return {operation.location: operation for path in reversed(paths) for operation in reversed(path.operations)}


def _mixed_size_error(message: str, operation: Operation) -> PolyloomError:
    help = "accesses of mixed sizes are not modelled: use one width and one offset for each location"
    return input_error("PL0942", message, span=operation.span, help=help)


def _check_declarations(test: Litmus) -> None:
    """Checks that types are known, and that no place has two initial values. Errors: PL0941."""
    given: set[Place] = set()
    for declaration in test.declarations:
        if declaration.type is not None and declaration.type not in _TYPES:
            help = nearest(declaration.type, _TYPES, "type")
            raise input_error("PL0941", f"there is no type '{declaration.type}'", span=declaration.span, help=help)
        if declaration.value is not None and declaration.place in given:
            raise input_error(
                "PL0941", f"{declaration.place} has two initial values", span=declaration.span, help="give it one"
            )
        if declaration.value is not None:
            given.add(declaration.place)


def _location_names(test: Litmus) -> frozenset[str]:
    """Every location that a declaration names, or gives the address of."""
    named = {d.place for d in test.declarations if isinstance(d.place, str)}
    pointed = {d.value.name for d in test.declarations if isinstance(d.value, Pointer) and ":" not in d.value.name}
    return frozenset(named | pointed)


def _declared_value(test: Litmus, name: str) -> tuple[Constant, int | None]:
    """Initial value and bytes of a location; None where no type is given."""
    value: Constant = 0
    size: int | None = None
    for declaration in test.declarations:
        if declaration.place == name:
            value = declaration.value if declaration.value is not None else value
            size = 8 if declaration.pointer else _TYPES.get(declaration.type or "") or size
    return value, size


def _equations(test: Litmus) -> list[Equal]:
    found: list[Equal] = []

    def note(equation: Equal) -> bool:
        found.append(equation)
        return True

    for proposition in (test.condition, test.filter):
        if proposition is not None:
            holds(proposition, note)
    return found


def _equality(final: Mapping[Place, Constant]) -> Callable[[Equal], bool]:
    """Equality of final values with a constant, which may be written without a sign at 32 or 64 bits."""

    def equals(equation: Equal) -> bool:
        value, constant = final[equation.place], equation.value
        if isinstance(value, Pointer) or isinstance(constant, Pointer):
            return value == constant
        # A condition may write 0xffffffff for the word -1.
        return value == constant or (constant >= 1 << 31 and value == signed(constant, 32))

    return equals


def _state_text(final: Mapping[Place, Constant]) -> str:
    """`0:x5=1; [x]=2;`: registers by hart and number, then memory by name."""
    registers = sorted(place for place in final if isinstance(place, Register))
    memory = sorted(place for place in final if isinstance(place, str))
    return " ".join(
        [*(f"{place}={final[place]};" for place in registers), *(f"[{place}]={final[place]};" for place in memory)]
    )
