import json

import pytest

from strandline.dialects.sdmp.author import synthetic_id
from strandline.dialects.sdmp.codec import parse_requests, render_requests
from strandline.dialects.sdmp.types import JournalRequest, MalformedRequest, ResourceRequest

X, P = synthetic_id("node", 10), synthetic_id("node", 11)
A, R = synthetic_id("author", 0), synthetic_id("resource", 100)
JOURNAL = JournalRequest(X, P, P, 10_000)
RESOURCE = ResourceRequest(X, P, A, R)


def test_a_request_has_one_spelling():
    assert (
        render_requests([JOURNAL, RESOURCE])
        == (
            f'{{"node":"{X}","to":"{P}","request":{{"since":"{P}","limit":10000}}}}\n'
            f'{{"node":"{X}","to":"{P}","request":{{"author":"{A}","resource":"{R}"}}}}\n'
        ).encode()
    )


def test_requests_are_read_back_as_they_were_written():
    data = render_requests([JOURNAL, RESOURCE])
    assert parse_requests(data) == (JOURNAL, RESOURCE)
    assert parse_requests(b"\xef\xbb\xbf\n \n" + data.replace(b"\n", b"\r\n\n")) == (JOURNAL, RESOURCE)
    assert parse_requests(b"") == parse_requests(b"\n") == ()


def test_a_limit_is_any_integer_of_at_least_1_and_other_members_are_ignored():
    for limit in (1, 10**9, 2**70):
        asked = {"since": X, "limit": limit, "more": None}
        (request,) = parse_requests(json.dumps({"node": X, "to": P, "request": asked, "x": [1]}).encode())
        assert request == JournalRequest(X, P, X, limit)


def line(**members):
    return json.dumps({"node": X, "to": P, "request": {"since": X, "limit": 1}, **members}).encode()


# name: (line, the field at fault, what was found)
MALFORMED = {
    "no object": (b"[]", "request", "null or absent"),
    "no JSON": (b"x", "line", "syntax"),
    "a name twice": (b'{"node":"a","node":"b"}', "line", "duplicate_key"),
    "too long": (b'"' + b"x" * (1 << 24) + b'"', "bytes", str((1 << 24) + 2)),
    "no node": (line(node=None), "node", "null or absent"),
    "a receiver that is no text": (line(to=["x"]), "to", "array"),
    "no request": (line(request=None), "request", "null or absent"),
    "an empty request": (line(request={}), "request", "none"),
    "both kinds": (line(request={"since": X, "limit": 1, "author": A}), "request", "both"),
    "since that is no text": (line(request={"since": 1, "limit": 1}), "request.since", "integer"),
    "author alone": (line(request={"author": A}), "request.resource", "null or absent"),
    "resource that is no text": (
        line(request={"author": A, "resource": 1}), "request.resource", "integer",
    ),
    "no limit": (line(request={"since": X}), "request.limit", "null or absent"),
    "limit 0": (line(request={"since": X, "limit": 0}), "request.limit", "0"),
    "limit -1": (line(request={"since": X, "limit": -1}), "request.limit", "-1"),
    "limit true": (line(request={"since": X, "limit": True}), "request.limit", "boolean"),
    "limit 1.0": (line(request={"since": X, "limit": 1.0}), "request.limit", "number"),
    "limit in quotes": (line(request={"since": X, "limit": "1"}), "request.limit", "text"),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_a_line_that_is_no_request_is_named_with_the_field_at_fault_and_the_others_stand(name):
    raw, field, actual = MALFORMED[name]
    before, found, after = parse_requests(line() + b"\n" + raw + b"\n" + line())
    assert before == after == JournalRequest(X, P, X, 1)
    assert isinstance(found, MalformedRequest)
    assert (found.line, found.field, found.actual) == (2, field, actual)
