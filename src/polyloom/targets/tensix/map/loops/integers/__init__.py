# SPDX-License-Identifier: Apache-2.0
"""Integers on the vector unit: selection of operations, and programs for those that have no instruction."""
