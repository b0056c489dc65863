"""The report in a real browser: Chromium from the system, driven by playwright."""

import shutil

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on this machine")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as play:
        open_browser = play.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield open_browser
        open_browser.close()


class Visit:
    """A page that was opened, and everything that it said or requested."""

    def __init__(self, browser, path, **how):
        self.trouble = []
        self.tab = browser.new_page(**how)
        self.tab.on("console", lambda message: self.trouble.append(message.text))
        self.tab.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.tab.on("dialog", lambda dialog: (self.trouble.append(dialog.message), dialog.dismiss()))
        self.tab.on("request", lambda request: self.trouble.append(request.url) if "file:" not in request.url else None)
        self.tab.goto(path.as_uri())


def test_nothing_is_asked_for_and_nothing_goes_wrong(browser, page, class_page, additive_page):
    for path in (page, class_page, additive_page):
        visit = Visit(browser, path)
        assert visit.trouble == []
        assert visit.tab.locator("img").count() == 0


def test_the_slider_moves_the_picture_and_the_table(browser, page):
    visit = Visit(browser, page)
    cursor, slider = visit.tab.locator("#path-cursor"), visit.tab.locator("#size")
    before, rows = cursor.get_attribute("x1"), visit.tab.locator("#size-features tr")
    slider.fill("1")
    assert rows.count() == 1
    assert "1 feature" in visit.tab.locator("#size-words").inner_text()
    assert cursor.get_attribute("x1") != before
    slider.focus()
    visit.tab.keyboard.press("ArrowRight")
    assert rows.count() == 2
    assert visit.trouble == []


def test_tables_sort(browser, page):
    tab = Visit(browser, page).tab
    heading = tab.locator("table.sortable th button").nth(1)
    column = "table.sortable tbody td:nth-child(2)"

    def values():
        return [float(cell.get_attribute("data-value")) for cell in tab.locator(column).all()]

    heading.click()
    assert values() == sorted(values(), reverse=True)
    heading.click()
    assert values() == sorted(values())


def test_dark_mode(browser, page):
    tab = Visit(browser, page).tab
    colour = "getComputedStyle(document.documentElement).backgroundColor"
    light = tab.evaluate(colour)
    tab.locator("#theme").click()
    assert tab.evaluate(colour) != light


def test_all_is_there_without_javascript(browser, page):
    visit = Visit(browser, page, java_script_enabled=False)
    assert visit.tab.locator("#size-features tr").count() > 0
    assert not visit.tab.locator("#size").is_visible()
    assert visit.tab.locator("details summary").is_visible()


def test_a_phone_needs_no_sideways_scrolling(browser, page):
    tab = Visit(browser, page, viewport={"width": 390, "height": 800}).tab
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390


def test_curves_on_a_phone_and_without_javascript(browser, additive_page):
    tab = Visit(browser, additive_page, viewport={"width": 390, "height": 800}).tab
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    tab.locator("#size").fill("0")
    assert tab.locator("#size-features tr").count() == 1  # a feature is included, so there is no smaller size
    visit = Visit(browser, additive_page, java_script_enabled=False)
    assert visit.tab.locator("polygon.band").first.is_visible()
    visit.tab.locator("summary", has_text="The curves as a table").click()
    assert visit.tab.get_by_text("Effects at the least value").is_visible()
