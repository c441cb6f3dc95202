"""What Spark and the system say of trouble around us, as one sentence that names the place."""

import errno
import io
import json
import os
import pickle
import socket
import tempfile
from pathlib import Path

import pytest
from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
from py4j.protocol import Py4JError
from pyspark.serializers import read_int

from strandline.cli import main
from strandline.cli.failures import as_fault, bug_lines
from strandline.session.java import parse_version

LAKE = "/data/lake/node_journal_line"
READING = "[FAILED_READ_FILE.FILE_NOT_EXIST] Encountered error while reading file"
CASES = {
    "a data file that is missing": (
        (
            f"An error occurred while calling o5.collect.\n: org.apache.spark.SparkException: {READING} "
            f"file:{LAKE}/bucket=14/part-0.c000.zstd.parquet. File does not exist. It is possible ..\n\tat x.y"
        ),
        "TABLE_DAMAGED",
        f"a file of the lake or of the input is missing: {LAKE}/bucket=14/part-0.c000.zstd.parquet",
    ),
    "an input file that is missing": (
        "FileNotFoundError: [Errno 2] No such file or directory: b'/in/a.journal'\n",
        "TABLE_DAMAGED",
        "a file of the lake or of the input is missing: /in/a.journal",
    ),
    "a full disk, its place on a line before": (
        (
            f"Task failed while writing rows to file:{LAKE}. SQLSTATE: 58030\n\tat a.b(C.scala:1)\n"
            "Caused by: java.io.IOException: No space left on device\n\tat java.base/java.io"
        ),
        "DISK_FULL",
        f"the disk is full: {LAKE}",
    ),
    "a disk of nobody knows which folder": (
        "java.io.IOException: File too large",
        "DISK_FULL",
        f"the disk is full: /data/lake or {tempfile.gettempdir()}",
    ),
    "a table that may not be written": (
        f"java.io.FileNotFoundException: {LAKE}/_delta_log/.2.json.tmp (Operation not permitted)",
        "NOT_WRITABLE",
        f"a file or folder cannot be read or written: {LAKE}/_delta_log/.2.json.tmp",
    ),
    "a file where a folder must be": (
        f"Mkdirs failed to create file:{LAKE}/bucket=3 (exists=false, cwd=file:/home)",
        "NOT_WRITABLE",
        f"a file or folder cannot be read or written: {LAKE}/bucket=3",
    ),
    "a file where a partition must be": (
        f"FileAlreadyExistsException: Destination exists and is not a directory: {LAKE}/bucket=3\n\tat x.y",
        "NOT_WRITABLE",
        f"a file or folder cannot be read or written: {LAKE}/bucket=3",
    ),
    "a table with a feature of a newer Delta": (
        (
            f'[DELTA_UNSUPPORTED_FEATURES_FOR_WRITE] Unsupported Delta write feature: table "file:{LAKE}" requires '
            'writer table feature(s) that are unsupported by Delta Lake "4.4.0": someFeature.'
        ),
        "TABLE_UNSUPPORTED",
        f"a table of the lake has a feature of Delta that is unknown here: {LAKE}",
    ),
    "a table whose commits a service coordinates": (
        (
            "[DELTA_UNSUPPORTED_WRITES_WITHOUT_COORDINATOR] You are trying to perform writes on a table which has been "
            "registered with the commit coordinator dynamodb. However, no implementation of it is available."
        ),
        "TABLE_UNSUPPORTED",
        "a table of the lake has a feature of Delta that is unknown here",
    ),
    "a table that its catalog manages, by its path": (
        (
            "[DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED] Path-based access is not allowed for "
            f"Catalog-Managed table: {LAKE}. Please access the table via its name and retry."
        ),
        "TABLE_UNSUPPORTED",
        f"a table of the lake belongs to a catalog, and only the catalog knows its newest commits: {LAKE}",
    ),
    "a table that its catalog compacts": (
        (
            "[DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_OPERATION] OPTIMIZE is blocked by the catalog for "
            "Catalog-Managed tables."
        ),
        "TABLE_UNSUPPORTED",
        "the catalog of the lake manages its tables and does not let others compact or vacuum them",
    ),
    "a group of devices whose entries somebody deleted": (
        (
            "An exception was thrown from the Python worker:\nTraceback (most recent call last):\n  File ..\n"
            f"MissingEntryError: the entry {'0' * 64} of a device log is missing\n"
        ),
        "ENTRIES_LOST",
        "device logs lack entries that others name: an older version of their table was restored, or rows were deleted",
    ),
    "a full disk, of two places that were named before the nearest": (
        (
            f"Reading file:/elsewhere/a.parquet\nTask failed while writing rows to file:{LAKE}.\n"
            "Caused by: java.io.IOException: No space left on device\n"
        ),
        "DISK_FULL",
        f"the disk is full: {LAKE}",
    ),
    "no memory": (
        "java.lang.OutOfMemoryError: Java heap space",
        "MEMORY_SHORT",
        "Spark ran out of memory",
    ),
    "a lake in a store without its jar": (
        (
            "An error occurred while calling o92.sql.\n: java.lang.RuntimeException: java.lang.ClassNotFoundException: "
            "Class org.apache.hadoop.fs.s3a.S3AFileSystem not found\n\tat org.apache.hadoop.conf.Configuration"
        ),
        "STORE_JAR_MISSING",
        "Spark has no jar for the store of the lake",
    ),
    "a lake in a store that Spark does not know": (
        'org.apache.hadoop.fs.UnsupportedFileSystemException: No FileSystem for scheme "s3"',
        "STORE_JAR_MISSING",
        "Spark has no jar for the store of the lake",
    ),
    "a user without a right on a table of Unity Catalog": (
        (
            "[INSUFFICIENT_PERMISSIONS] Insufficient privileges:\nUser does not have MODIFY on Table "
            "'main.ours.node_journal'. SQLSTATE: 42501"
        ),
        "CATALOG_DENIED",
        "this user lacks a right on the lake: MODIFY on Table 'main.ours.node_journal'",
    ),
    "a user without two rights, in the words of an older runtime": (
        (
            "[INSUFFICIENT_PERMISSIONS] Insufficient privileges:\nUser does not have permission READ_METADATA,USAGE on "
            "database `ours`. SQLSTATE: 42501"
        ),
        "CATALOG_DENIED",
        "this user lacks a right on the lake: READ_METADATA,USAGE on database `ours`",
    ),
    "a catalog that says otherwise what a user lacks": (
        "[INSUFFICIENT_PERMISSIONS] Insufficient privileges: jdbc:x;password=secret SQLSTATE: 42501",
        "CATALOG_DENIED",
        "this user lacks a right on the lake",
    ),
    "serverless compute that persists no frame": (
        "[NOT_SUPPORTED_WITH_SERVERLESS] PERSIST TABLE is not supported on serverless compute. SQLSTATE: 0A000",
        "COMPUTE_UNSUPPORTED",
        "Strandline needs persisted frames and settings that serverless compute does not have",
    ),
    "serverless compute that tells no setting": (
        "[CONFIG_NOT_AVAILABLE] Configuration spark.sql.extensions is not available. SQLSTATE: 42K0I",
        "COMPUTE_UNSUPPORTED",
        "Strandline needs persisted frames and settings that serverless compute does not have",
    ),
    "a JVM that is gone while it is asked": (
        "Error while sending or receiving",
        "SPARK_ENDED",
        "Spark's JVM ended during the command",
    ),
    "a JVM that gives no answer": (
        "An error occurred while calling o25.collect",
        "SPARK_ENDED",
        "Spark's JVM ended during the command",
    ),
    "a JVM that is gone before it sends rows": (
        "[CANNOT_OPEN_SOCKET] Can not open socket: tried to connect to ('127.0.0.1', 40123), but ..",
        "SPARK_ENDED",
        "Spark's JVM ended during the command",
    ),
    "a JVM that is gone": (
        "Answer from Java side is empty",
        "SPARK_ENDED",
        "Spark's JVM ended during the command",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_error_of_spark_is_told_with_its_place(name):
    text, code, sentence = CASES[name]
    fault = as_fault(Py4JError(text), None, "/data/lake")
    assert (fault.code, fault.message, fault.exit_code) == (code, sentence, 3)
    assert fault.next


def test_a_lost_connection_to_the_jvm_is_its_end_and_that_of_another_server_is_a_bug():
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    java = ClientServer(JavaParameters(port=port), PythonParameters(eager_load=False))
    for call in (lambda: java.jvm.System, lambda: read_int(io.BytesIO())):
        with pytest.raises((ConnectionRefusedError, EOFError)) as lost:
            call()
        assert as_fault(lost.value, None).code == "SPARK_ENDED"
    for call in (lambda: socket.create_connection(("127.0.0.1", port)), lambda: pickle.loads(b"")):
        with pytest.raises((ConnectionRefusedError, EOFError)) as lost:
            call()
        assert as_fault(lost.value, None) is None


def test_an_error_that_says_nothing_of_our_surroundings_is_a_bug():
    assert as_fault(Py4JError("java.lang.IllegalStateException: no way"), None) is None
    assert as_fault(ValueError("No space left on device"), None) is None


SYSTEM = {
    errno.ENOSPC: "DISK_FULL",
    errno.EDQUOT: "DISK_FULL",
    errno.EFBIG: "DISK_FULL",
    errno.EROFS: "NOT_WRITABLE",
    errno.EACCES: "NOT_WRITABLE",
    errno.EPERM: "NOT_WRITABLE",
}


@pytest.mark.parametrize("number", SYSTEM, ids=errno.errorcode.get)
def test_an_error_number_of_the_system_is_told_by_what_it_means_with_its_file(number):
    for place, named in (
        ("/data/out.car", "/data/out.car"),
        (None, f"/data/lake or {tempfile.gettempdir()}"),
    ):
        fault = as_fault(OSError(number, os.strerror(number), place), None, "/data/lake")
        assert (fault.code, fault.exit_code) == (SYSTEM[number], 3)
        assert fault.message.endswith(f": {named}")


def test_a_machine_without_a_folder_for_temporary_files_is_told(monkeypatch):
    # As a container has it whose file system is read-only.
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp', '/var/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    with pytest.raises(FileNotFoundError) as failed:
        tempfile.gettempdir()
    fault = as_fault(failed.value, None, "/data/lake")
    assert (fault.code, fault.exit_code) == ("NOT_WRITABLE", 3)
    assert "['/tmp', '/var/tmp']" in fault.message
    assert "TMPDIR" in fault.next
    full = as_fault(Py4JError("java.io.IOException: No space left on device"), None, "/data/lake")
    assert full.message == "the disk is full: /data/lake"


@pytest.mark.parametrize("command", [["status"], ["unpack", "blocks", "--out", "blocks.car"]])
def test_a_working_folder_that_was_removed_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    try:
        assert main([*command, "--json"]) == 2
    finally:
        os.chdir(tmp_path)
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "WORKING_FOLDER_GONE"
    # Of a folder that is there, a missing file is no such error.
    assert as_fault(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)), None) is None


