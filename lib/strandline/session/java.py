"""Finds the Java that Spark would start, and checks its version."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from strandline.core.errors import FaultError

SUPPORTED = (17, 21, 25)
"""The versions with long support that Spark 4.2 runs on."""
NAMED = f"Java {', '.join(map(str, SUPPORTED[:-1]))} or {SUPPORTED[-1]}"
INSTALL = (
    "install Java 17: `sudo apt-get install -y openjdk-17-jre-headless` (Debian, Ubuntu), "
    "`sudo dnf install -y java-17-openjdk-headless` (Fedora, RHEL), `brew install openjdk@17` (macOS); "
    "or set JAVA_HOME to an installed one"
)
_VERSION = re.compile(r'(?:version|JAVA_VERSION=)\s*"([0-9][0-9A-Za-z._+-]*)"')
_SECONDS = 30


def parse_version(text: str) -> str | None:
    """Return the version that `java -version` or a `release` file states (`17.0.15`), or None."""
    found = _VERSION.search(text)
    return found.group(1) if found else None


def major(version: str) -> int:
    """Return the feature number of a Java version: 8 of `1.8.0_392`, 17 of `17.0.15`, 21 of `21-ea`."""
    parts = re.split(r"[^0-9]", version)
    return int(parts[1]) if parts[0] == "1" and len(parts) > 1 and parts[1] else int(parts[0])


def find_java(environ: Mapping[str, str]) -> Path | None:
    """Return the `java` that Spark's scripts run: that of JAVA_HOME, else the first on PATH."""
    home = environ.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        return program if program.is_file() else None
    found = shutil.which("java", path=environ.get("PATH", ""))
    return Path(found) if found else None


def version_of(program: Path) -> str | None:
    """Return the version of `program`, from its `release` file, else from `java -version`; None if neither has one."""
    try:
        stated = parse_version((program.resolve().parents[1] / "release").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, IndexError):
        stated = None
    if stated is not None:
        return stated
    try:
        asked = subprocess.run(
            [str(program), "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return parse_version(asked.stderr + asked.stdout)


def java_version(environ: Mapping[str, str]) -> str | None:
    """Return the version of the Java that Spark would run, or None if there is none."""
    program = find_java(environ)
    return version_of(program) if program else None


def check_java(environ: Mapping[str, str]) -> str:
    """Return the version of a Java that Spark runs on.

    Raises: FaultError `JAVA_MISSING` without one, `JAVA_UNSUPPORTED` for one that is not in `SUPPORTED`.
    """
    program = find_java(environ)
    if program is None:
        home = environ.get("JAVA_HOME")
        where = f"JAVA_HOME is {home}, which has no bin/java" if home else "no java is on PATH"
        raise FaultError("JAVA_MISSING", f"Spark needs {NAMED}, but {where}", INSTALL)
    version = version_of(program)
    if version is None:
        raise FaultError("JAVA_MISSING", f"{program} does not report its version", INSTALL)
    if major(version) not in SUPPORTED:
        raise FaultError("JAVA_UNSUPPORTED", f"Spark needs {NAMED}, but {program} is Java {version}", INSTALL)
    return version
