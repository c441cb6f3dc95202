"""Limits of what one document makes a reader build, shared by all dialects.

They decide verdicts, so they are rules, not settings: equal bytes get the same verdict in every run of every lake.
"""

from typing import Final

MAX_VALUES: Final = 300_000
"""Values of one document: `[`, `{` and `,` outside texts in JSON, heads of items in CBOR.

They are counted before any is built. A document is what a reader builds at once: a frame, a block, the header of
a CAR, an element of a snapshot. The largest frame, 50,000 elements of six values each, fits exactly."""

VALUE_BYTES: Final = 256
"""Maximum memory of one value without its text, bytes: that of an object with one member. So no document takes more
than MAX_VALUES * VALUE_BYTES, plus a few times its own length for texts."""

MAX_MANIFEST_VALUES: Final = 2 * MAX_VALUES
"""Values of one manifest: as many as fit into 16 MiB of shortest statements about files."""

MAX_OPTION_VALUES: Final = 2_000_000
"""Values of a JSON file that an option names. Protects against mistakes of generators: the operator is trusted."""

MAX_SETTING_VALUES: Final = 10_000
"""Nodes of a settings file in YAML, whose reader is a hundred times slower per value."""

MAX_ELEMENTS: Final = 65_536
MIN_ELEMENT_BYTES: Final = 256


def most_elements(size: int) -> int:
    """Return how many records one array in a document of `size` bytes may hold.

    The shortest valid entry takes more than 256 bytes, so only invalid arrays have more elements.
    """
    return max(MAX_ELEMENTS, size // MIN_ELEMENT_BYTES)
