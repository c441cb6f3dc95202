"""Settings that the owner of a session may have made: none changes what a lake holds, or what its views tell."""

from support.commits import AUTO_COMPACT

OF_QUERIES = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.groupByAliases": "false",
    "spark.sql.groupByOrdinal": "false",
    "spark.sql.orderByOrdinal": "false",
    "spark.sql.mapKeyDedupPolicy": "LAST_WIN",
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.jsonGenerator.ignoreNullFields": "false",
    "spark.sql.optimizer.excludedRules": (
        "org.apache.spark.sql.catalyst.optimizer.PushDownPredicates,"
        "org.apache.spark.sql.catalyst.optimizer.CollapseProject"
    ),
    "spark.sql.legacy.castComplexTypesToString.enabled": "true",
    "spark.sql.legacy.charVarcharAsString": "true",
    "spark.sql.legacy.codingErrorAction": "true",
    "spark.sql.legacy.ctePrecedencePolicy": "LEGACY",
    "spark.sql.legacy.followThreeValuedLogicInArrayExists": "false",
    "spark.sql.legacy.interval.enabled": "true",
    "spark.sql.legacy.keepCommandOutputSchema": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "true",
    "spark.sql.legacy.sizeOfNull": "true",
    "spark.sql.legacy.timeParserPolicy": "LEGACY",
    "spark.sql.legacy.typeCoercion.datetimeToString.enabled": "true",
}
"""What decides how SQL is read and computed."""

OF_SESSIONS = OF_QUERIES | {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "3",
    "spark.sql.execution.arrow.pyspark.selfDestruct.enabled": "true",
    "spark.sql.execution.pandas.convertToArrowArraySafely": "true",
    "spark.sql.execution.pyspark.binaryAsBytes": "false",
    "spark.sql.execution.pythonUDF.arrow.enabled": "true",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype": "true",
    "spark.sql.files.maxRecordsPerFile": "2",
    "spark.sql.parquet.compression.codec": "snappy",
    "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY",
    "spark.sql.parquet.writeLegacyFormat": "true",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.sql.storeAssignmentPolicy": "LEGACY",
    "spark.databricks.delta.commitInfo.userMetadata": "of the owner",
    "spark.databricks.delta.merge.materializeSource": "all",
    "spark.databricks.delta.optimizeWrite.enabled": "true",
    "spark.databricks.delta.properties.defaults.appendOnly": "true",
    "spark.databricks.delta.properties.defaults.enableDeletionVectors": "true",
    "spark.databricks.delta.schema.autoMerge.enabled": "true",
    "spark.databricks.delta.stats.collect": "false",
    **AUTO_COMPACT,
}
"""Those, and what decides how tables are written and what Python gets."""
