"""Settings of the site: `make docs` builds it into build/site. Nothing is fetched from a network."""

import re
from pathlib import Path

import matplotlib

import pursuit
from pursuit._utils.docs import declared_url

matplotlib.use("Agg")

project = "pursuit"
author = "pursuit developers"
copyright = "the pursuit developers"
version = release = pursuit.__version__
# The address of the repository, where the metadata declares one: links to files that are not on the site lead there.
REPOSITORY = declared_url("Repository")
ROOT = Path(__file__).resolve().parents[1]

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_templates"]
templates_path = ["_templates"]
nitpicky = True
nitpick_ignore_regex = [("py:class", r"pursuit\.objectives\.(jax|torch)_objective\..*")]  # what from_jax returns

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Signatures without types: the docstrings state them.
autodoc_typehints = "none"
autosummary_generate = True
# Names that differ by case only (Path, path) need file names that differ otherwise: macOS and Windows ignore case.
NAMES = {f"pursuit.{name}" for name in pursuit.__all__}
autosummary_filename_map = {name: f"{name}-class" for name in NAMES if name != name.lower() and name.lower() in NAMES}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": ["../examples/gallery/stories", "../examples/gallery/methods"],
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"/plot_",
    "doc_module": ("pursuit",),
    "backreferences_dir": "api/backreferences",
    "reference_url": {"pursuit": None},
    "abort_on_example_error": False,
    "download_all_examples": False,
    "write_computation_times": False,  # that page loads scripts from other hosts
    "capture_repr": (),  # what is printed is shown, not the value of the last line
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 0,
    "default_thumb_file": str(ROOT / "docs" / "images" / "demo_diabetes.png"),
}

html_theme = "pydata_sphinx_theme"
html_title = "pursuit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "start": [], "changelog": []}
html_theme_options = {
    **({"github_url": REPOSITORY} if REPOSITORY else {}),
    "logo": {"text": "pursuit"},
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
copybutton_exclude = ".linenos, .gp, .go"

# A link that leaves docs/ is one to the repository, or (where no address is declared) the text with the file's path.
OUTSIDE = re.compile(r"(?<!!)(\[[^\[\]]*\])\((?:\.\./)*((?:examples|experiments|src|tests|benchmarks|tools)/[^)\s]+)\)")
ROOT_PAGES = {"changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md", "security": "SECURITY.md"}


def read_source(app, docname, source):
    """Read pages of the repository's root, and rewrite links to files that are not on the site."""
    text = source[0]
    if docname in ROOT_PAGES:
        text = (ROOT / ROOT_PAGES[docname]).read_text(encoding="utf-8").replace("](docs/", "](")
        for page, name in ROOT_PAGES.items():
            text = text.replace(f"]({name}", f"]({page}.md")
    source[0] = OUTSIDE.sub(rf"\1({REPOSITORY}/blob/main/\2)" if REPOSITORY else _with_path, text)


def _with_path(link):
    """The text of a link, and the path of the file it leads to unless the text says it."""
    text, path = link.group(1)[1:-1], link.group(2)
    return text if path in text else f"{text} (`{path}`)"


def skip_member(app, kind, name, member, skip, options):
    """Leave out classes within classes, and what a class inherits from outside pursuit."""
    member = getattr(member, "fget", member)
    home = getattr(member, "__module__", None) or ""
    if kind == "class" and (isinstance(member, type) or (callable(member) and not home.startswith("pursuit"))):
        return True
    return None


def setup(app):
    app.connect("source-read", read_source)
    app.connect("autodoc-skip-member", skip_member)
