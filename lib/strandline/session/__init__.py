"""The Spark session: a local one is started; under spark-submit and on Databricks the existing one is used."""

from strandline.session.ending import end_session
from strandline.session.java import check_java, java_version
from strandline.session.open import is_hosted, log_path, open_session

__all__ = ["check_java", "end_session", "is_hosted", "java_version", "log_path", "open_session"]
