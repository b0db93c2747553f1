"""The panels of the page, one a file."""
