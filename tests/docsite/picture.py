"""The picture of README: the top of the page that `report` writes about the lake of the demo."""

import tempfile
from pathlib import Path

from docsite.stage import ROOT
from strandline.cli import main
from support.chromium import chromium

WIDTH, HEIGHT, MARGIN = 1120, 820, 2
FILE = ROOT / "docs" / "images" / "report.png"


def draw(lake: Path) -> None:
    """Write the picture. The line above the heading, with the path of the lake, is not on it."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page_file = Path(folder) / "report.html"
        assert main(["report", "--lake", str(lake), "--out", str(page_file)]) == 0
        page = browser.new_page(viewport={"width": WIDTH, "height": 2 * HEIGHT}, color_scheme="light")
        page.goto(page_file.as_uri())
        box = page.get_by_role("heading", level=1).bounding_box()
        assert box is not None
        top = box["y"] - MARGIN
        page.screenshot(path=FILE, clip={"x": 0, "y": top, "width": WIDTH, "height": HEIGHT})
