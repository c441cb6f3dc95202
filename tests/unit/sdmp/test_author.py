import pytest

from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import parse_line
from strandline.dialects.sdmp.verify import judge

A, R = synthetic_id("author", 0), synthetic_id("resource", 0)


@pytest.mark.parametrize("profile", ["0.9", "0.12"])
def test_a_synthetic_journal_is_accepted_and_a_prefix_of_every_longer_one(profile):
    longer = list(synthetic(3, 20, profile))
    assert list(synthetic(3, 5, profile)) == longer[:5]
    assert judge(longer[0].decode(), [longer], strict=True).new == 20


def test_synthetic_lines_have_the_authors_and_resources_of_their_rule():
    line = parse_line(list(synthetic(2, 9))[8], "0.9")
    assert (line.author, line.resource) == (
        synthetic_id("author", 9 % 7),
        synthetic_id("resource", 2_000_000_009),
    )


@pytest.mark.parametrize(
    ("tip", "pairs"),
    [
        (b"x", []),
        (A.encode(), [("x", R)]),
        (A.encode(), [(A, R + "\n")]),
        (synthetic_id("node", 0, "0.12").encode(), []),
    ],
)
def test_appending_what_is_no_id_is_a_wrong_call(tip, pairs):
    with pytest.raises(ValueError):
        list(append(tip, pairs))
