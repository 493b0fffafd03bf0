# SPDX-License-Identifier: Apache-2.0
"""Numbers that are the same for all of a row: maxima and minima on the vector unit."""
