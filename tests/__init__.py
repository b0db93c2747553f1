"""The tests of the library, and what the tests of all packages share.

The folders packages/*/tests belong to this package: `tests.studio` lies in packages/memetik-studio.
"""

from pathlib import Path

__path__ += sorted(map(str, Path(__file__).parents[1].glob("packages/*/tests")))
