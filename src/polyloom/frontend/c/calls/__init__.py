# SPDX-License-Identifier: Apache-2.0
"""What stands around a function's loops: calls that recur or are left out, and adapters for structures and variables of
the file.
"""
