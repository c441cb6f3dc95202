"""All pages in one folder, as mkdocs takes them: README as the first page, links to what is outside as text."""

import os
import re
import shutil
from pathlib import Path

from docsite.markdown import table

ROOT = Path(__file__).parents[2]
NAMES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "docs/decisions": "decisions/index.md",
}
"""Pages of the site from outside `docs`, and the page that stands for the folder of decisions."""
_IMAGE = r"!\[[^\]]*\]\([^)]*\)"
_LINK = re.compile(rf"(!?)\[((?:{_IMAGE}|[^\]])*)\]\(([^)\s]+)\)")
"""A link or an image; the text of a link may be an image."""


def copy(folder: Path) -> None:
    """Make `folder` anew with all pages and pictures."""
    shutil.rmtree(folder, ignore_errors=True)
    for source in sources():
        target = folder / on_site(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.endswith(".md"):
            target.write_text(
                rewritten(source, (ROOT / source).read_text(encoding="utf-8")), encoding="utf-8"
            )
        else:
            shutil.copyfile(ROOT / source, target)
    (folder / NAMES["docs/decisions"]).write_text(_decisions(), encoding="utf-8")


def sources() -> list[str]:
    """Return the files of the site by their paths in the repository, ascending."""
    pages = [
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "docs" / "images").iterdir(),
        ROOT / "docs" / "site.css",
    ]
    top = [name for name in NAMES if name.endswith(".md")]
    return sorted([*(each.relative_to(ROOT).as_posix() for each in pages), *top])


def on_site(path: str) -> str:
    """Return the path on the site of a file of the repository."""
    return NAMES.get(path, path.removeprefix("docs/"))


def rewritten(page: str, text: str) -> str:
    """Return the text of a page with links between pages of the site; one to another file becomes its text."""
    known = {*sources(), *NAMES}

    def link(found: re.Match[str]) -> str:
        mark, label, target = found.groups()
        label = _LINK.sub(link, label)
        path, hash_, anchor = target.partition("#")
        if not path or "://" in path:
            return f"{mark}[{label}]({target})"
        inside = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if inside not in known:
            return label
        there = os.path.relpath(on_site(inside), os.path.dirname(on_site(page)) or ".")
        return f"{mark}[{label}]({there}{hash_}{anchor})"

    return _outside_code(text, lambda part: _LINK.sub(link, part))


def _outside_code(text: str, change) -> str:
    parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else change(part) for part in parts)


def _decisions() -> str:
    rows = []
    for path in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0]
        number, _, name = title.removeprefix("# ").partition(". ")
        rows.append((number, f"[{name}]({path.name})"))
    return "# Decisions\n\nOne page each, with the rejected options.\n\n" + table(("", "decision"), rows)
