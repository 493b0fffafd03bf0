# SPDX-License-Identifier: Apache-2.0
"""The intermediate representations: immutable data, printer, parser, verifier, reference interpreter."""
