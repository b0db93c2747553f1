"""The experiments of the thesis (Starke 2020)."""
