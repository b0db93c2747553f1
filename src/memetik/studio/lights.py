"""Lights: a sky, a sun and a fill, the same for all pages.

The viewer's own environment map is computed in the browser before anything is seen, which takes a graphics card to be
quick, and it whitens white robots on a white page.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SKY, HORIZON = (205, 218, 232), (250, 251, 252)  # from the top of the page to its foot


def light(api: Any) -> None:
    """Light the scene of a server."""
    api.configure_environment_map(hdri=None)
    api.configure_default_lights(enabled=False)
    api.add_light_hemisphere("/lights/sky", sky_color=(255, 255, 255), ground_color=(170, 165, 160), intensity=1.6)
    api.add_light_directional("/lights/sun", color=(255, 250, 240), intensity=1.9, position=(1.0, -2.0, 3.0))
    api.add_light_directional("/lights/fill", color=(225, 235, 255), intensity=0.5, position=(-2.0, 1.5, 1.0))
    shade = np.linspace(0.0, 1.0, 64)[:, None, None]
    image = (1.0 - shade) * np.array(SKY) + shade * np.array(HORIZON)
    api.set_background_image(np.broadcast_to(image, (64, 2, 3)).astype(np.uint8), format="png")
