"""Every public name has a docstring in numpydoc form that names every parameter, and an example that runs.

A name that is added to ``pursuit.__all__`` or ``pursuit.plots.__all__`` is checked without a change here. The message
of a failure lists what is missing; CONTRIBUTING.md (How we write) says what a docstring has, `pursuit.solve` is a
model.
"""

import dataclasses
import doctest
import inspect

import pytest

import pursuit

validate = pytest.importorskip("numpydoc.validate").validate
docscrape = pytest.importorskip("numpydoc.docscrape")

CODES = {
    "GL03",  # two blank lines
    "GL07",  # order of the sections
    "GL08",  # no docstring
    "SS02",
    "SS03",
    "SS04",
    "SS05",  # the first line: a capital, no stray spaces, an infinitive
    "PR01",
    "PR02",
    "PR03",
    "PR04",
    "PR05",
    "PR06",
    "PR07",
    "PR08",  # every parameter, with type and description
    "RT01",
    "RT03",  # what is returned
    "EX01",  # an example
}
NAMES = [name for name in pursuit.__all__ if name != "__version__"]
PLOTS = [f"plots.{name}" for name in pursuit.plots.__all__]
NEEDS = {"from_jax": "jax", "from_torch": "torch", "TablePreparer": "pandas", "table_pipeline": "pandas"}


def get(name):
    found = pursuit
    for part in name.split("."):
        found = getattr(found, part)
    return found


def sections_of(obj):
    return docscrape.ClassDoc(obj) if inspect.isclass(obj) else docscrape.FunctionDoc(obj)


def is_result(obj):
    """What pursuit makes and users only read: its attributes are documented in place of its parameters."""
    sections = sections_of(obj) if inspect.isclass(obj) else {}
    return bool(sections) and bool(sections["Attributes"]) and not sections["Parameters"]


def methods(name):
    """The public methods that are written in pursuit, of estimators, results and displays."""
    obj = get(name)
    inner = (pursuit.Loss, pursuit.Solver, pursuit.Point, pursuit.OnDisk)  # their methods are for those who extend them
    if not inspect.isclass(obj) or issubclass(obj, inner):
        return
    users = hasattr(obj, "get_params") or is_result(obj) or name.startswith("plots.")
    for method, found in inspect.getmembers(obj) if users else ():
        function = inspect.unwrap(getattr(found, "__func__", found))
        if not method.startswith("_") and inspect.isfunction(function) and function.__module__.startswith("pursuit"):
            yield f"{name}.{method}"


def problems(name, skip=()):
    errors = validate(f"pursuit.{name}")["errors"]
    return [f"pursuit.{name}: {code} {text}" for code, text in errors if code in CODES and code not in skip]


@pytest.mark.parametrize("name", NAMES + PLOTS)
def test_docstring(name):
    obj = get(name)
    wrong = problems(name, ("PR01",) if is_result(obj) else ())
    needed = ["See Also", "Raises"] if inspect.isfunction(obj) and inspect.signature(obj).parameters else ["See Also"]
    wrong += [f"pursuit.{name} has no section {title}" for title in needed if not sections_of(obj)[title]]
    for method in methods(name):
        wrong += problems(method)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", [name for name in NAMES if is_result(get(name))])
def test_attributes_of_results(name):
    obj = get(name)
    listed = {
        one.strip() for entry in docscrape.ClassDoc(obj)["Attributes"] for one in entry.name.split(",")
    }  # a property without a line of its own is listed by its own docstring
    fields = {field.name for field in dataclasses.fields(obj)} if dataclasses.is_dataclass(obj) else set()
    missing = {field for field in fields - listed if not field.startswith("_") and field != "owner"}
    assert not missing, f"pursuit.{name}: say under Attributes what {sorted(missing)} are"


@pytest.mark.parametrize("name", NAMES + PLOTS)
def test_examples_run(name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    pyplot = pytest.importorskip("matplotlib.pyplot")
    obj = get(name)
    runner, finder = doctest.DocTestRunner(verbose=False), doctest.DocTestFinder(recurse=False)
    documented = [(f"pursuit.{name}", obj), *((f"pursuit.{method}", get(method)) for method in methods(name))]
    report = []
    for label, found in documented:
        for test in finder.find(found, label, globs={}):
            runner.run(test, out=report.append)
    pyplot.close("all")
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_help_of_a_cv_estimator_shows_every_parameter():
    for estimator in (pursuit.SparseRegressorCV, pursuit.SparseClassifierCV):
        text = inspect.getdoc(estimator)
        for parameter in inspect.signature(estimator).parameters:
            assert f"{parameter} : " in text or f"{parameter}, " in text or f", {parameter}" in text, parameter
