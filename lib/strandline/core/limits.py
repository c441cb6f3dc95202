"""How much one document may make a reader build: limits that all dialects share.

They decide verdicts, so they are rules and no settings: equal bytes get the same verdict in every run of every lake.
"""

from typing import Final

MAX_VALUES: Final = 300_000
"""Values of one document: `[`, `{` and `,` outside texts in JSON, heads of items in CBOR.

They are counted before the first is built. A document is what a reader builds at once: a frame, a block, the header of
a CAR, an element of a snapshot. The largest frame, 50,000 elements of six values each, fits exactly."""

VALUE_BYTES: Final = 256
"""Most working memory of one value beside its text, bytes: an object of one member takes it. So no document takes more
than MAX_VALUES * VALUE_BYTES, and some times its own length for texts."""

MAX_MANIFEST_VALUES: Final = 2 * MAX_VALUES
"""Values of one manifest: what 16 MiB hold of the shortest statements about files."""

MAX_OPTION_VALUES: Final = 2_000_000
"""Values of a JSON file that an operator names in an option. The operator is trusted, a slip of a generator is not."""

MAX_SETTING_VALUES: Final = 10_000
"""Nodes of a settings file in YAML, whose reader takes a hundred times as long for each value."""

MAX_ELEMENTS: Final = 65_536
MIN_ELEMENT_BYTES: Final = 256


def most_elements(size: int) -> int:
    """Return how many records one array in a document of `size` bytes may hold.

    The shortest entry that passes any check takes over 256 bytes, so only arrays of rubbish hold more.
    """
    return max(MAX_ELEMENTS, size // MIN_ELEMENT_BYTES)
