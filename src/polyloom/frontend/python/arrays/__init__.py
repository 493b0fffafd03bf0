# SPDX-License-Identifier: Apache-2.0
"""Python functions over whole arrays as whole-array programs (`ir.arrays`), by abstract interpretation of their syntax
trees: names stand for views, values with symbolic shapes, affine integers and objects of the module.

    text -> Program   signature.py, interpreter.py over loops.py, branches.py, statements.py; evaluate.py over calls.py,
                      conditions.py, names.py; site.py, indexing.py, and the tables in functions/
    Program -> Nest   transform/arrays
"""
