# SPDX-License-Identifier: Apache-2.0
"""Pass manager: a pipeline as a list of named passes, and who watches it: a verifier between passes, and forms after
some of them, as text.

A pass is a function from one value to the next, with the `Form` of what it gives: how that prints, and what checks it.

    passes = (Pass("dce", dce, SSA), Pass("lower", lower, CODE))
    code = run_passes(function, passes, Watch(after=frozenset({"dce"})))

Nothing is hidden here: the order is that of the list. Forms are verified where `POLYLOOM_VERIFY_EACH` is 1 in the
environment, as in all tests, or where a `Watch` says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final, Generic, TypeVar

from polyloom.diagnostics import INTERNAL, USAGE, Diagnostic, PolyloomError

A = TypeVar("A")
B = TypeVar("B")
ALL: Final = "all"
"""Stands for every pass."""
VARIABLE: Final = "POLYLOOM_VERIFY_EACH"


@dataclass(frozen=True, slots=True)
class Form(Generic[A]):
    """Form that stands between passes: how it prints, and what raises where it is not well formed."""

    show: Callable[[A], str]
    verify: Callable[[A], object]


@dataclass(frozen=True, slots=True)
class Pass(Generic[A, B]):
    """Pass: `function` makes a value of the form. Names are words of a command line, and unique in a target's
    pipelines."""

    name: str
    function: Callable[[A], B]
    form: Form[B]


def _verifies() -> bool:
    return os.environ.get(VARIABLE) == "1"


@dataclass(slots=True)
class Watch:
    """Observer of passes, mutable: `texts` has (pass, text) of the passes in `after`, as they ran. `verify` checks
    every form."""

    verify: bool = field(default_factory=_verifies)
    after: frozenset[str] = frozenset()
    texts: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def observe(self, name: str, value: A, form: Form[A], *, is_known: bool = False) -> None:
        """Observe a value after a pass. An ill-formed value is the pass's fault, which is then named; one that
        `is_known` was observed in this form before."""
        if self.verify and not is_known:
            _check_form(name, value, form)
        if name in self.after or ALL in self.after:
            self.texts.append((name, form.show(value)))

    def fork(self) -> Watch:
        """Observer for a way that may not be taken; `join` adds what it saw."""
        return Watch(self.verify, self.after)

    def join(self, other: Watch) -> None:
        self.texts += other.texts

    def collect_texts(self) -> list[tuple[str, str]]:
        """Texts by pass: of what ran several times, once for each part of a program, one behind the other."""
        found: dict[str, list[str]] = {}
        for name, text in self.texts:
            found.setdefault(name, []).append(text.rstrip("\n"))
        return [(name, "\n\n".join(texts) + "\n") for name, texts in found.items()]


def _check_form(name: str, value: A, form: Form[A]) -> None:
    """Check a form; PL0977, an internal error: no input may make a pass leave an ill-formed value."""
    try:
        form.verify(value)
    except PolyloomError as error:
        first = error.diagnostics[0]
        message = f"the pass {name} leaves what is not well formed: {first.message}"
        notes = tuple(other.message for other in error.diagnostics[1:])
        found = Diagnostic("PL0977", message, INTERNAL, span=first.span, notes=notes, help=_REPORT)
        raise PolyloomError(found) from None


_REPORT: Final = "this is a bug of Polyloom: please report it with the program"


def run_passes(value: Any, passes: Sequence[Pass[Any, Any]], watch: Watch | None = None) -> Any:
    """Run passes in their order: the value after all of them; `watch` sees it after each. Raises PL0977 where a
    verifier refuses it."""
    watch, form = watch or Watch(), None
    for each in passes:
        made = each.function(value)
        # Values are immutable: what a pass leaves as it was is as well formed as before.
        watch.observe(each.name, made, each.form, is_known=made is value and each.form is form)
        value, form = made, each.form
    return value


def select_passes(names: Iterable[str], known: Sequence[str]) -> frozenset[str]:
    """Passes that a user names, for `Watch.after`; PL0976 for one that there is not."""
    found = frozenset(names)
    # Sorted: a set has no order, and messages must be the same in every run.
    for name in sorted(found - {ALL}):
        if name not in known:
            message = f"there is no pass '{name}'"
            raise PolyloomError(Diagnostic("PL0976", message, USAGE, help=_passes_help(name, known)))
    return found


def _passes_help(name: str, known: Sequence[str]) -> str:
    """Help: the nearest ones, and all in their order."""
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    asked = f"did you mean {' or '.join(near)}? " if near else ""
    return f"{asked}The passes are {', '.join(known)}; `{ALL}` stands for every one"
