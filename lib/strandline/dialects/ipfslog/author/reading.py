"""Opening logs from files: every record is verified; accepted ones go into a `Log`, the others are listed."""

from collections.abc import Iterable
from dataclasses import dataclass

from strandline.dialects.ipfslog.author.identity import Identity
from strandline.dialects.ipfslog.author.log import Log
from strandline.dialects.ipfslog.codec import DocumentFormat, read_documents
from strandline.dialects.ipfslog.types import Entry, Profile, Variant
from strandline.dialects.ipfslog.verify import AcceptedRecords, Counts, QuarantineRow, judge


@dataclass(frozen=True, slots=True)
class OpenedLogs:
    """The logs of some files by id, the records in quarantine with their reasons, counts, and all accepted records."""

    logs: dict[str, Log]
    quarantine: tuple[QuarantineRow, ...]
    counts: Counts
    accepted: AcceptedRecords


def open_logs(
    files: Iterable[tuple[bytes, DocumentFormat]],
    *,
    profile: Profile = "strict",
    accepted: AcceptedRecords | None = None,
    identity: Identity | None = None,
    variant: Variant = "v2",
) -> OpenedLogs:
    """Return the logs in decompressed files, each record verified; never raises, whatever the bytes.

    `identity` signs appended entries, in the form of `variant`. `accepted` is the result of an earlier call.
    """
    documents = [document for data, format_ in files for document in read_documents(data, format_)]
    judgement = judge(documents, accepted, profile)
    by_id: dict[str, list[Entry]] = {}
    for entry in judgement.accepted.entries.values():
        by_id.setdefault(entry.log_id, []).append(entry)
    logs = {log_id: Log(log_id, entries, identity, variant) for log_id, entries in by_id.items()}
    return OpenedLogs(logs, judgement.quarantine, judgement.counts, judgement.accepted)
