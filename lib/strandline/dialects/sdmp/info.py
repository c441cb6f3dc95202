"""The description of node journals: tables, options and files. This module does not import Spark."""

from typing import Final

from strandline.dialect_api.info import DialectInfo, LakeOption, RunOption

STRICT: Final = "strict"
"""The lake option that refuses ids that are valid but not in canonical form."""

INFO: Final = DialectInfo(
    name="sdmp",
    load="strandline.dialects.sdmp.spark.dialect:SDMP",
    kinds=("node",),
    record_table="node_journal_line",
    reduced_tables=("node_journal", "equivocation"),
    lake_options=(
        LakeOption(
            STRICT, "node_journal_line", "strandline.sdmp.reading",
            "Refuse ids that are valid but not in canonical form.", ("weak", "strict"), flag="strict",
        ),
    ),
    run_options=(
        RunOption(
            "nodes", ("ingest", "stream", "reduce", "sync"), "FILE",
            "JSON file with your nodes and the peers each one follows. `ingest`, `stream` and `sync` write these nodes'"
            " journals; `reduce` finds what each node lacks.",
            is_file=True,
        ),
        RunOption(
            "restore", ("ingest",), "NODE",
            "Accept lines of this local node that the lake does not have; can be repeated.", is_list=True,
        ),
        RunOption(
            "force-write", ("ingest", "sync"), "NODE",
            "Write the journal of this local node although its writer stopped; can be repeated.", is_list=True,
        ),
    ),
    health="strandline.dialects.sdmp.reduce.health:HEALTH",
    drawing="strandline.dialects.sdmp.reduce.drawing:DRAWING",
)  # fmt: skip