def test_a_name_that_the_system_does_not_take_is_wrong_usage():
    fault = as_fault(
        OSError(errno.ENAMETOOLONG, "File name too long", "/data/" + "x" * 300), None, "/data/lake"
    )
    assert (fault.code, fault.exit_code) == ("PATH_TOO_LONG", 2)
    assert fault.message.startswith("the system takes no path of this length: /data/xxx")


def test_an_error_number_that_says_nothing_of_our_surroundings_is_a_bug():
    assert as_fault(OSError(errno.ESPIPE, os.strerror(errno.ESPIPE), "/data/lake"), None) is None


def test_an_error_of_the_system_is_told_with_its_file():
    fault = as_fault(OSError(errno.EROFS, "Read-only file system", "/data/lake"), None)
    assert fault.message == "a file or folder cannot be read or written: /data/lake"


@pytest.mark.parametrize("name", ["pyspark", "pyspark.sql.types", "py4j.protocol", "delta.tables"])
def test_a_missing_part_of_spark_is_a_missing_spark(name: str) -> None:
    fault = as_fault(ModuleNotFoundError(f"No module named {name!r}", name=name), None)
    assert fault is not None
    assert (fault.code, fault.exit_code) == ("SPARK_MISSING", 3)
    assert as_fault(ModuleNotFoundError("No module named 'deltas'", name="deltas"), None) is None


