"""`unpack`: what a node keeps in folders becomes one CAR; the folder stays as it is, a fault leaves no file."""

import base64
import hashlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import libipld
import pytest

from strandline.cli import main
from strandline.core.errors import FaultError
from strandline.dialects.ipfslog.codec import (
    canonical_cid,
    dag_cbor,
    dag_pb_block,
    parse_cid,
    read_documents,
    stored,
)
from strandline.dialects.ipfslog.types import MAX_BLOCK_BYTES, HeadClaim
from strandline.tables import blockstores
from strandline.tables.blockstores import content_of, copied_databases, find_stores
from support.ipfslog_cases import dag, who
from support.report_schema import check_report

try:
    import plyvel
except ImportError:
    import plyvel_next as plyvel

ENTRIES = list(dag("core2").values())
BLOCKS = [each.block for each in ENTRIES] + [
    who(name, "core2").record.block for name in ("alice", "bob", "carol")
]
V0 = dag_pb_block(b'{"hash":null}')
RAW = b"\x00 no CBOR map"
BYTES = dag_cbor(b"a byte string, then more") + b"more"


def multihash(block: bytes) -> bytes:
    return b"\x12\x20" + hashlib.sha256(block).digest()


def name_of(block: bytes) -> str:
    """A name as Kubo's flatfs gives it; blockstore-fs writes B before it."""
    return base64.b32encode(multihash(block)).decode().rstrip("=")


def flatfs(folder: Path, blocks, prefix: str = "") -> None:
    for block in blocks:
        place = folder / name_of(block)[-3:-1]
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{prefix}{name_of(block)}.data").write_bytes(block)
    (folder / "SHARDING").write_text("/repo/flatfs/shard/v1/next-to-last/2\n")


def leveldb(folder: Path, pairs, *, compacted: bool = False) -> None:
    folder.mkdir(parents=True)
    db = plyvel.DB(str(folder), create_if_missing=True)
    for key, value in pairs:
        db.put(key, value)
    if compacted:
        db.compact_range()
    db.close()


