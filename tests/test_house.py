"""Does the house keep the rules that no linter checks?"""

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ROOT / "src" / "whence"
SOURCES = sorted(HOUSE.rglob("*.py"))
PYTHON = sorted(path for room in ("src", "tests", "evals", "bench") for path in (ROOT / room).rglob("*.py"))

MOST_LINES = 500
MOST_FUNCTION_LINES = 60
LONGER_FUNCTIONS: dict[str, str] = {}  # "core/recall.py::recall" -> why it is better in one piece
MOST_STORE_METHODS = 18

SQL = re.compile(r"\bSELECT\b.*\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\b.*\bSET\b|\bDELETE\s+FROM\b", re.DOTALL)
SILENCE = re.compile(
    r"(?:noqa(?::\s*[A-Z]+\d+(?:[,\s]+[A-Z]+\d+)*)?"
    r"|(?:type|pyright|mypy):\s*ignore(?:\[[^\]]*\])?"
    r"|pragma:\s*no\s*\w+"
    r"|fmt:\s*(?:off|skip))",
    re.IGNORECASE,
)
# Written so that this file does not match them.
MACHINE_PATH = re.compile("/(?:work|farm|root)/")
INDEX_HOST = re.compile(r"py(?:pi|thonhosted)\.org|npm(?:js)?\.(?:org|com)|debian\.org[/]debian")


def name(path: Path) -> str:
    return path.relative_to(HOUSE).as_posix()


def tracked() -> list[Path]:
    """Return the files git tracks; without git, what stands at the top and in the rooms."""
    try:
        git = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        rooms = ("src", "tests", "docs", "evals", "bench")
        paths = [*ROOT.glob("*"), *(path for room in rooms for path in (ROOT / room).rglob("*"))]
    else:
        paths = [ROOT / listed for listed in git.stdout.split("\0") if listed]
    return [path for path in paths if path.is_file()]


def long_functions(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MOST_FUNCTION_LINES:
                yield node.name


def sql_texts(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Constant(value=str(text)):
                pass
            case ast.JoinedStr(values=parts):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "?" for part in parts)
            case _:
                continue
        if SQL.search(text):
            yield f"line {node.lineno}: {text.strip()[:60]}"


def bare_silences(source: str) -> Iterator[str]:
    """Find every comment that silences a check and does not go on to say why."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        silences = list(SILENCE.finditer(token.string)) if token.type == tokenize.COMMENT else []
        if silences and not re.search(r"\w{3,}", token.string[silences[-1].end() :]):
            yield f"line {token.start[0]}: {token.string}"


def methods_of(class_name: str, source: str) -> set[str]:
    """Return the methods of a class and of what it inherits within the same file."""
    classes = {node.name: node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef)}
    if class_name not in classes:
        return set()
    own = {
        node.name
        for node in classes[class_name].body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    bases = [base.id for base in classes[class_name].bases if isinstance(base, ast.Name)]
    return own.union(*(methods_of(base, source) for base in bases))


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_file_fits_in_one_reading_and_says_what_it_is_for(path):
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") <= MOST_LINES, "split it by meaning"
    assert not source.strip() or ast.get_docstring(ast.parse(source)), "say in its first line what it answers"


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_a_function_fits_on_a_page(path):
    keys = [f"{name(path)}::{function}" for function in long_functions(path.read_text(encoding="utf-8"))]
    assert not [key for key in keys if key not in LONGER_FUNCTIONS]


def test_a_longer_function_exists_and_has_its_reason():
    long = {f"{name(path)}::{one}" for path in SOURCES for one in long_functions(path.read_text("utf-8"))}
    assert set(LONGER_FUNCTIONS) <= long, "no longer long: take it off the list"
    assert all(reason.strip() for reason in LONGER_FUNCTIONS.values())


@pytest.mark.parametrize("path", [path for path in SOURCES if "storage" not in path.parts], ids=name)
def test_sql_stays_in_the_storage(path):
    assert not list(sql_texts(path.read_text(encoding="utf-8")))


def test_the_store_port_is_narrow():
    methods = methods_of("Store", (HOUSE / "core" / "ports.py").read_text(encoding="utf-8"))
    assert len(methods) <= MOST_STORE_METHODS, sorted(methods)


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_silenced_check_carries_its_reason(path):
    assert not list(bare_silences(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "pattern", [pytest.param(MACHINE_PATH, id="machine path"), pytest.param(INDEX_HOST, id="package index")]
)
def test_no_file_names_one_machine_or_one_package_index(pattern):
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{number}: {line.strip()[:100]}"
        for path in tracked()
        if b"\0" not in path.read_bytes()
        for number, line in enumerate(
            path.read_text(encoding="utf-8", errors="replace").splitlines(), start=1
        )
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.promise("000-096")
def test_every_open_question_and_risk_of_the_first_document_is_answered_under_its_number():
    text = (ROOT / "docs" / "why.md").read_text(encoding="utf-8")
    answers = dict(re.findall(r"^##+ (.+)\n+((?:(?!#).*\n)+)", text, re.MULTILINE))
    numbers = [f"{letter}{number}" for letter in "QR" for number in range(1, 9)] + ["ADR-001"]
    answered = {number for number in numbers for heading in answers if re.search(rf"\b{number}\b", heading)}
    assert not set(numbers) - answered


def test_the_checks_find_what_they_look_for():
    long = "def short():\n    pass\n\ndef long():\n" + "    pass\n" * MOST_FUNCTION_LINES
    assert list(long_functions(long)) == ["long"]
    queries = (
        'a = "SELECT id\\nFROM memories"\nb = f"UPDATE {table} SET x = 1"\nc = "Select one from the list"'
    )
    assert [line[:6] for line in sql_texts(queries)] == ["line 1", "line 2"]
    silences = [
        "a = 1  # noqa: S311, E501",
        "a = 1  # noqa: S311 - not for keys",
        "a = 1  # type: ignore[attr-defined]",
        "a = 1  # type: ignore[attr-defined]  # the driver has no stubs",
        "a = 1  # pragma: no cover",
        "a = '# noqa'",
        "a = 1  # a comment",
    ]
    assert [line[:6] for line in bare_silences("\n".join(silences))] == ["line 1", "line 3", "line 5"]
    port = "class Reads:\n def by_id(self): ...\nclass Store(Reads, Protocol):\n def save(self): ...\n x: int"
    assert methods_of("Store", port) == {"by_id", "save"}
    assert MACHINE_PATH.search("cd /" + "work/x")
    assert INDEX_HOST.search("https://" + "pypi" + ".org/simple")
