"""The description of logs of ipfs-log and OrbitDB: tables, options and files. This module does not import Spark."""

from typing import Final

from strandline.dialect_api.info import DialectInfo, LakeOption, RunOption

PROFILE: Final = "ipfslog-profile"
"""The lake option that sets how strictly entries are verified."""

LOG_CONFIG: Final = "log-config"
"""The option for the file that sets the store and the writers of each log."""

INFO: Final = DialectInfo(
    name="ipfslog",
    load="strandline.dialects.ipfslog.spark.dialect:IPFSLOG",
    kinds=("log",),
    record_table="ipfs_log_entry",
    side_tables=("ipfs_log_identity", "ipfs_log_manifest"),
    reduced_tables=("ipfs_log_head", "ipfs_log_tail", "ipfs_log_view", "ipfs_log_document", "equivocation"),
    formats={"lines": (".jsonl", ".ndjson"), "json": (".json",), "car": (".car",)},
    export_format="car",
    message_format="lines",
    lake_options=(
        LakeOption(
            PROFILE, "ipfs_log_entry", "strandline.ipfslog.profile",
            "strict (default), or compat, which accepts what ipfs-log itself verifies.", ("strict", "compat"),
        ),
    ),
    run_options=(
        RunOption(
            LOG_CONFIG, ("reduce", "stream", "sync"), "FILE",
            "JSON file with stores and writers of logs. It stays in force for later runs; `none` removes it.",
            is_file=True, sticky=True,
        ),
    ),
    drawing="strandline.dialects.ipfslog.reduce.drawing:DRAWING",
    unpacking="strandline.dialects.ipfslog.codec.stored:UNPACKING",
)  # fmt: skip
