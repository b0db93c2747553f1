"""The command line: `memetik demo | bodies | show | methods | solve | compare | bench`, one file for each family of commands."""

from memetik.cli.main import main

__all__ = ["main"]
