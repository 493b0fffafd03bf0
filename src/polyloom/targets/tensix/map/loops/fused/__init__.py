# SPDX-License-Identifier: Apache-2.0
"""Products with the formula of their sums, computed in Dst before it is packed (epilogue fusion)."""
