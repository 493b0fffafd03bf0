# SPDX-License-Identifier: Apache-2.0
"""`python -m polyloom` is the `polyloom` command."""

import sys

from polyloom.cli import main

sys.exit(main())
