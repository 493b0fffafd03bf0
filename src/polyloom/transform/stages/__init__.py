# SPDX-License-Identifier: Apache-2.0
"""Programs of stages: what is a product and what an element-wise formula, how formulas are cut into them, and how their
arrays are matrices.
"""
