"""The kernel that writes lines gives what the reference writes, whatever the order of its rows."""

import pandas as pd
import pytest

from strandline.dialects.sdmp.author import synthetic, synthetic_id
from strandline.dialects.sdmp.codec import parse_line
from strandline.dialects.sdmp.kernels import WRITTEN_SCHEMA, write_lines


def group_of(lines, known, namespace=None):
    """The rows that make the kernel write all lines after the first `known`, last place first."""
    node = lines[0].decode()
    pairs = [parse_line(raw, "0.9" if len(node) == 64 else "0.12").pair for raw in lines[known:]]
    rows = [
        (namespace or f"node:{node}", known, lines[known - 1].decode(), place, *pair)
        for place, pair in enumerate(pairs, start=7)
    ]
    columns = ["namespace", "tip_n", "tip_line", "place", "author_fp", "resource_id"]
    return pd.DataFrame(rows[::-1], columns=columns)


@pytest.mark.parametrize("profile", ["0.9", "0.12"])
@pytest.mark.parametrize("known", [1, 2, 5])
def test_the_lines_continue_the_tip_in_the_order_of_places(profile, known):
    lines = list(synthetic(0, 6, profile))
    written = write_lines(group_of(lines, known))
    assert WRITTEN_SCHEMA.names == list(written.columns)
    expected = [
        (
            f"node:{lines[0].decode()}",
            line.record_id,
            profile,
            n,
            line.number,
            line.hash,
            line.author,
            line.resource,
        )
        for n, line in enumerate((parse_line(raw, profile) for raw in lines), start=1)
    ]
    assert list(written.itertuples(index=False, name=None)) == expected[known:]


def test_what_is_no_journal_of_a_node_is_a_wrong_call():
    lines = list(synthetic(0, 3))
    with pytest.raises(ValueError, match="profiles"):
        write_lines(group_of(lines, 1, namespace="node:x"))
    with pytest.raises(ValueError, match=r"ids of profile 0\.12"):
        write_lines(group_of(lines, 1, namespace=f"node:{synthetic_id('node', 0, '0.12')}"))
