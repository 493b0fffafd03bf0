# SPDX-License-Identifier: Apache-2.0
"""Parallelization of nests, for any machine: arrangement of loops, vector loops, and work sharing among processors
(Allen and Kennedy 2001; Wolfe 1996).
"""
