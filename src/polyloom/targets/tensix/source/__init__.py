# SPDX-License-Identifier: Apache-2.0
"""SFPI on the Tensix tile: vector kernels in C++ and Python, as functions in SSA form over 32 lanes.

`operations.py` is the table of what such a function calls; everything derives from it: the external functions that a
frontend knows (`externals`), the verifier, the meaning of each operation and the interpreter, the Python language.
"""
