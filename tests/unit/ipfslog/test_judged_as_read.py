"""Blocks that are judged while their file is read have the facts that their bytes have later, without the file."""

import json
from collections import Counter

import pyarrow as pa
import pytest

from strandline.core.limits import MAX_VALUES
from strandline.dialects.ipfslog import verify
from strandline.dialects.ipfslog.author import to_json
from strandline.dialects.ipfslog.codec import (
    canonical_cid,
    dag_cbor,
    parse_dag_cbor,
    read_documents,
    signed_json,
)
from strandline.dialects.ipfslog.info import PROFILE
from strandline.dialects.ipfslog.kernels import DOCUMENT_FIELDS, JUDGED, judge, judgement, read_content
from strandline.dialects.ipfslog.types import MAX_BLOCK_BYTES, record_id
from strandline.kernels.containers import StreamLimits
from strandline.kernels.judging import PREFIX, Judging, judged, read_judged
from strandline.kernels.lines import RawLimits
from strandline.kernels.reading import LISTED, ReadOptions
from support.ipfslog_cases import entry, lies, who
from support.ipfslog_corpus import tampered, tampered_car
from support.ipfslog_reference import FORMATS
from support.random_deliveries import corpus

JUDGING = Judging(judge, JUDGED)
CLAIMS = ("judge_id", "record_id", "claimed", "snapshot_id")


def both(files, profile):
    """The facts of each block of files: as it was read, and of its bytes and claims alone."""
    options = ReadOptions({PROFILE: profile}, StreamLimits(2**36, 100), RawLimits(4 << 20, 64 << 10))
    rows = [
        {
            "file_no": number,
            "format": FORMATS[name[name.rindex(".") :]],
            "path": b"",
            "content": data,
            "part": 0,
        }
        for number, (name, data) in enumerate(files.items())
    ]
    listed = pa.RecordBatch.from_pylist(rows, LISTED)
    read = [
        row
        for batch in read_judged([listed], options, read_content, DOCUMENT_FIELDS, JUDGING)
        for row in batch.to_pylist()
    ]
    blocks = [row for row in read if row["kind"] in ("block", "shared")]
    assert all((row in blocks) == (row[f"{PREFIX}kind"] is not None) for row in read[:500])
    alone = [{name: row[name] for name in CLAIMS} | {"block": row["raw"], "source": None} for row in blocks]
    stated = (field for field in DOCUMENT_FIELDS if field.name in CLAIMS)
    schema = pa.schema([*stated, pa.field("block", pa.binary()), pa.field("source", pa.string())])
    [later] = judged([pa.RecordBatch.from_pylist(alone, schema)], JUDGING, options)
    as_read = [{name: row[PREFIX + name] for name in JUDGING.of_documents} for row in blocks]
    return as_read, [{name: row[name] for name in JUDGING.of_documents} for row in later.to_pylist()]


def altered():
    """Signed JSON entries with another value of each member, and with other numbers and levels in their payloads."""
    found = [to_json(each) for each in lies().values()]
    values = [
        None,
        -1,
        2**53,
        2**53 + 2,
        1e300,
        0.1,
        1.0,
        "",
        "x",
        "\ud800",
        [],
        {},
        True,
        [["a"]],
        {"a": {"b": 1.5}},
    ]
    values += [json.loads("[" * levels + "]" * levels) for levels in (127, 128, 129)]
    for variant in ("v1", "v2", "core2"):
        sound = json.loads(to_json(entry("parent", variant)))
        for name in sound:
            found += [json.dumps(sound | {name: value}) for value in values]
            found += [json.dumps(sound | {"payload": {"op": "PUT", name: value}}) for value in values]
        # Its payload as Go peers store it: floats in the fewest bytes that hold them.
        number = entry([0.1, 1.5], variant)
        short = dag_cbor(parse_dag_cbor(number.block).value, "short")
        found.append(json.dumps(json.loads(to_json(number)) | {"hash": canonical_cid(record_id(short))}))
    return "\n".join(found).encode()


@pytest.mark.large
@pytest.mark.parametrize("profile", ["strict", "compat"])
def test_an_entry_that_is_judged_as_it_is_read_has_the_verdict_of_its_block(profile):
    files = {
        f"{number}{name}": data
        for number, each in enumerate(corpus(31, 60, 2))
        for name, data in each.items()
    }
    files |= {"tampered.jsonl": tampered(), "tampered.car": tampered_car(), "altered.jsonl": altered()}
    as_read, later = both(files, profile)
    assert as_read == later
    reasons = Counter(reason for row in later for reason in row["reasons"] or ["none"])
    assert (len(later) > 900, reasons["none"] > 200, len(reasons) > 12) == (True, True, True), reasons


