"""Where the first line of a split begins: after the first LF before its end, whatever the blocks are."""

from itertools import pairwise

import pytest

from strandline.kernels.opened import after_line


@pytest.mark.parametrize("data", [b"ab\ncd\n", b"\n\n", b"abcd", b""])
def test_a_line_begins_after_the_first_lf_before_the_end_of_the_split(data: bytes) -> None:
    for cut in range(len(data) + 1):
        parts = [data[start:end] for start, end in pairwise((0, cut, len(data))) if start < end]
        for until in (None, *range(10, 10 + len(data) + 2)):
            most = len(data) if until is None else until - 10
            at = data.find(b"\n", 0, most)
            blocks = iter(parts)
            found = after_line(blocks, 10, until)
            if at < 0:
                assert found is None
            else:
                rest, offset = found
                assert (rest + b"".join(blocks), offset) == (data[at + 1 :], 10 + at + 1)
