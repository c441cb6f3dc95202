"""What the dialect is, without Spark."""

from typing import Final

from strandline.dialect_api.info import DialectInfo

INFO: Final = DialectInfo(
    name="toy",
    load="toy_dialect.spark:TOY",
    kinds=("chain",),
    record_table="toy_note",
    reduced_tables=("toy_tip",),
    formats={"lines": (".toy",)},
    export_format="lines",
    message_format="lines",
)
