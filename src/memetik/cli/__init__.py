"""The command line: `memetik demo | bodies | show | methods | solve | batch | reach | evolve | compare | bench`."""

from memetik.cli.main import main

__all__ = ["main"]
