# SPDX-License-Identifier: Apache-2.0
"""Compiler: from functions in SSA form to bundles."""
