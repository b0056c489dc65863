"""No identifier that was replaced by a plain one comes back (docs/adr/0040-plain-names.md has the new names)."""

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = sorted((ROOT / "src").rglob("*.py"))

MODULES = {
    "": "_arrays _described _errors _files _labels _lazy _names _order _sorted _tables _types progress diary "
    "checkpoints recovery graph_search driver loop results searched walked steps",
    "cli": "asked nodes auto demo demo_data demo_lasso demo_picture demo_race",
    "estimators": "chooses given reading scored edges edge_selector scatter graphs precision "
    "precision_cv lda lda_choice",
    "engines": "far questions clock",
    "resampling": "agreement found halves",
    "certificates": "proof handed table general quadratic",
    "reports": "page describe",
    "inference": "given",
    "io": "_pieces _wanted converting",
    "objectives": "kernel_path few_columns",
    "paths": "follow walk found kept certified",
    "selection": "plain shown combine shrink",
    "data": "far spread make many",
    "refits": "few on_support",
    "solvers": "walk",
}

# words that mean nothing else: gone from all of src
GONE = (
    "looked_up check_whole check_share no_number remove_unfinished names_of "
    "FarMap Keeper _bury _fars _Remembers Diary _diary diary "
    "ChoosesK Scored FEEBLE per_fold rule_errors refuse_others stood_in given_edges half_of "
    "Searched Walked Reached FarSource ManyInParts KeptWalk OnSupport seen_by closely why_fewer doubted "
    "Asked Wished OfEstimator Handed Entered _that_help _look_around csv_pieces npz_pieces libsvm_pieces "
    "parquet_pieces AFFORDABLE AFFORDED AGREES ANSWERS ASIDE ASKED AT_REMOVALS BEFORE BELOW BEYOND_SINGLE BLURRED "
    "BOTTOMLESS BY_NEWTON CHEAP_MINIMUM CHEAP_REFITS CHOSEN CLEARLY CLOSED COARSE COPIES DEEPEST DENSE_UP_TO "
    "DISPLAYED DOUBTFUL DRAWN ENDLESS ENOUGH EQUALLY_GOOD EXACTLY FAILS FAINT FALLEN FAR_APART FAR_BEYOND FAR_OFF "
    "FEW_DOUBTFUL FULLY FURTHER GATHERED GRANTED HELD HELPS INSIDE KEPT_APART LARGE LARGEST LAST_DIGITS LEAVING "
    "LIGHT_TRIES LOOKED_THROUGH MANY_COLUMNS MARKED MODERATE MORE MOST MOST_COLUMNS MOVED NAMED NARROW NEAREST "
    "NOTHING NO_LENGTH ONE_BY_ONE ONE_CALL ONE_PASS ONTO ON_SUPPORT PARTLY PASSED_OVER PATIENT PICKED PIECE "
    "PROGRAMS_KEPT PROMISING PUSHES QUICK QUICKLY RARE REACHED READ REFITTED REMEMBERED ROUGHLY ROUNDED ROUNDINGS "
    "SAFE SAME_COLUMN SAME_VALUE SETTLED SETTLING SHORT SHORTEST SMALLEST SPREAD_OUT STAY STEEP STILL_MOVING STUCK "
    "SURE TAKE TALL TEMPORARY THICK THIN TIGHT TRIES TRUSTED TWICE UNEVEN WEAK WHAT WHOLE WIDE"
)

# words that mean something else elsewhere: gone from these folders only
GONE_IN = {
    "_utils": "listed named meant nearest among need described called quoted chosen columns_of not_finite unfinished "
    "replacing digits shown",
    "engines": "Far Kept Lost letters letter",
    "solving": "ROOM SAME EVERY",
    "estimators": "Given from_arrays from_source _show _own_l2 _why LEAST",
    "cli": "Question question wished SHOWN one_size begun writable",
    "demo": "Told Seen race many",
    "io": "Wanted Piece Pieces wanted",
    "reports": "Shown describe KNOWN SHOWN HOW",
    "inference": "shown MOST_RESAMPLES",
    "resampling": "COPIED LEAST MOST_PAIRS SHOWN CHANCE",
    "certificates": "General PATIENCE ENUMERATED EFFORT LOST ROUNDS SPARE",
    "data": "Told Spread Form pull lean grain often handy",
    "designs": "Room Holder becomes lean often turned pull handy",
    "refits": "few Few Within kept lean turned pull",
    "objectives": "lean pull looked_at strides marks ALWAYS COMES_NEAR FROM_START LOOKED_AT SAME WORTH_IT",
    "solvers": "strides Walk walk looked_at AT_ONCE BEYOND JUDGED PER_UNITS RESTARTED",
    "paths": "said SAID Walk walk certified",
    "selection": "Told",
    "kernels": "ask looked_at Grown Open Moves closed not_excluded",
}


