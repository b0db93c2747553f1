"""The command line: `memetik demo | bodies | show | methods | solve | batch | reach | compare | bench`, one file a family."""

from memetik.cli.main import main

__all__ = ["main"]
