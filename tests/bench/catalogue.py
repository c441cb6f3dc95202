"""What is measured, against what, and the bar that was set for it before anything was measured."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from bench.described import Bar, Described
from bench.described_aura import AURA
from bench.described_by_hand import BY_HAND
from bench.described_collections import COLLECTIONS
from bench.described_contexts import CONTEXTS
from bench.described_devicelog import DEVICELOG
from bench.described_logs import LOGS

CATALOGUE: Final[Mapping[int, Described]] = MappingProxyType(
    {
        1: Described(
            "verified-ingest",
            "verified ingest into Delta",
            "unverified `spark.read.text` into Delta of the same files",
            Bar(most=3, aim=2),
            "`ingest` into a lake whose tables are there and empty; the other side writes the one column of text "
            "to a new Delta table. Figure 28 has what it takes to write the columns of `ingest` without any proof.",
        ),
        2: Described(
            "admission",
            "admission: hashes, segments, joins, no Delta write",
            "a Python loop that hashes and compares the same lines",
            Bar(most=15),
            "The rows that would be merged are computed whole and thrown away. The loop reads the same file and "
            "compares each number with the hash of the line before.",
        ),
        3: Described(
            "line-facts",
            "hash and claims with the pandas UDF",
            "the same with `sha2` and a window",
            Bar(most=3),
            "Form, hash and claim of each line are computed and thrown away with its bytes: by the UDF over chunks of "
            "1,024 lines, as `ingest` reads them, and by Spark's functions over the lines of its text reader.",
        ),
        4: Described(
            "shape",
            "admission of one long journal",
            "admission of many journals with as many lines",
            Bar(most=3, least=1 / 3),
            "A large file is read in splits, the many small ones whole.",
        ),
        5: Described(
            "tip",
            "adding lines at the tip of a long held journal",
            "adding as many at the tip of a short one",
            Bar(most=1.5),
            "`ingest` of one frame into a lake that holds the journal, reduced. The `reduce` that follows is shown "
            "beside.",
        ),
        6: Described(
            "growth",
            "ingest of twice the lines",
            "ingest of the lines",
            Bar(most=2.5),
            "`ingest` of many journals, and of twice as many, into lakes whose tables are there and empty.",
        ),
        7: Described(
            "union-merge",
            "union merge of 1 % news",
            "a `MERGE` of the same rows written by hand, into a table of the same layout",
            Bar(most=1.2, aim=1.0),
            "The news are whole journals of all buckets, so that their range of n skips no file and every stored key "
            "is looked at. The statement by hand names the buckets and the range as the store does, and takes the rows "
            "as they are stored. Source rows lie in Parquet, targets are copies of one table.",
        ),
        8: Described(
            "tip-merge",
            "union merge of 1 % news at the tips of journals of 2 of 16 buckets",
            "a naive `MERGE` on the key alone, into an unpartitioned table of the same rows",
            Bar(most=0.5, aim=0.2),
            "Source rows lie in Parquet, targets are copies of one table each.",
        ),
        9: Described(
            "incremental-reduce",
            "incremental `reduce` of 1 % news in 1 % of the journals",
            "`reduce --full` of the same lake",
            Bar(),
            "Both are ours: figure 31 compares the first one with the same work by hand. `--full` runs where nothing "
            "new is left, so that it reduces everything exactly once. A `reduce` of one new line is shown beside: what "
            "its commits cost whatever came.",
        ),
        10: Described(
            "known",
            "ingest of known lines",
            "their first ingest",
            Bar(),
            "The same files again, into the lake that has taken and reduced them. Both are ours: see figure 29.",
        ),
        11: Described(
            "bytes",
            "bytes of the live data files of `node_journal_line`",
            "bytes of the text",
            Bar(most=1.2, aim=1.0),
            "After one ingest; sizes as the Delta log states them.",
        ),
        12: Described(
            "worker-memory",
            "peak memory of the largest Python worker, ten times the lines",
            "the same, the lines",
            Bar(most=1.2, aim=1.0),
            "Resident memory of the forked Python workers, its high-water mark read from /proc every "
            "tenth of a second while `ingest` runs; both ingests in one JVM of fixed heap.",
        ),
        13: Described(
            "one-process",
            "verified ingest with Spark",
            "the same work in one process: a Python loop verifies, polars shapes, delta-rs merges",
            Bar(most=1.5, aim=1.0),
            "One machine is the other side's home: no session, no processes, no shuffle. Its merge goes into an empty "
            "table of the same columns and partitions.",
        ),
        23: Described(
            "own-journals",
            "writing own journals: the rows of one commit, no Delta write",
            "`append` in pure Python of the same lines",
            Bar(most=4, aim=2),
            "What own nodes hold lies in `node_resource`, nothing of it is written. The rows are computed whole and "
            "thrown away; the run that writes them to Delta is shown beside. The other side has its pairs as values.",
        ),
        24: Described(
            "stream",
            "`stream --available-now` in four batches",
            "four batch runs of the same files, `ingest` and `reduce` each",
            Bar(most=1.5, aim=1.1),
            "Both start with a lake whose tables are there and empty.",
        ),
        25: Described(
            "one-file",
            "one more file into a large lake, from the file to the reduced state",
            "one append of its rows to a Delta table of the same size and layout",
            Bar(),
            "`ingest` and `reduce` of one frame that follows the tip of a journal. The rows to append lie in Parquet. "
            "One append is one of the commits that are needed: see figure 30.",
        ),
        26: Described(
            "sync",
            "`sync --from` with 1 % missing",
            "`ingest` of all into an empty lake",
            Bar(),
            "Both are ours: see figure 33. What is missing are lines at the tips of 1 % of the journals. `sync` "
            "compares the lakes, moves, judges, writes and reduces; the other side reads the files of which the lakes "
            "were made, and is not reduced.",
        ),
        27: Described(
            "sync-own",
            "`sync` for own nodes and their peers",
            "the same for half of the peers of each",
            Bar(most=2.2, aim=2.0),
            "Each own node has a tenth of the journals as its peers, each journal is a peer of a tenth of the own "
            "nodes: every line is a named pair of each of them, and is written on their journals. Memory as in "
            "figure 12.",
        ),
        34: Described(
            "scale-out",
            "ingest by two workers of one core",
            "the same by one worker of one core",
            Bar(most=0.625, aim=0.55),
            "A driver and its workers are processes of one machine (`local-cluster`), with 1 GiB and a core for each "
            "worker; the driver takes any core. Each side is a new session that has ingested an eighth of the input "
            "into other lakes before, four times; the last of these is shown beside: the less there is to ingest, the "
            "more the plans and commits of the driver weigh, and the higher is the ratio. What workers "
            "take of their cores must not grow with their number. Beside are the time of the driver, the cores that a "
            "worker takes while a second application does the same on the other core (the two share nothing but "
            "the machine), and what two cores of this machine hash at once. With two cores the driver takes its time "
            "from the workers.",
        ),
        35: Described(
            "growth-tenfold",
            "ingest of ten times the lines",
            "ingest of the lines",
            Bar(most=11, aim=10),
            "The two ingests of figure 12, in one JVM of fixed heap.",
        ),
        36: Described(
            "growth-fivefold",
            "ingest of fifty million lines",
            "ingest of ten million lines",
            Bar(most=5.5, aim=5),
            "In one JVM of fixed heap. The memory of workers is shown beside, as in figure 12.",
        ),
        37: Described(
            "skew",
            "ingest of lines of which nine of ten are in one journal",
            "ingest of as many lines, spread evenly",
            Bar(most=1.3, aim=1.0),
            "All other journals are as long as those of the even spread.",
        ),
        38: Described(
            "small-batches",
            "a query over a lake of a hundred micro-batches",
            "the same over a lake of one ingest",
            Bar(most=1.3, aim=1.0),
            "`stream` compacts small files between its batches. All live files of all tables are counted beside.",
        ),
        69: Described(
            "many-namespaces",
            "ingest and reduce of a million journals of two lines",
            "ingest and reduce of as many lines in long journals",
            Bar(),
            "All journals are frames. Each namespace has a row of `node_journal` and one of `namespace_state`, so a "
            "million of them is work of its own; the heap is that of all figures.",
        ),
    }
    | BY_HAND
    | LOGS
    | AURA
    | DEVICELOG
    | CONTEXTS
    | COLLECTIONS
)
