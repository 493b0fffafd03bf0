# SPDX-License-Identifier: Apache-2.0
"""Induction variables of loops: their courses from turn to turn, what propagates, and final values."""
