# SPDX-License-Identifier: Apache-2.0
"""Options of the Tensix target: the form of raw words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyloom.diagnostics import USAGE, Diagnostic, PolyloomError, nearest
from polyloom.targets.options import option
from polyloom.targets.tensix.encode import FORMS, Form


def _form(text: Any) -> Form:
    found: Form | None = next((form for form in FORMS if form == text), None)
    if found is None:
        message = f"--form is '{text}', which is no form of words"
        raise PolyloomError(Diagnostic("PL0801", message, USAGE, help=nearest(text, FORMS, "form")))
    return found


@dataclass(frozen=True, slots=True)
class Options:
    """`form`: raw words as the coprocessor has them, or as a core fetches them, rotated left by two."""

    form: Form = option(
        "raw words as pushed (tensix), or rotated as a core fetches them (riscv)",
        *("asm", "show", "verify"),
        default="tensix",
        metavar="tensix|riscv",
        read=_form,
    )