@pytest.mark.parametrize("count", [1, pytest.param(MAX_VALUES + 1, marks=pytest.mark.large)])
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_json_has_the_verdict_of_its_block_up_to_and_beyond_the_largest_one(more, count):
    signed = entry("parent", "v2")
    value, stored = json.loads(to_json(signed)), parse_dag_cbor(signed.block).value
    del value["hash"]
    size = MAX_BLOCK_BYTES + more
    # Any text of 2^16 to 2^32 - 1 bytes has a head of five bytes.
    text = "x" * (size - len(dag_cbor(stored | {"payload": [[0] * count, "x" * 2**16]})) + 2**16)
    value["payload"] = [[0] * count, text]
    made = dag_cbor(stored | {"payload": value["payload"]})
    assert len(made) == size
    of_json, of_block = verify.verify_json(value), verify.verify_block(made)
    assert (of_json.reasons, of_json.evidence, of_json.record_id) == (
        of_block.reasons, of_block.evidence, of_block.record_id,
    )  # fmt: skip
    reasons = "BLOCK_TOO_LARGE" if more > 0 else "CBOR_INVALID" if count > 1 else "SIGNATURE_INVALID"
    assert of_json.reasons == (reasons,)


def many_links(payload, count=60):
    """An entry as JSON, signed, that names one parent so often; in its block each link has two values more."""
    author = who("alice")
    value = json.loads(to_json(entry("parent", "v2")))
    del value["hash"], value["sig"]
    value |= {"payload": payload, "next": ["zdpuAmL9zAgC4KFdMWW6yjpEcSYTnBunjTeijHv8GTKrxoz7D"] * count}
    text = signed_json(value, value["next"], value["refs"], plain=True)
    return value | {"sig": author.signing_key.sign(text.encode()).hex()}


@pytest.mark.large
def test_json_whose_block_has_too_many_values_has_the_verdict_of_the_block_also_by_the_plain_rules():
    list_ = {"type": "ipfs", "write": ["x"] * (MAX_VALUES - 3)}
    for value, reasons in (
        (many_links([0]), ()),
        (many_links([0] * (MAX_VALUES - 100)), ("CBOR_INVALID",)),
        (list_ | {"write": ["x"]}, ()),
        (list_, ("CBOR_INVALID",)),
    ):
        line = json.dumps(value).encode()
        _, [later] = both({"in.jsonl": line}, "strict")
        plain = verify.judge(read_documents(line, "lines"))
        assert tuple(later["reasons"]) == reasons
        assert [row.reasons for row in plain.quarantine] == [reasons] * bool(reasons)
        assert (plain.counts.new, plain.counts.rejected) == (1 - bool(reasons), bool(reasons))
        if "payload" in value:
            assert verify.verify_json(value).reasons == reasons


@pytest.mark.large
def test_the_entry_of_a_line_of_json_is_not_parsed_again_unless_its_block_may_have_too_many_values(
    monkeypatch,
):
    parsed = []
    sound = judgement.read_element

    def read_element(document, profile):
        parsed.append(document.block)
        return sound(document, profile)

    monkeypatch.setattr(judgement, "read_element", read_element)
    long = json.loads(to_json(entry("parent", "v2"))) | {"payload": "x" * MAX_VALUES}
    # In JSON it has no more values than its reader builds, in the block two more for each link.
    many = json.loads(to_json(entry("parent", "v2")))
    many |= {
        "payload": [0] * (MAX_VALUES - 100),
        "next": ["zdpuAmL9zAgC4KFdMWW6yjpEcSYTnBunjTeijHv8GTKrxoz7D"] * 60,
    }
    lines = [to_json(entry("parent", "v2")), json.dumps(long), json.dumps(many)]
    as_read, later = both({"in.jsonl": "\n".join(lines).encode()}, "strict")
    assert as_read == later
    assert [row["reasons"] for row in as_read] == [
        [], ["HASH_MISMATCH", "SIGNATURE_INVALID"], ["CBOR_INVALID", "HASH_MISMATCH"],
    ]  # fmt: skip
    # All three later, the long ones also as they were read.
    assert len(parsed) == 5
