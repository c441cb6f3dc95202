"""Where lines begin and end."""

import pytest

from strandline.core.encoding.lines import lines_of


@pytest.mark.parametrize("data", [b"", b"\n", b"a", b"a\n", b"a\nb", b"\n\na\r\n\nb\n", b"ab\ncd\n\n"])
@pytest.mark.parametrize("start", [0, 1, 3])
def test_lines_are_the_pieces_between_lfs_from_a_start(data, start):
    found = list(lines_of(data, start))
    expected = data[start:].split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    assert [data[at:stop] for at, stop, _ in found] == expected
    assert [ended for *_, ended in found] == [True] * (len(found) - 1) + [data.endswith(b"\n")] * bool(found)