def orbitdb(folder: Path) -> None:
    """A log as @orbitdb/core 4 keeps it: entries, their index, their heads."""
    cids = {each.record_id: canonical_cid(each.record_id).encode() for each in ENTRIES}
    leveldb(folder / "_storage", [(cids[each.record_id], each.block) for each in ENTRIES], compacted=True)
    leveldb(folder / "_index", [(cid, b"true") for cid in cids.values()])
    named = {parent for each in ENTRIES for parent in each.next}
    heads = [{"hash": each.cid, "next": []} for each in ENTRIES if each.record_id not in named]
    leveldb(folder / "_heads", [(b"heads", json.dumps(heads).encode())])


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Everything below a folder: bytes and time of the last change."""
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
    }


def unpacked(capsys, folder: Path, out: Path, code: int = 0) -> dict:
    """The report of a call, which changes nothing in the folder and leaves no file but the one asked for."""
    before = snapshot(folder) if folder.is_dir() else {}
    beside = set(os.listdir(out.parent))
    assert main(["unpack", str(folder), "--out", str(out), "--json"]) == code
    report = json.loads(capsys.readouterr().out)
    check_report(report)
    assert (snapshot(folder) if folder.is_dir() else {}) == before
    assert set(os.listdir(out.parent)) - beside == ({out.name} if code == 0 else set())
    return report


def blocks_of(out: Path) -> list[tuple[bytes, bytes]]:
    documents = [each for each in read_documents(out.read_bytes(), "car") if not isinstance(each, HeadClaim)]
    return sorted((each.claimed, each.block) for each in documents)


def claims_of(out: Path) -> list[HeadClaim]:
    return [each for each in read_documents(out.read_bytes(), "car") if isinstance(each, HeadClaim)]


def expected(blocks) -> list[tuple[bytes, bytes]]:
    return sorted((b"\x01\x71" + multihash(block), block) for block in blocks)


@pytest.mark.parametrize("prefix", ["", "B"])
def test_a_file_store_becomes_one_car_whose_addresses_follow_names_and_bytes(tmp_path, capsys, prefix):
    flatfs(tmp_path / "repo" / "blocks", [*BLOCKS, V0, RAW, BYTES], prefix)
    (tmp_path / "repo" / "blocks" / "notes.data").write_bytes(b"no block")
    (tmp_path / "repo" / "blocks" / "put-123.data.tmp").write_bytes(b"half")
    heads = json.dumps([{"hash": ENTRIES[0].cid, "next": []}]).encode()
    leveldb(tmp_path / "repo" / "heads", [(b"heads", heads)])
    report = unpacked(capsys, tmp_path / "repo", tmp_path / "node.car")
    assert report["counts"] == {"blocks": len(BLOCKS) + 3, "roots": 1, "passed_over": 1}
    car = (tmp_path / "node.car").read_bytes()
    assert hashlib.sha256(car).hexdigest() == report["sha256"]
    others = [
        (multihash(V0), V0),
        (b"\x01\x55" + multihash(RAW), RAW),
        (b"\x01\x71" + multihash(BYTES), BYTES),
    ]
    assert blocks_of(tmp_path / "node.car") == sorted(expected(BLOCKS) + others)
    assert [each.digest for each in claims_of(tmp_path / "node.car")] == [ENTRIES[0].record_id]


def test_leveldb_of_blockstore_level_and_of_orbitdb_becomes_one_car_that_a_published_reader_reads_too(
    tmp_path, capsys
):
    orbitdb(tmp_path / "node" / "orbitdb" / "zdpu")
    keys = [(f"/B{name_of(block)}".encode(), block) for block in BLOCKS[-3:]]
    leveldb(tmp_path / "node" / "blocks", [*keys, (b"/local/filesroot", b"x"), (b"\xff", b"y")])
    report = unpacked(capsys, tmp_path / "node", tmp_path / "node.car")
    named = {parent for each in ENTRIES for parent in each.next}
    heads = {each.cid for each in ENTRIES if each.record_id not in named}
    assert report["counts"] == {"blocks": len(BLOCKS), "roots": len(heads), "passed_over": 2 + len(ENTRIES)}
    assert report["databases"] == 4
    assert blocks_of(tmp_path / "node.car") == expected(BLOCKS)
    header, found = libipld.decode_car((tmp_path / "node.car").read_bytes())
    assert set(header["roots"]) == {parse_cid(cid).raw for cid in heads}
    assert len(found) == len(BLOCKS)
    assert main(["unpack", str(tmp_path / "node"), "--out", str(tmp_path / "again.car"), "--json"]) == 0
    assert (tmp_path / "again.car").read_bytes() == (tmp_path / "node.car").read_bytes()


def test_heads_may_be_json_in_json_and_what_is_no_address_is_no_root(tmp_path, capsys):
    good = {"hash": ENTRIES[0].cid, "next": []}
    for number, value in enumerate(
        (
            json.dumps(json.dumps([good, good])),
            json.dumps([good, {"hash": 7}, {"hash": "zdpu"}, {}, 1, {"hash": "z" * 500}]),
            json.dumps({"hash": "x"}),
            "[" * 100_000,
            "\udcff",
        )
    ):
        raw = value.encode("utf-8", "surrogateescape")
        folder = tmp_path / str(number)
        leveldb(folder, [(b"heads", raw), (ENTRIES[0].cid.encode(), ENTRIES[0].block)])
        report = unpacked(capsys, folder, tmp_path / f"{number}.car")
        assert report["counts"]["roots"] == (1 if number < 2 else 0), number
        assert report["counts"]["blocks"] == 1


def test_a_changed_block_is_copied_under_its_name_for_ingest_to_judge(tmp_path, capsys):
    flatfs(tmp_path / "blocks", BLOCKS[:1])
    [path] = (tmp_path / "blocks").rglob("*.data")
    changed = BLOCKS[0].replace(b"PUT", b"DEL")
    assert changed != BLOCKS[0]
    path.write_bytes(changed)
    unpacked(capsys, tmp_path / "blocks", tmp_path / "x.car")
    assert blocks_of(tmp_path / "x.car") == [(b"\x01\x71" + multihash(BLOCKS[0]), changed)]


def test_a_folder_that_is_no_block_store_is_wrong_usage(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "other" / "deep").mkdir(parents=True)
    (tmp_path / "other" / "deep" / "x.data").write_bytes(b"x")
    (tmp_path / "block").write_bytes(BLOCKS[0])
    (tmp_path / "other" / f"{name_of(BLOCKS[0])}.data").symlink_to(tmp_path / "block")
    leveldb(tmp_path / "chat", [(b"a", b"b")])
    (tmp_path / "file").write_text("x")
    for name in ("empty", "other", "chat", "file", "absent"):
        report = unpacked(capsys, tmp_path / name, tmp_path / "x.car", code=2)
        assert report["error"]["code"] == "NO_BLOCK_STORE"
        assert str(tmp_path / name) in report["error"]["message"]
    flatfs(tmp_path / "blocks", BLOCKS)
    (tmp_path / "there.car").write_text("mine")
    for out, code in (("there.car", "OUT_EXISTS"), ("empty", "OUT_IS_FOLDER"), ("x.json", "OUT_NAME")):
        assert unpacked(capsys, tmp_path / "blocks", tmp_path / out, code=2)["error"]["code"] == code
    assert (tmp_path / "there.car").read_text() == "mine"


def test_a_locked_leveldb_is_a_fault_that_names_it(tmp_path, capsys):
    orbitdb(tmp_path / "node")
    holder = subprocess.Popen(
        [
            sys.executable, "-c",
            f"import {plyvel.__name__} as p, sys; db = p.DB(sys.argv[1]); print('open', flush=True); input()",
            str(tmp_path / "node" / "_index"),
        ],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        report = unpacked(capsys, tmp_path / "node", tmp_path / "x.car", code=3)
    finally:
        holder.communicate("\n")
    assert report["error"]["code"] == "LEVELDB_LOCKED"
    assert str(tmp_path / "node" / "_index") in report["error"]["message"]
    unpacked(capsys, tmp_path / "node", tmp_path / "x.car")


@pytest.mark.large
def test_a_damaged_leveldb_is_a_fault_that_names_it(tmp_path, capsys):
    rng = random.Random(4)
    for number in range(12):
        orbitdb(tmp_path / str(number))
        damaged = tmp_path / str(number) / "_storage"
        [table] = [path for path in damaged.iterdir() if path.suffix in (".ldb", ".sst")]
        if number == 0:
            table.unlink()
        elif number == 1:
            (damaged / "CURRENT").write_text("MANIFEST-999999\n")
        elif number == 2:
            table.write_bytes(table.read_bytes()[:-60])
        else:
            raw = bytearray(table.read_bytes())
            raw[rng.randrange(len(raw) // 2)] ^= 1 << rng.randrange(8)
            table.write_bytes(bytes(raw))
        report = unpacked(capsys, tmp_path / str(number), tmp_path / "x.car", code=3)
        assert report["error"]["code"] == "LEVELDB_DAMAGED"
        assert str(damaged) in report["error"]["message"]


def test_a_changed_value_that_is_asked_for_by_its_key_is_a_fault_and_no_other_value(tmp_path, capsys):
    address = ENTRIES[0].cid.encode()
    heads = json.dumps([{"hash": ENTRIES[0].cid, "next": []}]).encode()
    leveldb(tmp_path / "node", [(b"heads", heads), (address, ENTRIES[0].block)], compacted=True)
    [table] = [path for path in (tmp_path / "node").iterdir() if path.suffix in (".ldb", ".sst")]
    raw = table.read_bytes()
    # Another address, as well formed: only the checksum tells.
    place = raw.index(address, raw.index(b'"hash"')) + len(address) - 9
    changed = b"a" if raw[place : place + 1] != b"a" else b"b"
    table.write_bytes(raw[:place] + changed + raw[place + 1 :])
    [folder] = find_stores(tmp_path / "node", ".data").databases
    with copied_databases([folder], tmp_path) as [database], pytest.raises(FaultError) as damaged:
        database.get(b"heads")
    assert damaged.value.code == "LEVELDB_DAMAGED"
    assert str(folder) in damaged.value.message


def test_without_its_library_a_leveldb_is_a_fault_that_says_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(blockstores, "_LIBRARIES", ("no_such_library",))
    orbitdb(tmp_path / "node")
    report = unpacked(capsys, tmp_path / "node", tmp_path / "x.car", code=3)
    assert report["error"]["code"] == "LEVELDB_MISSING"
    assert f"pip install {blockstores.library_package(sys.version_info[:2])}" in report["error"]["next"]
    # A file store needs none.
    flatfs(tmp_path / "blocks", BLOCKS)
    unpacked(capsys, tmp_path / "blocks", tmp_path / "x.car")


def test_a_file_that_cannot_be_read_is_a_fault_that_names_it(tmp_path, capsys, monkeypatch):
    flatfs(tmp_path / "blocks", BLOCKS[:1])
    [path] = (tmp_path / "blocks").rglob("*.data")

    def denied(path: Path, *, follow: bool) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patched:
        patched.setattr(blockstores, "open_file", denied)
        assert main(["unpack", str(tmp_path / "blocks"), "--out", str(tmp_path / "x.car"), "--json"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], str(path) in error["message"]) == ("SOURCE_UNREADABLE", True)
    assert os.listdir(tmp_path) == ["blocks"]


def test_a_person_reads_what_was_copied_and_what_to_type_next(tmp_path, capsys):
    flatfs(tmp_path / "blocks", BLOCKS)
    assert main(["unpack", str(tmp_path / "blocks"), "--out", str(tmp_path / "my x.car")]) == 0
    printed = capsys.readouterr().out
    assert f"blocks {len(BLOCKS)}" in printed
    assert f"next: strandline ingest '{tmp_path / 'my x.car'}' --dialect ipfslog" in printed


def test_a_block_file_over_the_limit_is_passed_over_by_its_size_and_never_read(tmp_path, capsys):
    flatfs(tmp_path / "repo", BLOCKS)
    huge = tmp_path / "repo" / f"{name_of(b'huge')}.data"
    with huge.open("wb") as file:
        file.truncate(30 * 1024**3)
    with limited_memory(1024**3):
        assert content_of(huge, MAX_BLOCK_BYTES) is None
    huge.unlink()
    with huge.open("wb") as file:
        file.truncate(MAX_BLOCK_BYTES + 1)
    report = unpacked(capsys, tmp_path / "repo", tmp_path / "node.car")
    assert report["counts"] == {"blocks": len(BLOCKS), "roots": 0, "passed_over": 1}


@contextmanager
def limited_memory(more: int):
    """This process may take so many bytes more: to read a sparse file whole fails at once."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_a_leveldb_larger_than_the_disk_is_refused_before_it_is_copied(tmp_path, capsys):
    orbitdb(tmp_path / "node")
    with (tmp_path / "node" / "_storage" / "999999.ldb").open("wb") as file:
        file.truncate(8 * 1024**4)
    before = set(os.listdir(tmp_path))
    assert main(["unpack", str(tmp_path / "node"), "--out", str(tmp_path / "node.car"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "DISK_TOO_SMALL"
    assert set(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("name", ["000999.ldb", "LOCK", "CURRENT"])
def test_a_link_in_a_leveldb_folder_is_refused(tmp_path, capsys, name):
    orbitdb(tmp_path / "node")
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    place = tmp_path / "node" / "_storage" / name
    place.unlink(missing_ok=True)
    place.symlink_to(secret)
    assert main(["unpack", str(tmp_path / "node"), "--out", str(tmp_path / "node.car"), "--json"]) == 3
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == ("LEVELDB_LOCKED" if name == "LOCK" else "SOURCE_UNREADABLE")
    assert name == "LOCK" or "a link" in error["message"]
    assert not (tmp_path / "node.car").exists()


@pytest.mark.large
def test_more_roots_than_a_header_holds_are_in_more_files_and_counted_as_written(tmp_path, capsys):
    flatfs(tmp_path / "repo", BLOCKS)
    cids = [canonical_cid(hashlib.sha256(str(i).encode()).digest()) for i in range(60_000)]
    leveldb(
        tmp_path / "repo" / "heads",
        [(b"heads", json.dumps([{"hash": cid, "next": []} for cid in cids]).encode())],
    )
    assert main(["unpack", str(tmp_path / "repo"), "--out", str(tmp_path / "node.car"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["counts"]["roots"] == 60_000
    assert report["more"] == [str(tmp_path / "node-2.car")]
    written = [len(claims_of(tmp_path / name)) for name in ("node.car", "node-2.car")]
    assert written == [50_000, 10_000]
    assert blocks_of(tmp_path / "node-2.car") == []


FEW_ROOTS = """
import sys
from strandline.cli import main
from strandline.dialects.ipfslog.codec import stored
stored.MAX_ROOTS_WRITTEN = 2
sys.exit(main(sys.argv[1:]))
"""


def many_roots(folder: Path) -> None:
    """A store with five roots."""
    flatfs(folder, BLOCKS)
    cids = [canonical_cid(hashlib.sha256(str(i).encode()).digest()) for i in range(5)]
    leveldb(folder / "heads", [(b"heads", json.dumps([{"hash": cid} for cid in cids]).encode())])


def unpacked_with_few_roots(folder: Path, out: Path, fault: str = "") -> tuple[int, dict | None]:
    """Exit code and report of a process whose CARs have room for two roots, killed at a step."""
    done = subprocess.run(
        [sys.executable, "-c", FEW_ROOTS, "unpack", str(folder), "--out", str(out), "--json", "--quiet"],
        capture_output=True, text=True, check=False, env=os.environ | {"STRANDLINE_FAULT": fault},
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout) if done.stdout else None


def cars(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.glob("*.car")}


@pytest.mark.large
def test_an_unpack_that_is_killed_at_a_step_and_repeated_ends_with_the_same_files(tmp_path):
    many_roots(tmp_path / "repo")
    (tmp_path / "whole").mkdir()
    assert unpacked_with_few_roots(tmp_path / "repo", tmp_path / "whole" / "node.car")[0] == 0
    whole = cars(tmp_path / "whole")
    assert sorted(whole) == ["node-2.car", "node-3.car", "node.car"]
    for left, fault in enumerate(("unpack.copied", "unpack.more:1", "unpack.more:2")):
        out = tmp_path / f"killed-{left}" / "node.car"
        out.parent.mkdir()
        assert unpacked_with_few_roots(tmp_path / "repo", out, fault) == (-signal.SIGKILL, None)
        assert sorted(cars(out.parent)) == sorted(whole)[:left]
        assert unpacked_with_few_roots(tmp_path / "repo", out)[0] == 0
        assert cars(out.parent) == whole


@pytest.mark.parametrize("kind", ["other", "longer", "link", "folder"])
def test_a_further_file_that_is_there_is_never_replaced_and_its_name_is_told(
    tmp_path, capsys, monkeypatch, kind
):
    monkeypatch.setattr(stored, "MAX_ROOTS_WRITTEN", 2)
    many_roots(tmp_path / "repo")
    (tmp_path / "whole").mkdir()
    assert main(["unpack", str(tmp_path / "repo"), "--out", str(tmp_path / "whole" / "node.car")]) == 0
    capsys.readouterr()
    own, taken = tmp_path / "whole" / "node-3.car", tmp_path / "node-3.car"
    {
        "other": lambda: taken.write_bytes(own.read_bytes()[:-1] + b"x"),
        "longer": lambda: taken.write_bytes(own.read_bytes() + b"x"),
        "link": lambda: taken.symlink_to(own),
        "folder": taken.mkdir,
    }[kind]()
    before = snapshot(tmp_path)
    assert main(["unpack", str(tmp_path / "repo"), "--out", str(tmp_path / "node.car"), "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == ("OUT_IS_FOLDER" if kind == "folder" else "OUT_EXISTS")
    assert f"{taken} " in error["message"]
    assert "roots that have no room in node.car" in error["message"]
    assert "an unpack that was killed" in error["next"]
    assert {name: each[0] for name, each in snapshot(tmp_path).items()} == {
        name: each[0] for name, each in before.items()
    }
