"""The page that `report` writes: one HTML file without outside references, from the members of its report."""

from strandline.cli.page.html import render
from strandline.cli.page.previous import before_of

__all__ = ["before_of", "render"]
