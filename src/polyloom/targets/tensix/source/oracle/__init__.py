# SPDX-License-Identifier: Apache-2.0
"""The parts of the oracle of vector kernels: what operations make of lanes, in exact integers, Dst, and contraction.

It shares no code with the native model, nor with the passes of the compiler: what both get wrong in the same way would
not be found.
"""
