"""Every module but those of classic sessions is imported by a client that has neither py4j nor a JVM's gateway."""

import json
import subprocess
import sys

import pytest

CODE = """
import importlib, json, pkgutil, sys

class Refuses:
    def find_spec(self, name, path=None, target=None):
        # `pyspark-client` lacks `pyspark.core`: pyspark then imports what a client of Spark Connect has.
        if name.partition(".")[0] in ("py4j", "delta") or name in ("pyspark.core", "pyspark.java_gateway"):
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Refuses())
import strandline
broken, modules = {}, []
for found in pkgutil.walk_packages(strandline.__path__, "strandline."):
    if found.name.startswith("strandline.session.classic") or found.name == "strandline.session.daemon":
        continue
    modules.append(found.name)
    try:
        importlib.import_module(found.name)
    except ImportError as error:
        broken[found.name] = str(error)
from pyspark.util import is_remote_only
print(json.dumps({"is_remote_only": is_remote_only(), "modules": len(modules), "broken": broken}))
"""


@pytest.mark.large
def test_all_modules_but_those_of_classic_sessions_are_imported_without_py4j() -> None:
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["broken"], told["is_remote_only"]) == ({}, True)
    assert told["modules"] > 300
