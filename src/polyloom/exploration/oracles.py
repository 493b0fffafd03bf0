# SPDX-License-Identifier: Apache-2.0
"""Memoized oracles (Michie 1968), asked once for the same inputs.

A sweep compares many machines and regions with the same outputs: what the source itself computes depends on its inputs
alone. Other oracles, such as the arithmetic of a machine, are asked once for each unit. The last outputs are kept in
memory, and all of them in a folder that the workers of a sweep share for its time.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from os import getpid
from pathlib import Path
from typing import Final

import numpy as np

from polyloom.frontend.source import Arrays
from polyloom.targets.subject import Oracle

# Groups follow each other, so that a few outputs in memory suffice; arrays may be large.
_KEPT: Final = 4
_NOTHING: Final = object()


class Memory:
    """The outputs of oracles, by what they were asked for. `asked` counts the oracles that had to compute."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kept: dict[str, Arrays | None] = {}
        self.asked = 0

    def of(self, oracle: Oracle, scope: str, values: Mapping[str, int], inputs: Arrays) -> Arrays | None:
        """Outputs that the oracle gives, which nobody may change; within `scope` its name is that of no other."""
        key = _key(f"{scope} {oracle.name}", values, inputs)
        if key not in self.kept:
            found = self._read(key)
            if found is _NOTHING:
                self.asked += 1
                found = oracle.outputs(values, inputs)
                self._write(key, found)
            if len(self.kept) >= _KEPT:
                # Dictionaries keep their order: the first entry is the oldest.
                del self.kept[next(iter(self.kept))]
            self.kept[key] = found  # pyright: ignore[reportArgumentType]  # what `_write` was given before
        return self.kept[key]

    def _read(self, key: str) -> object:
        path = self.folder / key
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            return pickle.loads(path.read_bytes())
        return _NOTHING

    def _write(self, key: str, found: Arrays | None) -> None:
        """Whole or not at all; where there is no room, the next worker computes it again."""
        # Renaming is atomic within a folder, so that another worker never reads half a file.
        new = self.folder / f"{key}.{getpid()}"
        with suppress(OSError):
            new.write_bytes(pickle.dumps(found, protocol=pickle.HIGHEST_PROTOCOL))
            new.rename(self.folder / key)


def remember_oracles(oracle: Oracle, memory: Memory, scope: str) -> Oracle:
    """The oracle, asked once for the same values and inputs."""
    return replace(oracle, outputs=partial(memory.of, oracle, scope))


def _key(name: str, values: Mapping[str, int], inputs: Arrays) -> str:
    digest = hashlib.sha256(repr((name, sorted(values.items()))).encode())
    for array, content in sorted(inputs.items()):
        digest.update(f"{array} {content.dtype} {content.shape};".encode())
        digest.update(np.ascontiguousarray(content).tobytes())
    return digest.hexdigest()
