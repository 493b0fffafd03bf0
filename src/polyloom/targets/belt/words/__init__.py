# SPDX-License-Identifier: Apache-2.0
"""Words: programs as bundles, their encoding, files, listings, and the verifier that follows the belt."""
