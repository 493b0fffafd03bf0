# SPDX-License-Identifier: Apache-2.0
"""Functions that are products and element-wise formulas around them, cut into phases."""
