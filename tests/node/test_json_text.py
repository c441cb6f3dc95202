"""JSON as this package writes it, compared with JSON.stringify of the node on this machine."""

import json

import pytest

from support import js_texts

pytestmark = pytest.mark.node


def test_numbers_at_every_power_of_ten_are_written_like_node() -> None:
    numbers = js_texts.powers()
    assert [js_texts.written_here(text) for text in numbers] == js_texts.written_by_node(numbers)


def test_ten_thousand_random_texts_are_written_like_node_and_the_vectors_say_the_same() -> None:
    groups = [js_texts.texts(group) for group in range(js_texts.GROUPS)]
    texts = [text for group in groups for text in group]
    assert len(texts) == 10_000
    by_node = js_texts.written_by_node(texts)
    for text, written in zip(texts, by_node, strict=True):
        assert js_texts.written_here(text) == written, text
    size = js_texts.TEXTS_OF_A_GROUP
    vectors = json.loads(js_texts.VECTORS.read_text("utf-8"))["hashes"]
    assert vectors == [js_texts.hash_of(by_node[at : at + size]) for at in range(0, len(texts), size)]
