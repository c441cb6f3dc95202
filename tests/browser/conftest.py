"""Outside `make browser` the packages that drive Chromium are not installed, and these tests cannot be imported."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("playwright") else ["test_*.py"]
