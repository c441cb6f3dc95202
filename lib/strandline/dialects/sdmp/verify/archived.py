"""An archived journal: the exact text of a journal without a fork, read back line by line."""

from typing import BinaryIO, Final

from strandline.core.verdict import Finding
from strandline.dialects.sdmp.codec import MAX_LINE_BYTES, profile_of
from strandline.dialects.sdmp.verify.chain import Link, link_of, root_of
from strandline.dialects.sdmp.verify.elements import well_placed

_LF: Final = b"\n"


def tip_of_text(node: str, file: BinaryIO) -> tuple[int, Link] | None:
    """Return the number of lines of a text journal and its last line, or None if it is not the chain of `node`.

    These hold of the text:
    - its first line is the fingerprint of the node;
    - each later line has the form of a line of that profile, and its number is the hash of the line before it;
    - LF separates lines, and none ends the text.

    One line is in memory at a time. Source: node journal rules, 2.2 and checks 5 and 6.
    """
    profile = profile_of(node)
    if profile is None:
        return None
    lines, last, ended = 0, root_of(node), True
    while raw := file.readline(MAX_LINE_BYTES + 2):
        text, ended = raw.removesuffix(_LF), raw.endswith(_LF)
        lines += 1
        line = well_placed(text, node=node, profile=profile, position=lines)
        if isinstance(line, Finding) or line.is_first != (lines == 1):
            return None
        link = link_of(line)
        if lines > 1 and link.number != last.hash:
            return None
        last = link
    return None if ended else (lines, last)
