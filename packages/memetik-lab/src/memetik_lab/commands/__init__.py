"""Commands of the laboratory: `memetik bench` and `memetik compare`."""
