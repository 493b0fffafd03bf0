# SPDX-License-Identifier: Apache-2.0
"""64 bits between operands and results of at most 32: pairs, terms, and the functions that they replace."""
