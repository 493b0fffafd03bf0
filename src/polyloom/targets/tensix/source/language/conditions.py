# SPDX-License-Identifier: Apache-2.0
"""Conditions of Python kernels: the markers that a user writes, and what they become (`rewrite.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from polyloom.targets.tensix.source.language.trace import current_tracer, user_error
from polyloom.targets.tensix.source.language.values import (
    Condition,
    Vector,
    describe_type,
    read_value,
    to_condition,
    to_operand,
    vfloat,
)


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker in a `with` of a kernel, whose text is rewritten; used otherwise it is an error."""

    name: str
    takes: int
    form: str

    def __call__(self, *_: object) -> NoReturn:
        raise self._wrong()

    def __enter__(self) -> NoReturn:
        raise self._wrong()

    def __exit__(self, *_: object) -> None: ...

    def _wrong(self) -> Exception:
        help = (
            f"write `{self.form}` in a function under `@pl.tensix.kernel`, or under `@pl.tensix.function` where "
            "kernels call it"
        )
        return user_error("PL1252", f"`{self.name}` is no `with` of a vector kernel here", help)


v_if = Marker("v_if", 1, "with pl.v_if(a < b):")
v_elseif = Marker("v_elseif", 1, "with pl.v_elseif(a < b):")
v_else = Marker("v_else", 0, "with pl.v_else:")
v_block = Marker("v_block", 0, "with pl.v_block():")


def v_and(given: object) -> None:
    """Narrowing of the lanes until the innermost condition or block ends."""
    if not current_tracer().depth:
        raise user_error("PL1252", "`v_and` outside of `v_if` and `v_block`", "open a block: `with pl.v_block():`")
    current_tracer().effect("and_", to_condition(given).value)


class Chain:
    """Context of a frame, left on any way. (A generator would be a file of Python's between here and the user's
    line.)"""

    def __enter__(self) -> None:
        tracer = current_tracer()
        tracer.effect("push")
        tracer.depth += 1

    def __exit__(self, *_: object) -> None:
        tracer = current_tracer()
        tracer.depth -= 1
        tracer.effect("pop")


def chain() -> Chain:
    return Chain()


def cond(given: object) -> None:
    current_tracer().effect("cond", to_condition(given).value)


def else_() -> None:
    current_tracer().effect("else_")


def assign(name: str, old: Callable[[], object], new: object) -> object:
    """Assignment to a name: within a condition, a merge of what it had and the new value."""
    made = _merge_assignment(old, read_value(new))
    if isinstance(made, Vector):
        current_tracer().names.setdefault(made.value.name, name)
    return made


def _merge_assignment(old: Callable[[], object], new: object) -> object:
    if not current_tracer().depth:
        return new
    try:
        was = read_value(old())
    # The old value is read by a lambda, so that a name without one raises here, and not in the user's code.
    except NameError:  # a definition
        return new
    if not isinstance(was, Vector) and not isinstance(new, Vector):
        if isinstance(was, Condition):
            raise user_error("PL1251", "a condition is assigned within a condition", "use a `pl.vint`")
        return new
    return _merge_lanes(was, new)


def _merge_lanes(was: object, new: object) -> object:
    if not isinstance(was, Vector):
        if not isinstance(was, int | float):
            return new
        # A number becomes a vector when a vector is assigned to its name under a condition.
        was = type(new)(was) if isinstance(new, Vector) else was
    assert isinstance(was, Vector)
    kind = vfloat if isinstance(was, vfloat) else type(was)
    if isinstance(new, Vector) and not isinstance(new, kind):
        raise user_error(
            "PL1251", f"{describe_type(new)} is assigned to {describe_type(was)}", "give it another name, or convert it"
        )
    return kind.of(current_tracer().call("assign", was.value, to_operand(kind, new)))


def assign_all(names: Sequence[str], old: Sequence[Callable[[], object]], new: Sequence[object]) -> tuple[object, ...]:
    """Assignments to a tuple of names."""
    return tuple(assign(name, was, value) for name, was, value in zip(names, old, new, strict=True))
