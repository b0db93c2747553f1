"""A visitor of the studio without a browser: a WebSocket that says what the viewer says first."""

import contextlib

import msgspec
import viser
from websockets.sync.client import connect

# What the viewer says first; with it a client counts as connected.
CAMERA = msgspec.msgpack.encode(
    {
        "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [1.0, 1.0, 1.0], "fov": 1.0, "near": 0.1,
        "far": 100.0, "image_height": 300, "image_width": 500, "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0],
    }
)  # fmt: skip


@contextlib.contextmanager
def visitor(url, name):
    """A connection that counts as a client, who is known by the name."""
    address, subprotocol = url.replace("http", "ws"), f"viser-v{viser.__version__}"
    with connect(
        address, subprotocols=[subprotocol], compression=None, user_agent_header=name, max_size=None
    ) as socket:
        socket.send(CAMERA)
        yield socket
