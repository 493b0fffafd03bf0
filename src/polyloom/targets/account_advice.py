# SPDX-License-Identifier: Apache-2.0
"""Advice of an account: the greatest class of lost unit-cycles as a sentence with figures, and what to change.

A target that knows better, such as which size would divide, gives its own sentence for a class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from polyloom.targets.account import Account, Category

_REMEDIES: Final[Mapping[Category, str]] = {
    "work": "only less work, or more units, makes it faster",
    "dependence": "iterations that do not wait for each other would fill these slots: another order of loops, or "
    "several partial sums",
    "full unit": "less work for that unit, or more units of its kind, would shorten the loop",
    "memory": "fewer or later used accesses, smaller blocks, or data that stay near would shorten the waits",
    "synchronisation": "larger parts between two meetings, or more buffers, would make the waits rarer",
    "front": "longer loop bodies, unrolled or vectorized, would have fewer jumps",
    "imbalance": "a size that the units divide would use them all",
    "fill and drain": "larger sizes, or fewer units, would make start and end a smaller share",
    "configuration": "larger blocks, or more runs with one configuration, would spread it",
}
_SURE: Final = 0.03
"""Share from which on a target's own sentence is told, even where another loss is larger."""
_LEAST: Final = 0.02
"""Share of the unit-cycles from which on a loss is worth a change."""


def largest_loss(account: Account) -> Category:
    """Class other than work with the most unit-cycles, or work where nothing else is worth a change."""
    least = _LEAST * account.unit_cycles
    losses: dict[Category, int] = {c: n for c, n in account.categories.items() if c != "work" and n >= least}
    found: Category = max(losses, key=lambda category: losses[category]) if losses else "work"
    return found


def advise(account: Account, known: Mapping[Category, str] | None = None) -> str:
    """What to change: a target's own sentences, `known` by class, of losses that are worth it, and one about the
    largest loss.
    """
    if not account.unit_cycles:
        return "nothing ran"
    sure = [
        f"{percent(account, unit_cycles)} {category}: {known[category]}"
        for category, unit_cycles in account.categories.items()
        if known and category in known and account.share(unit_cycles) >= _SURE
    ]
    # What a user can change at once comes before what is largest.
    return "; ".join([*sure, _general(account)])


def _general(account: Account) -> str:
    """Sentence about the largest loss."""
    category = largest_loss(account)
    unit_cycles = account.categories.get(category, 0)
    detail = next(iter(account.details(category)), "")
    # Of work the share is of all kinds, so that none of them is named.
    named = f" ({detail})" if detail and category != "work" else ""
    return f"{percent(account, unit_cycles)} {category}{named}: {_REMEDIES[category]}"


def binding_loss(account: Account) -> str | None:
    """What binds a run: its largest loss with its greatest detail, or the work; None where nothing ran."""
    if not account.unit_cycles:
        return None
    category = largest_loss(account)
    detail = next(iter(account.details(category)), "")
    named = f": {detail}" if detail else ""
    return f"{category}{named}, {percent(account, account.categories.get(category, 0))} of the unit-{account.counts}"


def percent(account: Account, unit_cycles: int) -> str:
    """Share of all unit-cycles in per cent, with a digit behind the point below ten."""
    share = 100 * account.share(unit_cycles)
    return f"{share:.0f} %" if share >= 10 or not share else f"{share:.1f} %"
