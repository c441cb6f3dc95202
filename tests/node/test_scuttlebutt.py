"""Feeds between this package and the public JavaScript library of Scuttlebutt, ssb-validate."""

import json
import subprocess
from pathlib import Path

import pytest

from strandline.dialects.devicelog.codec import message_name
from strandline.dialects.devicelog.verify import judge
from support.devicelog_cases import TABLET, compact, feed, ssb_value
from support.devicelog_tampering import GOOD_SSB, SSB

pytestmark = pytest.mark.node

FOLDER = Path(__file__).parent / "ssb"
NETWORK_KEY = b"\x07" * 32
IN_BASE64 = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="


def by_library(*arguments, given=b""):
    """The lines that the program writes."""
    command = ["node", str(FOLDER / "feed.js"), *arguments]
    done = subprocess.run(command, input=given, capture_output=True, check=True, timeout=120)
    return done.stdout.decode("utf-8").rstrip("\n").split("\n")


@pytest.mark.parametrize(("key", "text"), [(None, ""), (NETWORK_KEY, IN_BASE64)])
def test_a_feed_that_the_library_wrote_is_accepted_whole(key, text):
    lines = [line.encode() for line in by_library("write", "60", text)]
    found = judge(lines, hmac_key=key)
    assert (found.counts.new, found.quarantine) == (60, ())
    named = {message_name(each.record_id) for each in found.accepted}
    assert {json.loads(line)["key"] for line in lines} == named
    other = judge(lines, hmac_key=NETWORK_KEY if key is None else None)
    assert other.counts.rejected == 60


@pytest.mark.parametrize(("key", "text"), [(None, ""), (NETWORK_KEY, IN_BASE64)])
def test_a_feed_that_was_written_here_is_accepted_by_the_library(key, text):
    values = []
    for sequence in range(1, 41):
        content = {"type": "post", "text": f"☃ \u0007 {sequence}", "n": 1e21, "3": [[], {}, 0.1]}
        values.append(
            ssb_value(TABLET, values[-1] if values else None, sequence, 1.5 * sequence, content, hmac_key=key)
        )
    given = b"".join(compact(value) + b"\n" for value in values)
    assert by_library("check", text, given=given) == ["ok"] * 40


def test_the_library_refuses_and_accepts_the_same_messages():
    refused = {name: value for name, (value, _) in SSB.items() if isinstance(value, dict)}
    cases = refused | GOOD_SSB | {"message 1": feed()[0]}
    given = b"".join(compact(value) + b"\n" for value in cases.values())
    told = by_library("each", given=given)
    verdicts = {name: each == "ok" for name, each in zip(cases, told, strict=True)}
    ours = {name: judge([compact(value)]).counts.new == 1 for name, value in cases.items()}
    assert verdicts == ours
    assert sum(ours.values()) == len(GOOD_SSB) + 1
