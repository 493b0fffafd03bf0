# SPDX-License-Identifier: Apache-2.0
"""Kernels under other names: a few of the names of a text become words of the compiler's, the others stay, so that it
makes theirs again."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

from tests.names.vocabulary import words, writable

SIZE = re.compile(r'pl\.size\("(\w+)"\)')


def renaming(random: Random, text: str, names: Sequence[str], made: Sequence[str], *, of_c: bool) -> dict[str, str]:
    """New names for about half of `names`: most are words that the compiler makes of this very text."""
    kept = {n for n in names if random.random() < 0.5}
    own = [w for w in writable(made, text, of_c) if w not in names]
    others = [w for w in writable(words(), text, of_c) if w not in names]
    chosen = dict[str, str]()
    for name in names:
        pool = own if own and random.random() < 0.6 else others
        word = random.choice(pool)
        if name not in kept and word not in chosen.values():
            chosen[name] = word
    return chosen


def renamed(text: str, names: Mapping[str, str]) -> str:
    """The text with other names, whole words at a time."""
    return re.sub(r"(?<![.\w])\w+\b(?!\")", lambda word: names.get(word[0], word[0]), text)


def with_size(text: str, name: str) -> tuple[str, str]:
    """The text whose size is called so, while its variable keeps its name; and what the size was called."""
    old = SIZE.search(text)
    assert old is not None
    return SIZE.sub(f'pl.size("{name}")', text), old[1]
