"""The description of device logs and Scuttlebutt feeds: tables, options, files. This module does not import Spark."""

from typing import Final

from strandline.dialect_api.info import DialectInfo, LakeOption

SSB_PROFILE: Final = "ssb-profile"
"""The lake option that says whether a Scuttlebutt feed needs its beginning."""

SSB_HMAC_KEY: Final = "ssb-hmac-key"
"""The lake option of a Scuttlebutt network whose signatures are bound to its key."""

FORK_POLICY: Final = "fork-policy"
"""The lake option that says what a forked log shows."""

INFO: Final = DialectInfo(
    name="devicelog",
    load="strandline.dialects.devicelog.spark.dialect:DEVICELOG",
    kinds=("group",),
    record_table="device_log_entry",
    reduced_tables=(
        "device_log_view", "device_log_screw", "device_log_tip", "device_log_member", "equivocation",
    ),
    formats={"lines": (".jsonl", ".ndjson"), "json": (".json", ".txt")},
    export_format="lines",
    message_format="lines",
    lake_options=(
        LakeOption(
            SSB_PROFILE, "device_log_entry", "strandline.devicelog.ssb_profile",
            "strict (default): a Scuttlebutt feed needs its first message; weak: gaps are only reported.",
            ("strict", "weak"),
        ),
        LakeOption(
            SSB_HMAC_KEY, "device_log_entry", "strandline.devicelog.ssb_hmac_key",
            "Network key of Scuttlebutt signatures: 32 bytes in base64. Without it none is used.", metavar="KEY",
            form=r"(?:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=)?",
        ),
        LakeOption(
            FORK_POLICY, "device_log_entry", "strandline.devicelog.fork_policy",
            "keep-both (default): the view shows both branches of a forked log; freeze: neither, from the fork on.",
            ("keep-both", "freeze"),
        ),
    ),
    health="strandline.dialects.devicelog.reduce.health:HEALTH",
    drawing="strandline.dialects.devicelog.reduce.drawing:DRAWING",
    erasable="body",
    refuses_lost=True,
)  # fmt: skip
