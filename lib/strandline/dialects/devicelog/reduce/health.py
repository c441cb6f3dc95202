"""The health of groups as SQL that delta-rs and Spark both read: messages of feeds whose predecessor is missing.

A silent device is no fault: it holds the final prefix back, as the view `device_log_health` shows.
"""

from typing import Final

from strandline.dialect_api.health import HealthPart, HealthSql

HEALTH: Final = HealthSql(
    tables=("device_log_tip",),
    behind=(
        HealthPart(
            "SELECT namespace, CAST(sum(gaps) AS BIGINT) AS behind FROM device_log_tip "
            "WHERE gaps > 0 GROUP BY namespace"
        ),
    ),
)
