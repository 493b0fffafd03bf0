# SPDX-License-Identifier: Apache-2.0
"""Integer sets: affine expressions over named symbols, conjunctions and unions of affine inequalities."""

from polyloom.sets.affine import Affine, Condition, Polyhedron, equality, extreme

__all__ = ["Affine", "Condition", "Polyhedron", "equality", "extreme"]
