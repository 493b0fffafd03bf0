# SPDX-License-Identifier: Apache-2.0
"""Text of assembly before it has addresses: statements, macros, expressions, sections."""
