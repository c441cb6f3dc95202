"""What `prove` is asked for, and the files that it writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strandline.tables.newfile import check_free, check_place

NOTE_SUFFIX: Final = ".checkpoint"
INCLUSION_SUFFIX: Final = ".tlog-proof"
RECORD_SUFFIX: Final = ".record"
CONSISTENCY_SUFFIX: Final = ".consistency"


@dataclass(frozen=True, slots=True)
class ProveRequest:
    """A namespace as given, the files without their endings, and what is proven: a record, an older note, or neither.

    Raises: UsageError OUT_EXISTS, OUT_IS_FOLDER; FaultError OUT_NOT_WRITABLE.
    """

    namespace: str
    out: Path
    record_id: bytes | None = None
    old_note: str | None = None

    def __post_init__(self) -> None:
        """Check that the files do not exist and can be written."""
        for path in self.paths():
            check_free(path)
            check_place(path)

    def paths(self) -> tuple[Path, ...]:
        """Return the files that may be written."""
        if self.record_id is not None:
            endings: tuple[str, ...] = (INCLUSION_SUFFIX, RECORD_SUFFIX)
        else:
            endings = (NOTE_SUFFIX,) if self.old_note is None else (CONSISTENCY_SUFFIX,)
        return tuple(self.out.with_name(self.out.name + ending) for ending in endings)