def test_the_log_is_named_where_it_is_there_and_the_path_is_that_of_the_line_that_failed(tmp_path):
    log = tmp_path / "spark.log"
    text = "at first /a/b here\njava.io.IOException: No space left on device /c/d\n\tat /e/f\n"
    faults = [as_fault(Py4JError(text), given, "/lake") for given in (None, log)]
    log.touch()
    faults.append(as_fault(Py4JError(text), log, "/lake"))
    assert [fault.message for fault in faults] == ["the disk is full: /c/d"] * 3
    assert [f"Spark's log is {log}" in fault.next for fault in faults] == [False, False, True]
    # The line that failed is the last one, with or without an end, or the first one.
    for line in ("No space left on device /c/d", "/c/d: No space left on device"):
        for whole in (line, f"{line}\n/e/f", f"/a/b\n{line}", f"/a/b\n{line}\n/e/f\n/g/h"):
            assert as_fault(Py4JError(whole), None).message == "the disk is full: /c/d", whole


def test_a_bug_is_told_with_the_last_line_of_our_own_and_the_first_line_of_its_text(tmp_path):
    def ours():
        raise ValueError(f"first {'x' * 300}\nsecond\x1b")

    with pytest.raises(ValueError, match="first") as elsewhere:
        ours()
    here = Path(__file__).name
    line = ours.__code__.co_firstlineno + 1
    last = bug_lines(elsewhere.value, tmp_path / "absent.log", "1.2")[-1]
    assert last == (
        "This is a bug in Strandline. Please report this line: "
        f"strandline 1.2, {here}:{line}, ValueError: first {'x' * 194}"
    )
    with pytest.raises(TypeError) as inside:
        parse_version(None)
    lines = bug_lines(inside.value, tmp_path, "1.2")
    assert ", java.py:" in lines[-1]
    assert lines[-2] == f"Spark's log is {tmp_path}"
    assert lines[0].startswith("Traceback")
    assert bug_lines(ValueError(), None, "1")[-1].endswith("strandline 1, ?, ValueError: ")
    assert not any("\x1b" in each for each in bug_lines(elsewhere.value, None, "1"))


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("/home/pyspark/lib/strandline/tables/x.py", None),
        ("/strandline/site-packages/py4j/clientserver.py", "SPARK_ENDED"),
        ("/strandline/site-packages/requests/x.py", None),
        ("/usr/lib/python3.11/socket.py", None),
    ],
)
def test_a_folder_of_the_machine_with_the_name_of_a_package_does_not_blame_it(file, code):
    with pytest.raises(ConnectionResetError) as lost:
        exec(compile("raise ConnectionResetError", file, "exec"))
    fault = as_fault(lost.value, None)
    assert (fault and fault.code) == code
