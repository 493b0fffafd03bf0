# SPDX-License-Identifier: Apache-2.0
"""What stages on a tile compute, in NumPy and apart from the model: bits, and bounds of errors."""
