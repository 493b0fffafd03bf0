# SPDX-License-Identifier: Apache-2.0
"""Selects: the shortest instructions for expressions with a condition, from a table, and the search that fills it."""
