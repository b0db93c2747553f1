"""Guards: who may connect, what may be uploaded, and that nothing leaves the machine.

The viewer's library leaves these open, so this file reaches into it; but for it only small.py does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import viser
from viser import _messages

from memetik.scenes import MOST_BYTES
from memetik_studio.upload import MOST_ZIP

LOOPBACK = ("127.0.0.1", "localhost", "::1")
MOST_PARTS = 1_000


def never_share(server: viser.ViserServer) -> None:
    """Refuse the tunnel to the outside that any client could ask the library for."""
    for request in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(request)


def is_from_here(origin: str | None, host: str | None, *, loopback: bool) -> bool:
    """Whether a connection comes from the studio's own page and not from another page that is open in the browser.

    origin, host: the headers of the request. Programs send no origin; they can do what the user can anyway. On loopback the
    name must be one of this machine, because a stranger's name can be made to mean its address.
    """
    if origin is None:
        return True
    own = urlsplit(origin).netloc
    return own == host and (not loopback or urlsplit(origin).hostname in LOOPBACK)


def refuse_strangers(server: viser.ViserServer, *, loopback: bool) -> None:
    """Close connections that are not from the studio's own page, before anything is sent to them."""
    sockets = server._websock_server

    async def check(client: Any) -> None:
        connection = sockets._live_connections[client.client_id]
        headers: Any = connection.request.headers if connection.request is not None else {}
        if not is_from_here(headers.get("Origin"), headers.get("Host"), loopback=loopback):
            await connection.close(1008, "not from the studio's page")

    sockets.on_client_connect(check)


def visitor(server: viser.ViserServer, client: viser.ClientHandle) -> str:
    """Who a client seems to be: its address and its browser, the same after the page is loaded again."""
    connection = server._websock_server._live_connections.get(client.client_id)
    if connection is None or connection.request is None:
        return ""
    address = connection.remote_address[0] if connection.remote_address else ""
    return f"{address} {connection.request.headers.get('User-Agent', '')}"


def limit_uploads(client: viser.ClientHandle, tell: Callable[[str], None]) -> None:
    """Refuse a file that is too large before any of it is kept."""
    gui = client.gui
    begin = gui._handle_file_transfer_start

    def start(client_id: Any, message: _messages.FileTransferStartUpload) -> None:
        most = MOST_ZIP if message.filename.lower().endswith(".zip") else MOST_BYTES
        if message.size_bytes > most or message.part_count > MOST_PARTS:
            tell(f"{message.filename[-100:]} is larger than {most >> 20} MB, the most that can be uploaded.")
        else:
            begin(client_id, message)

    gui._websock_interface.unregister_handler(_messages.FileTransferStartUpload, begin)
    gui._websock_interface.register_handler(_messages.FileTransferStartUpload, start)
