"""Imports: which packages the lines of a code file bring in."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from whence.features.alignment.manifests import Named
from whence.features.alignment.technologies import builtins_of, own_modules_of_node, python_namespaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.features.alignment.manifests import Reader
    from whence.features.alignment.patches import Stretch
    from whence.features.alignment.technologies import Ecosystem


def import_reader(path: str) -> Reader | None:
    """Return what reads the imports of the code file at this path; None for other files."""
    return _READERS.get(path.casefold().rpartition("/")[2].rpartition(".")[2])


_PYTHON_IMPORT = re.compile(r"\s*import\s+([^#;]+).*")
_PYTHON_FROM = re.compile(r"\s*from\s+([A-Za-z_][\w.]*)\s+import\b.*")
_PYTHON_FENCE = re.compile(r"\"\"\"|'''")
_PYTHON_NAME = re.compile(r"\s*([A-Za-z_]\w*(?:\.\w+)*)(?:\s+as\s+\w+)?\s*")
_JS_FROM = re.compile(
    r"""^\s*(?:import\b|export\b|\}).*?\bfrom\s*[\"']([^\"']+)[\"']|^\s*import\s*[\"']([^\"']+)[\"']"""
)
_JS_CALL = re.compile(r"""\b(?:require|import)\s*\(\s*[\"'`]([^\"'`]+)[\"'`]\s*\)""")
_JS_COMMENT = re.compile(r"\s*(?://|\*|/\*)")
_JS_OWN = re.compile(r"[./~#$]|@/|\w+:")
_JS_PACKAGE = re.compile(r"(@[^/]+/[^/@]+|[^/@]+)")
_GO_IMPORT = re.compile(r"\s*(?:import\s+)?(?:[\w.]+\s+)?\"([\w-]+(?:\.[\w-]+)+/[^\"\s]+)\"\s*(?://.*)?")
_JAVA_IMPORT = re.compile(r"\s*import\s+(?:static\s+)?([a-z]\w*(?:\.[a-z]\w*)+).*")
_JAVA_OWN = re.compile(r"(?:java|kotlin|scala|android)\.")
_CSHARP_USING = re.compile(
    r"\s*(?:global\s+)?using\s+(?:static\s+)?(?:\w+\s*=\s*)?([A-Z]\w*(?:\.\w+)+)\s*;.*"
)
_RUST_USE = re.compile(r"\s*(?:pub(?:\([\w\s]+\))?\s+)?(?:use\s+(?:::)?|extern\s+crate\s+)(\w+)\b.*")
_RUST_OWN: Final = frozenset({"std", "core", "alloc", "crate", "self", "super", "proc_macro", "test"})
_RUBY_REQUIRE = re.compile(r"\s*require\s*\(?\s*[\"']([\w-]+)(?:/[^\"']*)?[\"'].*")


def _python(stretch: Stretch) -> Iterator[Named]:
    in_text = False
    for line in stretch.lines:
        if stretch.begins_file and len(_PYTHON_FENCE.findall(line.text)) % 2:
            in_text = not in_text
        elif not in_text:
            yield from (Named(line.number, "pypi", each, "import") for each in _python_modules(line.text))


def _python_modules(text: str) -> Iterator[str]:
    if told := _PYTHON_FROM.fullmatch(text):
        names = [told[1]]
    elif told := _PYTHON_IMPORT.fullmatch(text):
        parts = [_PYTHON_NAME.fullmatch(each) for each in told[1].split(",")]
        names = [each[1] for each in parts if each]
    else:
        return
    for name in names:
        root = name.partition(".")[0]
        if root in python_namespaces():
            yield name
        elif root not in sys.stdlib_module_names or root in builtins_of("python"):
            yield root


def _javascript(stretch: Stretch) -> Iterator[Named]:
    for line in stretch.lines:
        if _JS_COMMENT.match(line.text):
            continue
        for pattern in (_JS_FROM, _JS_CALL):
            for told in pattern.finditer(line.text):
                package = _js_package(next(each for each in told.groups() if each))
                if package is not None:
                    yield Named(line.number, "npm", package, "import")


def _js_package(specifier: str) -> str | None:
    """Return the package of "@scope/name/part"; None for a file and for a module of Node."""
    if specifier.startswith("node:"):
        return specifier if specifier.removeprefix("node:") in builtins_of("node") else None
    specifier = specifier.removeprefix("npm:")
    package = None if _JS_OWN.match(specifier) else _JS_PACKAGE.match(specifier)
    return None if package is None or package[1] in own_modules_of_node() else package[1]


def _rust(stretch: Stretch) -> Iterator[Named]:
    for line in stretch.lines:
        if (told := _RUST_USE.fullmatch(line.text)) and told[1] not in _RUST_OWN:
            yield Named(line.number, "cargo", told[1], "import")


def _line_reader(
    ecosystem: Ecosystem, pattern: re.Pattern[str], own: re.Pattern[str] | None = None
) -> Reader:
    def read(stretch: Stretch) -> Iterator[Named]:
        for line in stretch.lines:
            if (told := pattern.fullmatch(line.text)) and not (own and own.match(told[1])):
                yield Named(line.number, ecosystem, told[1], "import")

    return read


_JAVA = _line_reader("maven", _JAVA_IMPORT, _JAVA_OWN)
_READERS: Final[dict[str, Reader]] = {
    **dict.fromkeys(("py", "pyi", "pyw"), _python),
    **dict.fromkeys(("js", "jsx", "ts", "tsx", "mjs", "cjs", "mts", "cts", "vue", "svelte"), _javascript),
    **dict.fromkeys(("java", "kt", "kts", "scala", "groovy"), _JAVA),
    "go": _line_reader("go", _GO_IMPORT),
    "cs": _line_reader("nuget", _CSHARP_USING),
    "rs": _rust,
    "rb": _line_reader("rubygems", _RUBY_REQUIRE),
}
