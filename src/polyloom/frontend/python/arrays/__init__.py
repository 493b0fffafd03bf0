# SPDX-License-Identifier: Apache-2.0
"""Python functions over whole arrays as whole-array programs (`ir.arrays`), by abstract interpretation of their syntax
trees: names stand for views, values with symbolic shapes, affine integers and objects of the module.

    text -> Program   signature.py, statements.py, evaluate.py, calls.py, the tables in functions/
    Program -> Nest   transform/arrays
"""
