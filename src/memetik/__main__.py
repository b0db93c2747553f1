"""`python -m memetik`: the command line."""

from __future__ import annotations

import sys

from memetik.cli import main

sys.exit(main())
