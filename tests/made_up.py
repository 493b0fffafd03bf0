# SPDX-License-Identifier: Apache-2.0
"""Inputs for programs, plans and nests in tests, made up as a run makes them up."""

from __future__ import annotations

from collections.abc import Mapping

from polyloom.ir.arguments import Arrays, Signature
from polyloom.ir.signature import plan_signature
from polyloom.run.inputs import complete_inputs


def random_inputs(program: Signature, parameters: Mapping[str, int], seed: int) -> Arrays:
    return complete_inputs(plan_signature(program), parameters, {}, seed=seed)
