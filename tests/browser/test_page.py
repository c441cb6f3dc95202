"""The page of `report` in headless Chromium: no console error, the rules of axe, light, dark, a phone, the keyboard."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from strandline.cli import main
from support.chromium import chromium
from support.delta_rs_lake import empty_lake, held, state, write

pytestmark = pytest.mark.browser
NAMES = ["node:a", "log:<script>alert(1)</script>", *(f"node:{at:064x}" for at in range(30))]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    lake = empty_lake(folder / "lake")
    write(lake, "namespace_state", [state(name) for name in NAMES])
    write(
        lake,
        "equivocation",
        [{"namespace": NAMES[0], "dialect": "sdmp", "kind": "SDMP_FORK", "position": "1"}],
    )
    write(
        lake,
        "quarantine",
        [held(b"x", namespace=NAMES[1], status="rejected", reasons=["LINE_NUMBER_MISMATCH"])],
    )
    counts = {"read": 5, "new": 4, "rejected": 1}
    write(lake, "run", [{"run_id": "r", "command": "ingest", "outcome": "ok", "counts": counts}])
    for _ in range(2):
        assert main(["report", "--lake", str(lake), "--out", str(folder / "fleet.html")]) == 0
    return (folder / "fleet.html").as_uri()


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_the_page_has_no_errors_keeps_the_rules_of_axe_and_fits(browser, address, scheme, width):
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    assert said == []
    assert [url for url in asked if url != address and not url.startswith("data:")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("[data-health=forked]").inner_text() == "1"
    assert page.locator("[data-total=records]").inner_text() == str(len(NAMES))
    assert page.get_by_role("heading", level=1).inner_text() == "32 namespaces: 1 forked, 1 rejected, 30 ok"
    assert page.get_by_role("img", name="the table below has the numbers").count() == 2
    violations = [
        (each["id"], each["nodes"][0]["html"][:100]) for each in Axe().run(page).response["violations"]
    ]
    assert violations == []


def test_the_keyboard_reaches_links_tables_and_the_search(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(address)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#fleet"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "search":
            break
    page.keyboard.type("SCRIPT")
    assert page.get_by_role("status").inner_text() == "1 of 32 rows"
    assert page.locator("#namespaces tbody tr:visible").count() == 1


def test_on_a_phone_what_a_reason_means_stands_below_it(browser, address):
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(address)
    cells = page.locator("#reason-table tbody tr").first.locator("td")
    code, meaning = cells.first.bounding_box(), cells.last.bounding_box()
    assert meaning["y"] >= code["y"] + code["height"]
    assert meaning["x"] + meaning["width"] <= 390
