# SPDX-License-Identifier: Apache-2.0
"""Functions of `ir.ssa` into SSA form (`construct`), and out of it (`destruct`)."""
