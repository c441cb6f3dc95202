"""The Spark session: a local one is started; under spark-submit, on Databricks and over Connect it is the host's."""

from strandline.session.java import check_java
from strandline.session.local import log_path
from strandline.session.open import is_hosted, open_session

__all__ = ["check_java", "is_hosted", "log_path", "open_session"]
