"""The Databricks bundle as its command line reads it: files included, a target chosen, variables filled in."""

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from support.packaged import ROOT

BUNDLE = ROOT / "databricks.yml"
VARIABLE = re.compile(r"\$\{([A-Za-z_.]+)\}")
RUN = "{{job.run_id}}"
DEVELOPER = "ann"
DEPLOYER = f"{DEVELOPER}@example.com"
_NOTEBOOK_MARKS = {".py": b"#", ".r": b"#", ".scala": b"//", ".sql": b"--"}
_HIDDEN = {".git", ".venv", "build", "dist"}
# What a list of resources is merged by; other lists are joined.
_KEYS = {"tasks": "task_key", "job_clusters": "job_cluster_key"}


def included() -> list[Path]:
    """The files that the bundle includes, in order."""
    patterns = _parsed(BUNDLE)["include"]
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def uploaded() -> list[Path]:
    """The files that a deployment puts into the workspace: those of `sync.paths`, or all."""
    paths = _read(BUNDLE).get("sync", {}).get("paths", [str(ROOT)])
    found = (path for name in paths for path in [Path(name), *sorted(Path(name).rglob("*"))])
    return [path for path in found if path.is_file() and not _HIDDEN & set(path.relative_to(ROOT).parts)]


def names_in_workspace(files: Iterable[Path]) -> dict[str, Path]:
    """The files by the name that each gets in the workspace, which a notebook has without its extension.

    Raises: ValueError for two of one name, which end a deployment (snapshot_state.go of the CLI).
    """
    found: dict[str, Path] = {}
    for path in files:
        name = str(path.relative_to(ROOT).with_suffix("") if _is_notebook(path) else path.relative_to(ROOT))
        if name in found:
            raise ValueError(f"both {found[name]} and {path} are {name}")
        found[name] = path
    return found


def _is_notebook(path: Path) -> bool:
    """As detect.go and detect_jupyter.go of the CLI find it."""
    suffix = path.suffix.lower()
    if suffix == ".ipynb":
        content = json.loads(path.read_text(encoding="utf-8"))
        return {"cells", "metadata"} <= content.keys() and content["nbformat"] >= 4
    mark = _NOTEBOOK_MARKS.get(suffix)
    return mark is not None and path.read_bytes()[:32].splitlines()[:1] == [
        mark + b" Databricks notebook source"
    ]


def targets() -> tuple[str, ...]:
    return tuple(_read(BUNDLE)["targets"])


def resolved(target: str, given: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The bundle for one target, with `given` in place of the values of variables. Paths are absolute."""
    whole: dict[str, Any] = {}
    for path in (BUNDLE, *included()):
        whole = _merged(whole, _read(path))
    chosen = whole.pop("targets")[target]
    values = {name: each.get("default") for name, each in whole["variables"].items()}
    values |= chosen.pop("variables", {}) | (given or {})
    known = {f"var.{name}": value for name, value in values.items()}
    known |= {"bundle.name": whole["bundle"]["name"], "bundle.target": target}
    known["workspace.current_user.userName"] = DEPLOYER
    whole = _merged(whole, chosen)
    resources = whole["resources"]
    # What the CLI presets (apply_presets.go), before it fills in names.
    is_dev = whole["mode"] == "development"
    prefix = whole.get("presets", {}).get("name_prefix", f"[dev {DEVELOPER}] " if is_dev else "")
    for job in resources["jobs"].values():
        job["name"] = prefix + job["name"]
    for schema in resources["schemas"].values():
        schema["name"] = _as_prefix_of_a_schema(prefix) + schema["name"]
    if is_dev:
        _pause(resources["jobs"])
    # A resource's name can have variables itself.
    for kind in ("schemas", "volumes"):
        for key, each in resources[kind].items():
            known[f"resources.{kind}.{key}.name"] = _filled(each["name"], known)
    found = _filled(whole, known)
    assert isinstance(found, dict)
    _drop_empty_policies(found["resources"]["jobs"])
    return found


def _as_prefix_of_a_schema(prefix: str) -> str:
    """`[dev ann] ` is `dev_ann_`: letters, digits and `_` stay, and `_` follows only after a bracket."""
    bare = prefix.replace("[", "").strip(" ")
    words = re.sub(r"[\W_]+", "_", bare.lower()).strip("_")
    return words + "_" * bare.endswith("]")


def _pause(jobs: Mapping[str, Any]) -> None:
    """Pauses what does not say itself whether it is paused, as the mode `development` does."""
    for job in jobs.values():
        for when in ("trigger", "schedule"):
            if when in job:
                job[when].setdefault("pause_status", "PAUSED")


def _drop_empty_policies(jobs: Mapping[str, Any]) -> None:
    """Takes an empty id of a policy away, as the CLI does from 1.10 on (drop_empty_strings.go)."""
    for job in jobs.values():
        for each in job["job_clusters"]:
            if each["new_cluster"]["policy_id"] == "":
                del each["new_cluster"]["policy_id"]


def used_variables() -> set[str]:
    """Every `${..}` in the files of the bundle."""
    return {
        name for path in (BUNDLE, *included()) for name in VARIABLE.findall(path.read_text(encoding="utf-8"))
    }


def _read(path: Path) -> dict[str, Any]:
    return _absolute(_parsed(path), path.parent)


@cache
def _parsed(path: Path) -> dict[str, Any]:
    """What a file says, which nobody changes: each target reads all files."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def _absolute(value: Any, folder: Path, name: str = "") -> Any:
    """Relative paths are those of the file that has them."""
    if isinstance(value, dict):
        return {key: _absolute(each, folder, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_absolute(each, folder, name) for each in value]
    if name in ("whl", "path", "paths", "notebook_path", "python_file") and isinstance(value, str):
        return str((folder / value).resolve())
    return value


def _merged(first: Any, second: Any, name: str = "") -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        shared = {key: _merged(first[key], second[key], key) for key in first.keys() & second.keys()}
        return {**first, **second, **shared}
    if isinstance(first, list) and isinstance(second, list):
        if name not in _KEYS:
            return [*first, *second]
        by_key = {each[_KEYS[name]]: each for each in first}
        for each in second:
            by_key[each[_KEYS[name]]] = _merged(by_key.get(each[_KEYS[name]], {}), each)
        return list(by_key.values())
    return second


def _filled(value: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, known) for each in value]
    if not isinstance(value, str):
        return value
    whole = VARIABLE.fullmatch(value)
    if whole is not None:
        return known[whole[1]]
    return VARIABLE.sub(lambda found: str(known[found[1]]), value)
