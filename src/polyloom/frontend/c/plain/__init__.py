# SPDX-License-Identifier: Apache-2.0
"""What C has several ways to write is brought into one, on clang's syntax tree, before anything else looks at it.

A rewriting takes a function's body and gives one that means the same. They stand here in their order; each is a file.
What a rewriting does not understand it leaves as it was, and whoever meets it refuses it at its place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from polyloom.frontend.c.plain.effects import separated
from polyloom.frontend.c.plain.jumps import without_continue
from polyloom.frontend.c.plain.labels import unlabelled
from polyloom.frontend.c.tree import Node

_REWRITINGS: Final = (unlabelled, separated, without_continue)


def plain(function: Node) -> Node:
    """A function whose body is rewritten."""
    body = function.inner[-1]
    for rewriting in _REWRITINGS:
        body = rewriting(body)
    return replace(function, inner=(*function.inner[:-1], body))
