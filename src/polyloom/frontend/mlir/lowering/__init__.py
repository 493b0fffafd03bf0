# SPDX-License-Identifier: Apache-2.0
"""Functions of MLIR as statement trees (`frontend.loops`), by abstract interpretation: an SSA value stands for an
expression, a memref or a tensor for a view of an array; operations on arrays become loops.

    Builder (builder.py) < Scalars < Integers < Memory < Tensors < Structured < Control < Calls
"""
