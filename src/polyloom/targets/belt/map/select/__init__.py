# SPDX-License-Identifier: Apache-2.0
"""Selection of operations: optimized SSA form to genasm in the operations of a member."""
