"""A stream of a prefix of Azure, listed by `hadoop-azure`, by the rules of every store."""

import pytest

from support.stream_rules import StreamRules

pytestmark = [pytest.mark.azure, pytest.mark.timeout(1800), pytest.mark.usefixtures("session")]


class TestAzure(StreamRules):
    odd = ("a b%20c.journal", "ж+#[1].journal", "x=1/{a,b}?*.journal")
