"""Large input, read in chunks, leaves the tables that the same input leaves when it is judged line by line."""

import gzip

from strandline.contracts.load import tables
from strandline.dialects.sdmp.author import append, synthetic, synthetic_id
from strandline.dialects.sdmp.codec import batch, render
from strandline.dialects.sdmp.spark import chunks
from strandline.tables import file_scan
from support.lakes import counted, write_files
from support.own_cases import journal_of, node_of, own_node
from support.own_runs import own_run
from support.random_journals import corpus

COUNTS = ("read", "new", "known", "rejected", "deferred", "readmitted", "since_mismatch", "shorter_journals")
OWN = node_of("X")
LIMITS = {"deferred_per_namespace": 5}


def deliveries() -> list[dict[str, bytes]]:
    """Journals that are whole, forked, shorter, late, damaged and local, and random ones; then what some waited for."""
    whole, late, long = list(synthetic(0, 40)), list(synthetic(1, 60)), list(synthetic(2, 30))
    fork = list(
        append(whole[11], [(synthetic_id("author", 8), synthetic_id("resource", n)) for n in range(9)])
    )
    changed = [*long[:14], long[14].replace(b"@", b"/"), *long[15:]]
    first = {
        "whole.journal": render(whole),
        "shorter.journal": render(whole[:25]),
        "fork.journal": render([*whole[:12], *fork]),
        "late.journal": render([late[0], *late[30:]]),
        "changed.journal": render(changed),
        "cut.journal": render(synthetic(3, 20))[:-9],
        "cut.gz": gzip.compress(render(synthetic(6, 30)))[:-200],
        "changed and cut.gz": gzip.compress(render(changed))[:-200],
        "lines of another.journal": render([*list(synthetic(4, 10)), *list(synthetic(5, 10))[1:]]),
        "own.journal": render(journal_of(OWN, ((1, each) for each in range(12)))),
        # A frame whose predecessor is inside a chunk, and one that says another predecessor.
        "inside.jsonl": batch(late[0].decode(), late[39].partition(b"@")[0].decode(), late[41:44]),
        "since.jsonl": batch(long[0].decode(), long[3].partition(b"@")[0].decode(), long[12:14]),
    }
    second = {"late.journal": render(late[:33]), "whole.journal": render(whole), "long.journal": render(long)}
    for number, (files, more) in enumerate(zip((first, second), corpus(23, 20, 2), strict=True)):
        files |= {f"{number}-{name}": content for name, content in more.items()}
    return [first, second]


def test_chunks_leave_the_tables_that_single_lines_leave(new_lake, monkeypatch, tmp_path):
    line_by_line = new_lake("lines", limits=LIMITS)
    in_chunks = new_lake("chunks", limits=LIMITS, read={"lines_min_bytes": 1, "split_bytes": 3000})
    monkeypatch.setattr(chunks, "CHUNK_LINES", 3)
    options = own_run((own_node(OWN),))
    for number, files in enumerate(deliveries()):
        folder = write_files(tmp_path / f"in{number}", files)
        reports = []
        for lake, most in ((line_by_line, file_scan.SMALL_BYTES), (in_chunks, -1)):
            with monkeypatch.context() as patched:
                patched.setattr(file_scan, "SMALL_BYTES", most)
                reports.append(lake.ingest(folder, options=options))
            lake.reduce()
        expected, found = (counted(report, COUNTS) for report in reports)
        assert found == expected
        assert reports[1].reasons == reports[0].reasons
        assert reports[1].members["damaged_files"] == reports[0].members["damaged_files"]
        assert reports[0].reasons["DEFERRED_LIMIT" if number == 0 else "PREDECESSOR_UNKNOWN"] > 0
        for table in tables():
            if table != "run":
                assert in_chunks.rows(table) == line_by_line.rows(table), table
