"""The description of Aura journals: tables, options and files. This module does not import Spark."""

from collections.abc import Mapping
from typing import Final

from strandline.dialect_api.info import DialectInfo, LakeOption, RunOption

PINS: Final = "aura-pins"
"""The option for the file that names the genesis of authorities and contexts."""

TRANSITIONS: Final = "amp-transitions"
"""The lake option that says whether facts about AMP transitions are read."""


def reads_transitions(lake_options: Mapping[str, str]) -> bool:
    """Return whether AMP transitions are facts in a lake with these options."""
    return lake_options.get(TRANSITIONS) == "on"


INFO: Final = DialectInfo(
    name="aura",
    load="strandline.dialects.aura.spark.dialect:AURA",
    kinds=("authority", "context"),
    record_table="aura_fact",
    reduced_tables=(
        "attested_op", "authority_state", "authority_leaf", "relational_binding", "flow_budget", "channel_epoch",
        "capability", "equivocation",
    ),
    formats={"lines": (".jsonl", ".ndjson"), "json": (".json",), "cbor": (".cbor", ".cborseq")},
    export_format="lines",
    export_formats=("json", "cbor"),
    message_format="lines",
    lake_options=(
        LakeOption(
            TRANSITIONS, "aura_fact", "strandline.aura.amp_transitions",
            "off (default): facts about AMP transitions are VARIANT_UNKNOWN; on: they are accepted and move channels.",
            ("off", "on"),
        ),
    ),
    run_options=(
        RunOption(
            PINS, ("ingest", "stream", "sync"), "FILE",
            "JSON file with the genesis of authorities and contexts whose id does not derive from it.",
            is_file=True,
        ),
    ),
)  # fmt: skip
