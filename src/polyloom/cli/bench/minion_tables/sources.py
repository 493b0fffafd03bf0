# SPDX-License-Identifier: Apache-2.0
"""`polyloom bench minion`: programs from a text, and runs on random arrays, whose results tests compare, not tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from polyloom import api, temporary
from polyloom.targets.minion.options import Options
from polyloom.targets.minion.target import TARGET
from polyloom.targets.target import Execution, Job


def compile_source(text: str, name: str, minions: int, sizes: Mapping[str, int], **options: Any) -> api.Instance:
    """Instance of a text, which `name` names as a file, or as a function of one, `net.py:layers`."""
    with temporary.temporary_folder() as folder:
        (folder / name.partition(":")[0]).write_text(text, encoding="utf-8")
        return api.compile(f"{folder / name}", on=f"minion:{minions}", **options).prepare_instance(sizes)


def random_operands(instance: api.Instance, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Random arrays for all inputs."""
    random = np.random.default_rng(1)
    return {a.name: _random_array(a.dtype, a.extents(sizes), random) for a in instance.signature.inputs}


def _random_array(dtype: np.dtype[Any], shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    if dtype == np.int8:
        return random.integers(-128, 128, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def run_random(instance: api.Instance, sizes: Mapping[str, int]) -> Execution:
    """One run on random arrays."""
    return TARGET.run(instance.data, Job(random_operands(instance, sizes), None, Options()))
