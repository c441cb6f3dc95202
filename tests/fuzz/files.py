"""Checks of what files hold: documents, journals, requests, manifests, containers, files of operators."""

import io
import zlib

import pyarrow as pa

from fuzz.values import in_bounded_memory
from strandline.config.layers import document_layer, effective, options_layer
from strandline.core.errors import UsageError
from strandline.dialects.ipfslog import kernels as log_kernels
from strandline.dialects.ipfslog.codec import read_documents
from strandline.dialects.ipfslog.kernels import DOCUMENT_FIELDS
from strandline.dialects.ipfslog.kernels import replay as log_replay
from strandline.dialects.ipfslog.kernels.cars import car_documents
from strandline.dialects.ipfslog.reduce import parse_log_config
from strandline.dialects.ipfslog.types import HeadClaim, Unreadable, record_id
from strandline.dialects.ipfslog.verify import judge as judge_documents
from strandline.dialects.sdmp import codec as journals
from strandline.dialects.sdmp import kernels as journal_kernels
from strandline.dialects.sdmp.info import STRICT
from strandline.dialects.sdmp.kernels import replay as journal_replay
from strandline.dialects.sdmp.types import Announcement, Frame, MalformedRequest
from strandline.dialects.sdmp.types import Unreadable as UnreadableFrame
from strandline.dialects.sdmp.verify import judge as judge_journal
from strandline.dialects.sdmp.verify import judge_announcement
from strandline.kernels.blocks import replayed
from strandline.kernels.codecs import BLOCK_BYTES, StreamDamage
from strandline.kernels.containers import StreamLimits, blocks
from strandline.kernels.lines import RawLimits, stream_lines
from strandline.kernels.manifests import Invalid, NotAManifest, Statement, parse_manifest
from strandline.kernels.reading import LISTED, ReadOptions, read_files

LIMITS = StreamLimits(1 << 22, 100)
RAW = RawLimits(4 << 10, 64)
FORMATS = ("lines", "json", "car")
AGAIN = pa.schema(
    [("file_no", pa.int64()), ("part", pa.int64()), ("stays_as", pa.int64()),
     ("namespace", pa.string()), ("node", pa.string()), ("raw", pa.binary()),
     ("record_id", pa.binary()), ("reasons", pa.string()), ("evidence", pa.string())]
)  # fmt: skip


def documents_are_judged(raw: bytes) -> None:
    """Every document ends in one place, and its bytes are those of the file."""
    for format_ in FORMATS:
        documents = in_bounded_memory(lambda form=format_: list(read_documents(raw, form)), len(raw))
        for document in documents:
            if isinstance(document, Unreadable):
                assert raw[document.offset :].startswith(document.raw)
        counts = judge_documents(documents).counts
        assert counts.read == counts.new + counts.known + counts.rejected + counts.deferred
        claims = sum(isinstance(document, HeadClaim) for document in documents)
        assert counts.read + counts.foreign_blocks == len(documents) - claims


def cars_are_read_alike_in_a_window(raw: bytes) -> None:
    expected = [type(each) for each in read_documents(raw, "car")]
    for size in (1, 7, 1_000) if len(raw) < 5_000 else (1_000,):
        cut = [raw[at : at + size] for at in range(0, len(raw), size)]
        assert [type(each) for each, _ in car_documents(cut, RAW)] == expected


def _pieces(raw: bytes, form: str | None, read_content, fields, choices=()) -> list[dict]:
    row = {"file_no": 0, "format": form, "path": b"", "content": raw, "part": 0, "until": None, "label": None}
    options = ReadOptions(dict(choices), LIMITS, RAW)
    batches = [pa.RecordBatch.from_pylist([row], LISTED)]
    found = read_files(batches, options, read_content, fields)
    return [row for batch in found for row in batch.to_pylist()]


def log_files_become_pieces(raw: bytes) -> None:
    for format_ in FORMATS:
        for row in _pieces(raw, format_, log_kernels.read_content, log_kernels.DOCUMENT_FIELDS):
            assert "INTERNAL_ERROR" not in (row["damage"] or "")
            assert len(row["raw"]) == row["raw_bytes"] or row["raw_sha256"] is not None


def journal_files_become_pieces(raw: bytes) -> None:
    for choice in ("strict", "weak"):
        fields = journal_kernels.ELEMENT_FIELDS
        for row in _pieces(raw, None, journal_kernels.read_content, fields, {STRICT: choice}.items()):
            assert "INTERNAL_ERROR" not in (row["damage"] or "")
            assert len(row["raw"]) == row["raw_bytes"] or row["raw_sha256"] is not None


def frames_are_written_as_they_were_read(raw: bytes) -> None:
    found = in_bounded_memory(lambda: journals.parse_frame(raw), len(raw))
    if isinstance(found, UnreadableFrame):
        assert found.reasons
    elif isinstance(found, Announcement):
        for element in judge_announcement(found, ()):
            assert isinstance(element, tuple | UnreadableFrame)
    else:
        texts = [
            each.decode("utf-8", "surrogatepass").encode("utf-8", "surrogatepass") for each in found.elements
        ]
        assert journals.parse_frame(journals.batch(found.node, found.since, texts)) == found


