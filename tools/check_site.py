"""Follow every internal link of a built site, and refuse pages that load anything from another host.

    python tools/check_site.py build/site

A link is broken where its file, or the anchor within it, is not there. Exit code 1 and one line per finding.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("video", "src")}
NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "copyright", "license"}  # kinds of <link>


class Page(HTMLParser):
    """The anchors of a page, its links, and what a browser loads to show it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[name] for name in ("id", "name") if values.get(name))
        rel = set(values.get("rel", "").split()) if tag == "link" else set()
        for name, value in values.items():
            if name not in ("href", "src"):
                continue
            self.links.append(value)
            if (tag, name) in LOADED and not rel & NOT_LOADED:
                self.loads.append(value)


def findings(site: Path) -> list[str]:
    """One sentence for each broken link and each file from another host."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    pages = {path: page for path, page in pages.items() if "_static" not in path.relative_to(site.resolve()).parts}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name} loads {url} from another host" for url in page.loads if urlsplit(url).netloc]
        for link in dict.fromkeys(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{name} links to {link}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name} links to {link}, and the page has no such anchor")
    if not pages:
        found.append(f"{site} has no pages")
    return found


def main(site: Path) -> int:
    found = findings(site)
    for sentence in found:
        print(sentence, file=sys.stderr)
    if not found:
        print(f"{len(list(site.rglob('*.html')))} pages, no broken internal link, nothing loaded from another host")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
