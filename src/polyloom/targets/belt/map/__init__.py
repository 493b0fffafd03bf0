# SPDX-License-Identifier: Apache-2.0
"""From functions in SSA form to bundles."""
