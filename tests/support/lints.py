"""Lints of our own over the syntax tree: what no published linter knows to forbid here."""

import ast
from collections.abc import Iterator
from functools import cache

SQL_CALLS = frozenset({"sql", "expr", "selectExpr", "executeQuery"})
BANNED_MODULES = frozenset({"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle"})
BANNED_CALLS = frozenset({"eval", "exec", "compile", "__import__"})
YAML_LOADERS = frozenset({"load", "load_all", "unsafe_load", "unsafe_load_all", "full_load", "full_load_all"})
PROCESS_MODULES = frozenset({"subprocess", "pty"})
PROCESS_CALLS = frozenset({"system", "popen", "execv", "execve", "execvp", "spawnv", "fork"})
CLOCK_CALLS = frozenset(
    {("time", "time"), ("time", "monotonic"), ("time", "perf_counter"), ("time", "time_ns"), ("datetime", "now"),
     ("datetime", "utcnow"), ("datetime", "today"), ("date", "today")}
)  # fmt: skip
FILE_METHODS = frozenset(
    {"read_text", "read_bytes", "write_text", "write_bytes", "copyfile", "copy2", "copytree"}
)
ACTIONS = frozenset(
    {"collect", "toPandas", "toArrow", "toLocalIterator", "write", "writeTo", "cache", "persist", "show", "foreach",
     "foreachPartition", "take", "first", "head", "read", "readStream"}
)  # fmt: skip

READERS = frozenset({"read", "readStream", "write", "writeStream"})


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """Return all nodes of the syntax tree of a module; each module is parsed once, for all lints."""
    return tuple(ast.walk(ast.parse(source)))


def _calls(source: str) -> Iterator[tuple[ast.Call, str]]:
    for node in nodes(source):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            yield node, name


def _is_put_together(node: ast.expr) -> bool:
    """Return whether a text is put together on the spot: f-string with a field, %, + or format."""
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr) and any(
            isinstance(one, ast.FormattedValue) for one in part.values
        ):
            return True
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod | ast.Add):
            return True
        if (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr in ("format", "join")
        ):
            return True
    return False


def sql_put_together(source: str) -> list[int]:
    """Return the lines on which the text of a `sql(` or `expr(` call is put together."""
    return [
        call.lineno
        for call, name in _calls(source)
        if name in SQL_CALLS and call.args and _is_put_together(call.args[0])
    ]


def dangerous(source: str, *, may_start_processes: bool = False) -> list[str]:
    """Return what runs code or processes made of data: `line: what`."""
    found = []
    for node in nodes(source):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            root = name.partition(".")[0]
            if root in BANNED_MODULES or (root in PROCESS_MODULES and not may_start_processes):
                found.append(f"{node.lineno}: import {name}")
    for call, name in _calls(source):
        if isinstance(call.func, ast.Name) and name in BANNED_CALLS:
            found.append(f"{call.lineno}: {name}(")
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name):
            owner = call.func.value.id
            if owner == "yaml" and name in YAML_LOADERS:
                found.append(f"{call.lineno}: yaml.{name}(")
            if owner == "os" and name in PROCESS_CALLS:
                found.append(f"{call.lineno}: os.{name}(")
        if any(word.arg == "shell" for word in call.keywords):
            found.append(f"{call.lineno}: shell=")
    return found


def opens_files(source: str) -> list[str]:
    """Return where a file is opened, read or written by its path: `line: what`."""
    found = []
    for call, name in _calls(source):
        is_plain = isinstance(call.func, ast.Name) and name == "open"
        is_method = isinstance(call.func, ast.Attribute) and name in FILE_METHODS
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        is_module = name == "open" and isinstance(owner, ast.Name) and owner.id in ("os", "io", "gzip")
        # Path.open takes a mode; what takes none is a method of another thing.
        is_path = name == "open" and owner is not None and bool(call.args)
        if is_plain or is_method or is_module or is_path:
            found.append(f"{call.lineno}: {name}")
    return found


def reads_surroundings(source: str) -> list[str]:
    """Return where the clock or the environment is read: `line: what`."""
    found = []
    for node in nodes(source):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            pair = (node.value.id, node.attr)
            if pair in CLOCK_CALLS or pair in {("os", "environ"), ("os", "getenv"), ("os", "urandom")}:
                found.append(f"{node.lineno}: {'.'.join(pair)}")
    return found


def actions(source: str) -> list[str]:
    """Return where a frame is read, written or computed: `line: what`; a column function such as F.first is none."""
    found = [
        f"{node.lineno}: .{node.attr}"
        for node in nodes(source)
        if isinstance(node, ast.Attribute) and node.attr in ACTIONS and not _is_of_functions(node)
    ]
    for call, name in _calls(source):
        counted = name == "count" and not call.args and isinstance(call.func, ast.Attribute)
        if counted and not _is_of_functions(call.func):
            found.append(f"{call.lineno}: .count()")
    return found


PORTS = frozenset({"jobs", "tables", "lake", "there"})
"""What a dialect calls the ports that a pipeline gives it."""


def actions_past_ports(source: str) -> list[str]:
    """Return where a frame is read, written or computed, but by a port: `line: what`."""
    found = []
    for call, name in _calls(source):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is None or _is_of_functions(call.func):
            continue
        is_counted = name == "count" and not call.args
        is_of_reader = isinstance(owner, ast.Attribute) and owner.attr in READERS
        port = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", "")
        if is_of_reader or ((name in ACTIONS or is_counted) and port.lstrip("_") not in PORTS):
            found.append(f"{call.lineno}: .{name}")
    return found


def _is_of_functions(node: ast.expr) -> bool:
    """Return whether `node` is an attribute of F, Spark's functions."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "F"


JVM_NAMES = frozenset(
    {"_jvm", "_jsparkSession", "_jdf", "_jsc", "_sc", "_gateway", "sparkContext", "rdd", "SparkContext"}
)  # fmt: skip
JVM_MODULES = ("py4j", "pyspark.java_gateway", "pyspark.sql.classic", "delta")


def reaches_jvm(source: str) -> list[str]:
    """Imports and names that only a process with a JVM has."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and node.attr in JVM_NAMES:
            found.append(f"{node.lineno}: .{node.attr}")
            continue
        else:
            continue
        found += [
            f"{node.lineno}: {name}"
            for name in named
            if name.rpartition(".")[2] == "SparkContext"
            or any(name == module or name.startswith(f"{module}.") for module in JVM_MODULES)
        ]
    return found
