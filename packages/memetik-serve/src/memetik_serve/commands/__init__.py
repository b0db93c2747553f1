"""Commands of the server: `memetik serve`, `memetik ros1` and `memetik ros2`."""
