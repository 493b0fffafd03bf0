# SPDX-License-Identifier: Apache-2.0
"""Modulo scheduling as a bare optimisation problem: data, lower bounds, exact solver, independent checker. Knows no IR and no machine."""
