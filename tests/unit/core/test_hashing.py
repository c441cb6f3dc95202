import hashlib
import json
import random
from pathlib import Path

import pytest

from strandline.core.hashing import (
    bucket_hash,
    equivocation_id,
    quarantine_id,
    set_hash,
    set_hash_of_buckets,
    tagged,
)

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "hashing" / "cases.json").read_text())


def records(count):
    return [hashlib.sha256(f"record-{i}".encode()).digest() for i in range(count)]


@pytest.mark.parametrize("case", VECTORS["set_hash"], ids=lambda case: f"{case['records']} records")
def test_a_set_has_the_set_hash_of_its_vector(case):
    assert set_hash(records(case["records"])).hex() == case["set_hash"]


def test_order_and_repetition_do_not_change_a_set_hash():
    values = records(300)
    shuffled = values + values[:50]
    random.Random(7).shuffle(shuffled)
    assert set_hash(iter(shuffled)) == set_hash(values)


def test_a_set_hash_can_be_put_together_from_its_bucket_hashes():
    values = records(300)
    hashes = [bucket_hash(sorted(v for v in values if v[0] == first)) for first in range(256)]
    assert set_hash_of_buckets(len(values), hashes) == set_hash(values)


def test_the_hash_of_a_bucket_is_over_its_values_as_they_stand():
    values = sorted(records(2))
    expected = hashlib.sha256(b"strandline/set-bucket/1\x00" + values[0] + values[1]).digest()
    assert bucket_hash(values) == expected


def test_a_set_hash_is_over_32_byte_values_and_256_buckets_alone():
    with pytest.raises(ValueError, match="32 bytes"):
        set_hash([b"short"])
    with pytest.raises(ValueError, match="256"):
        set_hash_of_buckets(0, [])


@pytest.mark.parametrize("case", VECTORS["quarantine_id"], ids=lambda case: case["dialect"])
def test_a_quarantine_row_has_the_id_of_its_vector(case):
    id_ = quarantine_id(
        case["dialect"], case["namespace"], case["status"], case["reasons"], case["raw"].encode()
    )
    assert id_.hex() == case["id"]


def test_each_part_of_a_verdict_changes_the_id_of_its_row():
    ids = {
        quarantine_id("sdmp", None, "rejected", ["A"], b"x"),
        quarantine_id("aura", None, "rejected", ["A"], b"x"),
        quarantine_id("sdmp", "node:1", "rejected", ["A"], b"x"),
        quarantine_id("sdmp", None, "deferred", ["A"], b"x"),
        quarantine_id("sdmp", None, "rejected", ["A", "B"], b"x"),
        quarantine_id("sdmp", None, "rejected", ["A"], b"y"),
    }
    assert len(ids) == 6


def test_an_equivocation_id_is_the_tagged_hash_of_its_four_parts():
    joined = b"node:a\x00SDMP_FORK\x00a\x00b"
    assert equivocation_id("node:a", "SDMP_FORK", "a", "b") == tagged("strandline/equivocation/1", joined)
    assert tagged("t", b"x") == hashlib.sha256(b"t\x00x").digest()
