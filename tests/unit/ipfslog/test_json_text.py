"""Byte strings as JavaScript's typed arrays print them: a member for each byte, in the order of texts."""

import random

import pytest

from strandline.dialects.ipfslog.codec import sorted_json
from support.effort import peak_bytes


@pytest.mark.parametrize("size", [*range(13), 99, 100, 101, 110, 999, 1_000, 1_001, 1_100, 12_345])
def test_the_members_of_bytes_are_ordered_as_texts(size: int) -> None:
    data = random.Random(size).randbytes(size)
    members = {str(index): byte for index, byte in enumerate(data)}
    expected = ",".join(f'"{name}":{members[name]}' for name in sorted(members))
    assert sorted_json(data, bytes_as="members") == "{" + expected + "}"


@pytest.mark.large
def test_bytes_are_printed_in_a_few_times_the_memory_of_the_text() -> None:
    data = bytes(50_000)
    text = sorted_json(data, bytes_as="members")
    assert peak_bytes(lambda: sorted_json(data, bytes_as="members")) < 4 * len(text)
