# SPDX-License-Identifier: Apache-2.0
"""Sources of the verbs that read one: how the file is read, and the values of its parameters and scalars."""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.cli.arguments import Request
from polyloom.frontend.source import Options
from polyloom.ir.signature import Signature
from polyloom.run import inputs


def ssa_level(request: Request) -> int:
    """What `level_option` declared, 1 where it is not said."""
    return int(request.level or 1)


def reading_options(request: Request) -> Options:
    """What `operand` declared."""
    return Options(
        request.function,
        tuple(request.includes),
        tuple(request.defines),
        tuple(request.shapes),
        request.single_constants,
        request.reassociate,
        tuple(request.companions),
        tuple(name for names in request.ignore for name in names.split(",") if name),
        tuple(request.values),
        data=tuple(request.data),
    )


def parameter_values(words: Mapping[str, str], signature: Signature) -> tuple[dict[str, int], dict[str, str]]:
    """Parameters that are no arguments, and texts of scalars, both checked. Errors: PL0230, PL0232, PL0804, PL0819."""
    checked, scalars = inputs.read_values(signature, words)
    own = {name: value for name, value in checked.items() if signature.argument(name) is None}
    return own, {name: words[name] for name in scalars}
