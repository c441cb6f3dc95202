"""Feeds with gaps: messages of one author of which some are missing."""

from functools import cache

from strandline.core.encoding.js_json import stringified
from strandline.dialects.devicelog.author import ssb_sign
from strandline.dialects.devicelog.codec import read_line, ssb_id, ssb_text

SEEDS = {name: bytes([place]) * 32 for place, name in enumerate("abcdef", start=20)}
HELD = {
    "a": ("1", "2", "3", "4", "5", "6"),
    "b": ("3", "4", "5", "6"),
    "c": ("1", "2", "4", "5", "6"),
    "d": ("1", "2", "4", "4 again", "5"),
    "e": ("1", "2", "5 after 2", "6"),
    "f": ("1", "3", "5"),
}
"""By feed, the messages that are there."""


@cache
def feed(name):
    """All messages of a feed: a chain of six, another fourth one, and a fifth that follows the second."""
    made, last = {}, None

    def signed(label, sequence, previous):
        content = {"type": "post", "text": label}
        value = ssb_sign(SEEDS[name], previous, sequence, 1000 * sequence, content)
        made[label] = read_line(stringified(value).encode())
        return ssb_id(ssb_text(value))

    ids = {}
    for sequence in range(1, 7):
        ids[sequence] = last = signed(str(sequence), sequence, last)
    signed("4 again", 4, ids[3])
    signed("5 after 2", 5, ids[2])
    return made


def held(name):
    """The messages of a feed that are there, as entries."""
    return [feed(name)[label] for label in HELD[name]]
