"""What a notebook shows of an object instead of its repr."""

from __future__ import annotations

from importlib import import_module

__all__ = ["Rich"]


class Rich:
    """Shows itself as HTML in notebooks. Pictures and tables are made by write/notebook.py, which stands above all that is shown
    and is therefore looked up by its name, when a notebook asks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(import_module("memetik.write.notebook").html(self))
