# SPDX-License-Identifier: Apache-2.0
"""Matrix products (contractions) as programs of tensor coprocessors."""