# household words that stand for a term of the field, in names and in sentences alike; formats keep their keys
QUAINT = re.compile(
    r"\b(told|asked|whoever|in vain|to speak of|lost its way|keepers?|diary|evened|walked)\b", re.IGNORECASE
)
KEYS = re.compile(r"""b?(["'])(told|asked)\1""")
FOLDERS = ("src", "core", "tests", "benchmarks", "experiments/src", "examples", "tools", "docs", ".")
EXEMPT = (  # they name what went
    "tests/package/test_words.py",
    "tools/count_lines.py",
    "docs/adr/0040-plain-names.md",
)


def quaint_lines(text):
    """The lines of a file that hold a quaint word, but for the keys of formats."""
    return [line.strip() for line in text.splitlines() if QUAINT.search(KEYS.sub("", line))]


CPP = sorted((ROOT / "core").glob("*.[hc]pp"))
GONE_FROM_CORE = "Asked Wanted Closed trouble give unlocked stash clean kSoiled settle renew"


def cpp_identifiers(path):
    """Words of a C++ file outside comments and strings."""
    code = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", path.read_text(), flags=re.DOTALL)
    return set(re.findall(r"[A-Za-z_]\w*", code))


def identifiers(path):
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


def room(path):
    return path.relative_to(ROOT / "src" / "pursuit").as_posix()


def test_modules():
    found = {
        ROOT / "src" / "pursuit" / room / f"{name}.py" for room, names in MODULES.items() for name in names.split()
    }
    assert not {path for path in found if path.exists()}


def gone_from(path):
    """The words that a file must not use."""
    rooms = [words for folder, words in GONE_IN.items() if re.match(rf"{folder}(/|\.py$)", room(path))]
    return {word for words in (GONE, *rooms) for word in words.split()}


def test_identifiers():
    found = {room(path): gone_from(path) & identifiers(path) for path in PYTHON}
    assert not {path: words for path, words in found.items() if words}


@pytest.mark.parametrize("folder", FOLDERS)
def test_sentences(folder):
    kinds = ("*.py", "*.pyi", "*.hpp", "*.cpp", "*.md")
    files = [*ROOT.glob("*.md")] if folder == "." else [path for kind in kinds for path in (ROOT / folder).rglob(kind)]
    assert files
    names = {path: path.relative_to(ROOT).as_posix() for path in files}
    found = {name: quaint_lines(path.read_text()) for path, name in names.items() if name not in EXEMPT}
    assert not {name: lines for name, lines in found.items() if lines}


def test_identifiers_of_the_core():
    assert CPP
    found = {path.name: set(GONE_FROM_CORE.split()) & cpp_identifiers(path) for path in CPP}
    assert not {path: words for path, words in found.items() if words}


def test_the_check_sees_identifiers(tmp_path):
    (tmp_path / "a.hpp").write_text('// told\nint looked_up; /* give */ const char* s = "asked \\" settle";')
    assert cpp_identifiers(tmp_path / "a.hpp") == {"int", "looked_up", "const", "char", "s"}
    (tmp_path / "a.py").write_text('"""told"""\n# asked\ndef looked_up(x):\n    return x.listed\n')
    assert identifiers(tmp_path / "a.py") == {"def", "looked_up", "x", "return", "listed"}


def test_the_check_sees_sentences():
    text = 'x = header["told"]\n# Rows as they are asked for.\nbetold = 1\n"""In vain."""\nkey = b"told"\n'
    assert quaint_lines(text) == ["# Rows as they are asked for.", '"""In vain."""']
