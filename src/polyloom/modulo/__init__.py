# SPDX-License-Identifier: Apache-2.0
"""Modulo scheduling as a bare optimization problem: data, lower bounds, solvers, an independent checker. Knows no IR
and no machine.

`problem` is what every client sees, `solve` solves it with one of three solvers. `guarded/` adds what operations under
conditions need (cells shared by operations that exclude each other, results ready together), for clients that have
them.
"""
