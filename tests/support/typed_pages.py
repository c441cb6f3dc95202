"""The pages whose commands a test types, in this order and in one folder: README, then what it leads to."""

import re
import shlex

from support.packaged import ROOT

PAGES = (
    "README.md", "docs/start.md", "docs/local-journals.md", "docs/exchange.md", "docs/queries.md",
    "docs/contexts.md", "docs/usage.md",
)  # fmt: skip
TEXT = "\n".join((ROOT / page).read_text(encoding="utf-8") for page in PAGES)
BLOCKS = [
    (language, text)
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    if language in ("sh", "json", "")
]
"""The language and the text of each block that is typed or shown; a drawing is `text`."""


def commands(text: str) -> list[list[str]]:
    """Return every `strandline ..` line of the shell blocks of a page, as words."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("strandline ")]


QUERIES = [words[2] for words in commands(TEXT) if words[1] == "sql" and words[2] != "-f"]
DASHBOARDS = {path.stem: path.read_text("utf-8") for path in (ROOT / "examples" / "dashboards").glob("*.sql")}
"""The queries of dashboards by name, which a page runs as files."""