def journals_are_judged(raw: bytes) -> None:
    for strict in (True, False):
        content = journals.parse_source(raw, strict=strict)
        frames = [frame for _, frame in content.frames if isinstance(frame, Frame)]
        for node in {frame.node for frame in frames}:
            told = judge_journal(node, [frame for frame in frames if frame.node == node], strict=strict)
            assert told.read == told.new + told.known + told.rejected + told.deferred


def requests_are_written_as_they_were_read(raw: bytes) -> None:
    found = [each for each in journals.parse_requests(raw) if not isinstance(each, MalformedRequest)]
    assert list(journals.parse_requests(journals.render_requests(found))) == found


def manifests_are_read_or_refused(raw: bytes) -> None:
    for dialect in ("sdmp", "ipfslog"):
        found = in_bounded_memory(lambda name=dialect: parse_manifest(raw, len(raw), dialect=name), len(raw))
        assert isinstance(found, Statement | Invalid | NotAManifest)


def containers_open_or_are_damaged(raw: bytes) -> None:
    content = bytearray()
    try:
        for block in blocks(io.BytesIO(raw), LIMITS):
            assert 0 < len(block) <= BLOCK_BYTES
            content += block
    except StreamDamage as damage:
        assert damage.reason in (
            "BOMB", "CONTAINER_DAMAGED", "CONTAINER_NESTED", "CONTAINER_UNSUPPORTED", "TRUNCATED",
        )  # fmt: skip
        assert damage.offset in (0, len(content))
        return
    if raw.startswith(b"\x1f\x8b"):
        expected, rest = b"", raw
        while rest:
            codec = zlib.decompressobj(31)
            expected, rest = expected + codec.decompress(rest), codec.unused_data
        assert content == expected


def lines_do_not_depend_on_blocks(raw: bytes) -> None:
    whole = raw.split(b"\n")
    expected = whole[:-1] if not whole[-1] else whole
    for size in (3, 1_000):
        cut = [raw[at : at + size] for at in range(0, len(raw), size)]
        found = list(stream_lines(cut, limit=500, keep=RAW))
        assert [line.kept.length for line in found] == list(map(len, expected))
        assert [line.over_limit for line in found] == [len(line) > 500 for line in expected]


def nodes_are_read_or_refused(raw: bytes) -> None:
    try:
        journals.parse_nodes(raw, "nodes.json")
    except UsageError as error:
        assert error.code == "NODES_INVALID"


def log_configurations_are_read_or_refused(raw: bytes) -> None:
    try:
        parse_log_config(raw, "logs.json")
    except UsageError as error:
        assert error.code == "LOG_CONFIG_INVALID"


def settings_are_read_or_refused(raw: bytes) -> None:
    text = raw.decode("utf-8", "replace")
    try:
        effective((document_layer(text, "mine.yaml"), options_layer([f"limits.files={text[:99]}"])))
    except UsageError as error:
        assert error.code in ("CONF_INVALID", "SETTING_INVALID", "SETTING_UNKNOWN")


def rejected_documents_are_judged_again(raw: bytes) -> None:
    """Rows of the quarantine, as reading made them, and bytes under every reason that a document may have."""
    options = ReadOptions({}, LIMITS, RAW)
    rows = [
        {"reasons": code, "evidence": "{}"}
        for code in ("JSON_INVALID", "NOT_AN_ENTRY", "JSON_INVALID,TRUNCATED")
    ]
    rows.append({"reasons": "HASH_MISMATCH", "evidence": "{}", "record_id": record_id(raw)})
    found = _again(rows, raw, lambda batches: replayed(batches, log_replay, DOCUMENT_FIELDS, options))
    assert {row["file_no"] for row in found} <= set(range(len(rows)))
    assert not any("INTERNAL_ERROR" in (row["damage"] or "") for row in found)


def rejected_frames_are_judged_again(raw: bytes) -> None:
    options = ReadOptions({STRICT: "strict"}, LIMITS, RAW)
    codes = (
        "FRAME_SHAPE",
        "JSON_INVALID,TRUNCATED",
        "FIRST_LINE_MALFORMED",
        "BAD_AUTHOR",
        "CONTAINER_DAMAGED",
    )
    rows = [{"reasons": code, "evidence": "{}"} for code in codes]
    found = _again(rows, raw, lambda batches: journal_replay.replayed(batches, options))
    assert not any("INTERNAL_ERROR" in (row["damage"] or "") for row in found)


def _again(rows: list[dict], raw: bytes, kernel) -> list[dict]:
    told = [{"file_no": number, "part": 0, "raw": raw, **row} for number, row in enumerate(rows)]
    return [row for batch in kernel([pa.RecordBatch.from_pylist(told, AGAIN)]) for row in batch.to_pylist()]
