# SPDX-License-Identifier: Apache-2.0
"""Fresh names that the compiler makes. They never are a name of the user's, by one of two means, whatever the user's
names are.

Names that people see come from `fresh_name`, which knows every name around: those of the source, and those made so far.
A name that nobody sees is `hidden_name`: it contains a character that no source language can write. Lisp calls these
gensyms.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

HIDDEN: Final = "@"
"""In names of dimensions and statements for one question to isl, and of what an executed function calls."""


def hidden_name(name: object) -> str:
    """Hidden name, one that no source can write."""
    return f"{HIDDEN}{name}"


def hidden_dims(count: int) -> tuple[str, ...]:
    """Hidden names of so many dimensions, none of which is a parameter."""
    return tuple(hidden_name(n) for n in range(count))


def dotted_name(base: str, number: int) -> str:
    """Name such as `x.1`: variables and equations."""
    return f"{base}.{number}"


def underscored_name(base: str, number: int) -> str:
    """Name such as `x_2`: what C, too, can have as a name; the first one is `x` itself."""
    return f"{base}_{number + 1}"


def field_name(text: str) -> str:
    """Names of fields as those of the parameters that they become: `S->taps` and `S.taps` as `S_taps`."""
    return re.sub(r"(?<=\w)(?:->|\.)(?=[^\W\d])", "_", text)


def fresh_name(
    base: str,
    taken: set[str],
    spelled: Callable[[str, int], str] = underscored_name,
    numbers: dict[str, int] | None = None,
) -> str:
    """Fresh name: `base`, or `spelled` with the least number from 1 on that makes it new; it is taken from then on.

    `numbers` keeps the last number of each base, for a set from which no name goes and of one spelling: without it, n
    names of one base take n^2/2 attempts.
    """
    number = (numbers or {}).get(base, 0)
    name = spelled(base, number) if number else base
    while name in taken:
        number += 1
        name = spelled(base, number)
    taken.add(name)
    if numbers is not None:
        numbers[base] = number
    return name
