# SPDX-License-Identifier: Apache-2.0
"""Courses of loops: the values that induction variables and wrap-around variables have in each turn (Gerlek, Stoltz,
Wolfe, "Beyond Induction Variables", TOPLAS 1995, sections 4.1 and 4.2), as affine forms or sums of products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from polyloom.frontend.loops.affine import Scope
from polyloom.frontend.loops.counters import Form, Values, known_value, monomials
from polyloom.frontend.loops.elements import times, total
from polyloom.names import hidden_name
from polyloom.sets import Affine


def _value_at_turn(first: Form, turn: Affine, step: Affine) -> Form:
    """The value of a variable that grows by the same amount in every turn."""
    if isinstance(first, Affine) and (turn.is_constant or step.is_constant):
        return first + (step * turn.constant if turn.is_constant else turn * step.constant)
    grown = total(monomials(first), times(monomials(turn), monomials(step)))
    # Where the product cancels or is of constants, the sum is affine again.
    if all(len(m) <= 1 for m in grown):
        return Affine.from_terms({m[0]: c for m, c in grown.items() if m}, grown.get((), 0))
    return grown


@dataclass(frozen=True, slots=True)
class Course:
    """Course of a loop's induction variables: how often the loop runs, as an affine form where that is known, and by
    how much each variable grows in a turn. `carried` are wrap-around variables (Gerlek, Stoltz and Wolfe 1995, section
    4.2): each has behind a turn a form that does not depend on itself, over hidden names of the others before that turn
    and over `own`, the loop's variable; `depth` are the turns after which all of them do.
    """

    count: Affine | None
    steps: Mapping[str, Affine | None]
    carried: Mapping[str, Affine] = field(default_factory=dict[str, Affine])
    depth: int = 0
    own: Affine = field(default_factory=Affine)
    step: int = 1

    def turn_values(self, turn: Affine | None, scope: Scope) -> Values:
        """The values before a turn, counted from 0, where they were those of `scope` before the loop; those of
        wrap-around variables hold from turn `depth` on.
        """
        found = dict[str, Form | None]()
        for name, step in self.steps.items():
            first = known_value(scope, name)
            if first is None or step is None:
                found[name] = None
            elif step == Affine():
                found[name] = first
            else:
                found[name] = None if turn is None else _value_at_turn(first, turn, step)
        return found

    def values_at_start(self, turn: Affine | None, value: Affine, scope: Scope) -> Values:
        """The values before a turn in which the loop's variable has a value."""
        found = dict(self.turn_values(turn, scope))
        if turn is None or not self.carried or len(self.own.terms) != 1 or self.own.terms[0][1] not in (1, -1):
            return found
        earlier = self.turn_values(turn - 1, scope)
        for name in self.carried:
            found[name] = self._wrap_around_form(name, turn - 1, value - self.step, earlier, scope)
        return found

    def _wrap_around_form(self, name: str, turn: Affine, value: Affine, at: Values, scope: Scope) -> Affine | None:
        """The form of a wrap-around variable behind a turn."""
        form, symbol = self.carried[name], self.own.terms[0]
        known: dict[str, Affine] = {symbol[0]: (value - self.own.constant) * symbol[1]}
        for other in self.steps:
            if hidden_name(other) not in form.symbols:
                continue
            if other in self.carried:
                inner = self._wrap_around_form(
                    other, turn - 1, value - self.step, self.turn_values(turn - 1, scope), scope
                )
            else:
                inner = at[other]
            if not isinstance(inner, Affine):
                return None
            known[hidden_name(other)] = inner
        return form.substitute(known)
