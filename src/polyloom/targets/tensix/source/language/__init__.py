# SPDX-License-Identifier: Apache-2.0
"""Vector kernels in Python: `@pl.tensix.kernel` on a function that is executed once, with vectors that record what is
done to them.

    rewrite.py     assignments and conditions of the function's text become calls
    trace.py       what is recorded, and where in the user's file
    values.py      vectors, conditions, Dst and registers
    library.py     functions on vectors
    kernel.py      decorators, and files with kernels
"""
