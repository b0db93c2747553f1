"""HTTP and WebSocket around the core.

limits    how large, how many, how long
guard     who may ask, and how much: the outermost layer of the application
protocols  who is waited for, and how long
paths     targets over time: tracks and servos
scene_store  scenes as problem files, by name
app       the routes
openapi   what they take and give, for programs
page      the same for people
service   a running server
"""

from memetik_serve.web.service import Service, serve

__all__ = ["Service", "serve"]
