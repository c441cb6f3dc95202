"""The figures beside what a user of Spark does by hand, without a proof of anything: 28 to 33, 70."""

from __future__ import annotations

from typing import Final

from bench.described import Bar, Described

BY_HAND: Final = {
    28: Described(
        "verified-columns",
        "verified ingest of lines",
        "the same columns of the same files by Spark, unverified, and the same MERGE",
        Bar(most=1.6, aim=1.2),
        "The other side reads each file as one journal and computes all columns by Spark's own functions: positions by "
        "a window over the file, hashes by `sha2`. The window is part of its price: it shuffles and sorts all lines, "
        "and the lines of a file are in one task, so compare many journals rather than one. Other ways to positions "
        "are not measured. Then both shuffle the rows once to the layout of the table. Both write to a lake whose "
        "tables are there and empty.",
    ),
    29: Described(
        "known-by-hand",
        "ingest of known lines",
        "a join by hand that looks for lines which the table does not have",
        Bar(most=2, aim=1.3),
        "The other side computes the keys of all lines as in figure 28, and counts those without a stored row.",
    ),
    30: Described(
        "one-file-by-hand",
        "one more file into a large lake, from the file to the reduced state",
        "its five commits by hand",
        Bar(most=1.6, aim=1.2),
        "`ingest` and `reduce` of one frame that follows the tip of a journal. The other side has the rows that such "
        "runs wrote, and writes them again, one commit after the other. Three MERGEs take their rows from Parquet "
        "files and name the same buckets as the product, that of the lines also the same range of n. The two rows of "
        "`run` are in memory and are appended by delta-rs, as the product does it.",
    ),
    31: Described(
        "news-by-hand",
        "incremental `reduce` of 1 % news in 1 % of the journals",
        "the change feed read, and the same MERGEs by hand",
        Bar(most=2, aim=1.2),
        "The other side counts the news of the feed by namespace, and has the rows that such a run wrote in Parquet "
        "files; its MERGEs name the same buckets as the product. Distinct pairs of a journal are part of its row, and "
        "no news tell whether an older line has the same pair: the stage `new pairs` reads the pairs of all lines "
        "of the journals.",
    ),
    32: Described(
        "log-news-by-hand",
        "`reduce` of 1 % news at the end of one long log",
        "the change feed read, and the same MERGEs by hand",
        Bar(most=2.5, aim=1.5),
        "The other side is that of figure 31. Its MERGE into the view of the log names the range of positions, as the "
        "product does.",
    ),
    33: Described(
        "sync-by-hand",
        "`sync --from` with 1 % missing",
        "the missing rows by one MERGE from the other table by hand",
        Bar(most=3, aim=1.5),
        "`sync` compares the lakes, moves, judges, writes and reduces what is missing; the other side takes each row "
        "of the other lake for genuine. Its MERGE looks at all keys of both tables: nobody knows before which rows are "
        "missing, so no range of n leaves a file out.",
    ),
    70: Described(
        "checkpoint",
        "the first checkpoint of records",
        "a place for each of their ids by hand, and the same MERGE",
        Bar(most=1.6, aim=1.2),
        "The other side numbers the ids of each namespace by one window and inserts the rows of `checkpoint_leaf`: it "
        "compares nothing, hashes nothing and signs nothing. Beside it stands what the ingest of the records took.",
    ),
}
