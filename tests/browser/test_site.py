"""The documentation site that `make docs` built, from a local server: no request elsewhere, no console error."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from docsite.stage import ROOT, on_site, sources
from support.chromium import chromium

pytestmark = pytest.mark.browser
SITE = ROOT / "build" / "site"
PAGES = sorted(on_site(page).replace(".md", ".html") for page in sources() if page.endswith(".md"))


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and writes no log."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address():
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


def test_every_page_opens_without_an_error_or_another_server_and_fits_a_phone(browser, address):
    found = {}
    page = browser.new_page(viewport={"width": 390, "height": 800})
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    shown = [each for each in PAGES if not each.startswith("decisions/0")]
    for each in shown:
        page.goto(f"{address}/{each}")
        width = page.evaluate("document.documentElement.scrollWidth")
        broken = page.evaluate(
            "[...document.images].filter(each => !each.naturalWidth).map(each => each.src)"
        )
        headings = page.get_by_role("heading", level=1).count()
        found[each] = (width <= 390, broken, headings)
    assert {each: what for each, what in found.items() if what != (True, [], 1)} == {}
    assert said == []
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_search_finds_a_reason_in_light_and_dark(browser, address, scheme):
    page = browser.new_page(viewport={"width": 1300, "height": 800}, color_scheme=scheme)
    page.goto(f"{address}/index.html")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is (scheme == "light")
    page.get_by_role("textbox", name="Search").fill("LINE_NUMBER_MISMATCH")
    page.locator(".md-search-result__link", has_text="LINE_NUMBER_MISMATCH").first.click()
    page.wait_for_url("**/reasons.html**")
