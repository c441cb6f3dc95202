"""What an operator's text for a namespace may mean."""

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strandline.core.ids import namespaces_named
from strandline.dialects.ipfslog.types import log_namespace
from support.laws import law

NODE = "7a5179eecc0fe18760ba615f92603372ae3fe302860098a019e15927551fee3b"


@pytest.mark.parametrize("given_name", [NODE, f"node:{NODE}"])
def test_a_node_is_named_by_its_fingerprint_or_with_its_kind(given_name):
    assert f"node:{NODE}" in namespaces_named(given_name)


@law(100)
@given(st.text(min_size=1).filter(lambda text: not any(0xD800 <= ord(sign) < 0xE000 for sign in text)))
def test_a_log_is_named_by_its_id_as_it_is_or_percent_encoded_with_its_kind(log_id):
    namespace = log_namespace(log_id)
    assert namespace in namespaces_named(log_id)
    assert namespace in namespaces_named(namespace)
    assert unquote(namespace.partition(":")[2]) == log_id


def test_a_name_that_is_no_text_names_nothing():
    assert namespaces_named("\udcff") == ()
