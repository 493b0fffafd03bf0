# SPDX-License-Identifier: Apache-2.0
"""Execution of plans of several phases on the array: one program after another, on arrays that stay in their banks."""
