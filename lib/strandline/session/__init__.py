"""The Spark session: started here on a laptop, used as it is in spark-submit and Databricks."""

from strandline.session.java import check_java, java_version
from strandline.session.open import end_session, is_hosted, log_path, open_session

__all__ = ["check_java", "end_session", "is_hosted", "java_version", "log_path", "open_session"]
