"""A stream of a prefix of Google Cloud Storage, listed by Google's connector, by the rules of every store."""

import pytest

from support.stream_rules import StreamRules

pytestmark = [pytest.mark.gcs, pytest.mark.timeout(1800)]


class TestGoogle(StreamRules):
    odd = ("a b%20c.journal", "ж+#[1].journal", "x=1/{a,b}?*.journal", "deep/a\\b")
