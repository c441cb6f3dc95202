"""Opening a log from a file: every record verified, the genuine ones of each log in a `Log`, the others listed."""

from collections.abc import Iterable
from dataclasses import dataclass

from strandline.dialects.ipfslog.author.identity import Identity
from strandline.dialects.ipfslog.author.log import Log
from strandline.dialects.ipfslog.codec import DocumentFormat, read_documents
from strandline.dialects.ipfslog.types import Entry, Profile, Variant
from strandline.dialects.ipfslog.verify import AcceptedRecords, Counts, QuarantineRow, judge


@dataclass(frozen=True, slots=True)
class OpenedLogs:
    """The logs of some files by id, what did not get in and why, and everything that was held or counted."""

    logs: dict[str, Log]
    quarantine: tuple[QuarantineRow, ...]
    counts: Counts
    held: AcceptedRecords


def open_logs(
    files: Iterable[tuple[bytes, DocumentFormat]],
    *,
    profile: Profile = "strict",
    held: AcceptedRecords | None = None,
    identity: Identity | None = None,
    variant: Variant = "v2",
) -> OpenedLogs:
    """Return the logs that decompressed files hold, each record verified; nothing raises, whatever the bytes.

    `identity` signs what is appended to them, in the form of `variant`. `held` is what an earlier call gave.
    """
    documents = [document for data, format_ in files for document in read_documents(data, format_)]
    judgement = judge(documents, held, profile)
    by_id: dict[str, list[Entry]] = {}
    for entry in judgement.held.entries.values():
        by_id.setdefault(entry.log_id, []).append(entry)
    logs = {log_id: Log(log_id, entries, identity, variant) for log_id, entries in by_id.items()}
    return OpenedLogs(logs, judgement.quarantine, judgement.counts, judgement.held)
