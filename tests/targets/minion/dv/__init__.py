# SPDX-License-Identifier: Apache-2.0
"""The public verification tests of the core, from a checkout that is not a part of this repository."""
