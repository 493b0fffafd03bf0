# SPDX-License-Identifier: Apache-2.0
"""Loop reader for both languages: a statement tree, to which each language lowers its functions with its own rules made
explicit, and what makes a nest of it: normal forms, affine forms, induction variables, remainders, values, statements.
"""
