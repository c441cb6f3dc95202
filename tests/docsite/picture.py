"""The picture of README: the top of the page that `report` writes about the lake of the demo."""

import tempfile
from pathlib import Path

from docsite.stage import ROOT
from strandline.cli import main
from support.chromium import chromium

WIDTH, MARGIN, REASONS = 1120, 16, 2
FILE = ROOT / "docs" / "images" / "report.png"


def draw(lake: Path) -> None:
    """Write the picture: from the heading to the first reasons. The path of the lake, above it, is not on it."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page_file = Path(folder) / "report.html"
        assert main(["report", "--lake", str(lake), "--out", str(page_file)]) == 0
        page = browser.new_page(viewport={"width": WIDTH, "height": 2 * WIDTH}, color_scheme="light")
        page.goto(page_file.as_uri())
        page.locator("header p.soft").evaluate("line => line.style.visibility = 'hidden'")
        first = page.get_by_role("heading", level=1).bounding_box()
        last = page.locator("#reason-table tbody tr").nth(REASONS - 1).bounding_box()
        assert first is not None
        assert last is not None
        top = first["y"] - MARGIN
        height = last["y"] + last["height"] - top
        page.screenshot(path=FILE, clip={"x": 0, "y": top, "width": WIDTH, "height": height})
