# SPDX-License-Identifier: Apache-2.0
"""Modulo scheduling of guarded (predicated) operations: an extension of the problem, with bounds, a solver and a
checker of its own (the array paper, section 5.2).

Operations that exclude each other may share a cell, writers of one variable are ready together, a value may have to fit
a register that each iteration overwrites, and the schedule is improved in an order that such a client states.
"""
