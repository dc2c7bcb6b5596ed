"""Manifests: which packages and images a file says the project is built on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from whence.features.alignment.sections import ini_values, json_values, toml_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whence.features.alignment.patches import Line, Stretch
    from whence.features.alignment.sections import Value
    from whence.features.alignment.technologies import Ecosystem

    Reader: TypeAlias = Callable[[Stretch], Iterator["Named"]]

Why = Literal["dependency", "import", "image"]


@dataclass(frozen=True, slots=True)
class Named:
    """A package, and the line that names it."""

    line: int
    ecosystem: Ecosystem
    package: str
    why: Why = "dependency"


def manifest_reader(path: str) -> Reader | None:
    """Return what reads the manifest at this path; None for a file that is none."""
    *folders, name = path.casefold().split("/")
    if not _FOREIGN.isdisjoint(folders) or _LOCK.search(name):
        return None
    if "requirements" in folders and fnmatchcase(name, "*.txt"):
        return _requirements
    return next((reader for pattern, reader in _READERS if fnmatchcase(name, pattern)), None)


_FOREIGN: Final = frozenset({"node_modules", "vendor", "third_party", "site-packages", ".venv"})
_LOCK: Final = re.compile(r"(?:^|[-._])lock(?:[-._]|$)")

# -- Python

_REQUIREMENT = re.compile(
    r"\s*([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(?:[=<>!~;@#(\\].*|\s--(?:hash|config-settings|global-option)\b.*)?"
)
_SPECIFIED = re.compile(r"[\w.-]+\s*(?:\[[^\]]*\])?\s*(?:[=<>!~]=|[<>]|@\s*\w+[+:])")
_EGG = re.compile(r"[#&]egg=([\w.-]+)")
_PYTHON_TABLE = re.compile(r"tool\.poetry\.(?:group\.[^.]+\.)?(?:dev-)?dependencies|(?:dev-)?packages")
_PYTHON_ARRAY = re.compile(
    r"project\.dependencies|project\.optional-dependencies\..+|dependency-groups\..+|build-system\.requires"
    r"|tool\.(?:uv|pdm)\.dev-dependencies(?:\..+)?|tool\.hatch\.envs\..+\.(?:extra-)?dependencies"
)
_PYTHON_KEYS = frozenset({"dependencies", "dev-dependencies", "extra-dependencies", "requires"})
_CONSTRAINT = re.compile(r"[\"'][\^~<>=*]|\{.*\b(?:version|git|path|url)\b")
_SETUP_KEYS = frozenset({"install_requires", "tests_require", "setup_requires", "extras_require"})
_SETUP_SECTIONS = frozenset({"options", "options.extras_require"})
_SETUP_OPENS = re.compile(rf"\b(?:{'|'.join(sorted(_SETUP_KEYS))})\b\s*=\s*")
_STRING = re.compile(r"""([\"'])([^\"']*)\1(\s*:)?""")


def _requirement(line: int, text: str) -> Iterator[Named]:
    if told := _EGG.search(text) or _REQUIREMENT.fullmatch(text):
        yield Named(line, "pypi", told[1])


def _requirements(stretch: Stretch) -> Iterator[Named]:
    for line in stretch.lines:
        yield from _requirement(line.number, line.text)


def _pyproject(stretch: Stretch) -> Iterator[Named]:
    for value in toml_values(stretch):
        if value.key is None and value.section is not None:
            table, _, name = value.section.rpartition(".")
            if value.text == "" and _PYTHON_TABLE.fullmatch(table):
                yield Named(value.line, "pypi", name)
        elif _is_python_table(value):
            yield Named(value.line, "pypi", (value.key or "").partition(".")[0])
        elif _is_python_array(value):
            yield from _requirement(value.line, value.text)


def _is_python_table(value: Value) -> bool:
    if value.key in {None, "python", "requires-python", "version", "target-version", "python_version"}:
        return False
    if value.section is None:
        return value.key not in _PYTHON_KEYS and bool(_CONSTRAINT.match(value.text))
    return bool(_PYTHON_TABLE.fullmatch(value.section))


def _is_python_array(value: Value) -> bool:
    if value.section is None:
        return value.key in _PYTHON_KEYS or bool(_SPECIFIED.match(value.text))
    return bool(_PYTHON_ARRAY.fullmatch(f"{value.section}.{value.key}".lstrip(".")))


def _setup_cfg(stretch: Stretch) -> Iterator[Named]:
    for value in ini_values(stretch):
        named = value.section in _SETUP_SECTIONS and (value.section != "options" or value.key in _SETUP_KEYS)
        unseen = value.section is None and (value.key in _SETUP_KEYS or _SPECIFIED.match(value.text))
        if named or unseen:
            yield from _requirement(value.line, value.text)


def _setup_py(stretch: Stretch) -> Iterator[Named]:
    depth = 0
    for line in stretch.lines:
        text = line.text.partition(" #")[0]
        opens = _SETUP_OPENS.search(text)
        start = opens.end() if opens and not depth else 0
        in_list = depth > 0 or opens is not None
        for string in _STRING.finditer(text, start):
            if string[3] is None and (in_list or _SPECIFIED.match(string[2])):
                yield from _requirement(line.number, string[2])
        if in_list:
            counted = _STRING.sub("", text[start:])
            depth = max(0, depth + sum(map(counted.count, "[{(")) - sum(map(counted.count, "]})")))


# -- JavaScript, PHP

_NPM_SECTIONS = frozenset({"dependencies", "devDependencies", "peerDependencies", "optionalDependencies"})
_NPM_OTHERS = frozenset({"version", "name", "node", "npm", "yarn", "pnpm", "vscode", "packageManager", "bun"})
_RANGE = re.compile(
    r"[\^~<>=]*\s*v?\d+(?:\.[\dx*]+)*\S*(?:\s.*)?|[*x]|latest|next|(?:workspace|npm|file|link|git\+\w+):.*"
)
_COMPOSER_SECTIONS = frozenset({"require", "require-dev"})


def _json_reader(
    ecosystem: Ecosystem, sections: frozenset[str], is_package: Callable[[Value], bool]
) -> Reader:
    def read(stretch: Stretch) -> Iterator[Named]:
        for value in json_values(stretch):
            top = (value.section or "").removeprefix("/")
            if (value.section is None and is_package(value)) or (top in sections and value.key):
                yield Named(value.line, ecosystem, value.key or "")

    return read


def _may_be_npm(value: Value) -> bool:
    return value.key not in _NPM_OTHERS and bool(_RANGE.fullmatch(value.text))


def _may_be_composer(value: Value) -> bool:
    return "/" in (value.key or "") and bool(_RANGE.fullmatch(value.text))


# -- Rust, Go

_CARGO_TABLE = re.compile(r"(?:.+\.)?(?:dev-|build-)?dependencies")
_CARGO_OTHERS = frozenset({"version", "edition", "rust-version", "resolver", "name", "channel"})
_CARGO_VALUE = re.compile(r"[\"'][\^~<>=*]*\s*\d|\{.*\b(?:version|git|path|workspace)\b")
_RENAMED = re.compile(r"\bpackage\s*=\s*[\"']([\w-]+)")
_GO_MODULE = re.compile(
    r"\s*(?:require\s+)?([\w~-]+(?:\.[\w~-]+)+(?:/\S+)?)\s+v\d\S*(?!.*//\s*indirect)(?:\s*//.*)?\s*"
)
_GO_BLOCK = re.compile(r"\s*(require|exclude|replace|retract|tool)\s*\(\s*")


def _cargo(stretch: Stretch) -> Iterator[Named]:
    for value in toml_values(stretch):
        if value.key is None and value.section is not None:
            table, _, name = value.section.rpartition(".")
            if value.text == "" and _CARGO_TABLE.fullmatch(table):
                yield Named(value.line, "cargo", name)
        elif value.key is not None and _is_cargo(value):
            renamed = _RENAMED.search(value.text)
            yield Named(value.line, "cargo", renamed[1] if renamed else value.key.partition(".")[0])


def _is_cargo(value: Value) -> bool:
    if value.section is None:
        return value.key not in _CARGO_OTHERS and bool(_CARGO_VALUE.match(value.text))
    return bool(_CARGO_TABLE.fullmatch(value.section))


def _go_mod(stretch: Stretch) -> Iterator[Named]:
    block = "require"  # of what stands outside a block only a requirement looks like one
    for line in stretch.lines:
        if opened := _GO_BLOCK.fullmatch(line.text):
            block = opened[1]
        elif line.text.strip() == ")":
            block = "require"
        elif block == "require" and (told := _GO_MODULE.fullmatch(line.text)):
            yield Named(line.number, "go", told[1])


# -- Java, .NET, Ruby

_XML = re.compile(r"<(/?)([\w.-]+)[^<>]*>([^<]*)")
_POM_HOLDERS = frozenset({"dependency", "parent"})
_POM_OTHERS = frozenset({"plugin", "exclusion", "project", "extension"})
_GRADLE = re.compile(
    r"\b(?:\w*(?:[iI]mplementation|[aA]pi|[cC]ompileOnly|[rR]untimeOnly|[pP]rocessor)|compile|testCompile|kapt|ksp|classpath)"
    r"\s*[( ]\s*(?:(?:enforcedP|p)latform\s*\(\s*)?[\"']([\w.-]+:[\w.-]+)"
)
_GRADLE_MAP = re.compile(r"\bgroup\s*[:=]\s*[\"']([\w.-]+)[\"']\s*,\s*name\s*[:=]\s*[\"']([\w.-]+)")
_GRADLE_MODULE = re.compile(
    r"\bmodule\s*=\s*[\"']([\w.-]+:[\w.-]+)|=\s*[\"']([\w.-]+:[\w.-]+):[^\"']*[\"']\s*$"
)
_GRADLE_PLUGIN = re.compile(r"^\s*id\s*\(?\s*[\"']([\w-]+(?:\.[\w-]+)+)[\"']|\bid\s*=\s*[\"']([\w.-]+)[\"']")
_NUGET = re.compile(
    r"<(?:PackageReference|PackageVersion|GlobalPackageReference)\b[^<>]*?\b(?:Include|Update)\s*=\s*[\"']([\w.-]+)"
    r"|<package\b[^<>]*?\bid\s*=\s*[\"']([\w.-]+)"
)
_GEM = re.compile(
    r"^\s*gem[\s(]+[\"']([\w.-]+)[\"']|\.add_(?:runtime_|development_)?dependency[\s(]+[\"']([\w.-]+)[\"']"
)


def _pom(stretch: Stretch) -> Iterator[Named]:
    holder = "project" if stretch.begins_file else "dependency"  # a hunk may begin inside of one
    group, artifact, at = "", "", 0
    for line in stretch.lines:
        for tag in _XML.finditer(line.text):
            closes, name, text = tag[1], tag[2], tag[3].strip()
            if name in _POM_HOLDERS | _POM_OTHERS:
                if holder in _POM_HOLDERS and artifact:
                    yield Named(at, "maven", f"{group}:{artifact}".lstrip(":"))
                holder, group, artifact = (
                    ("dependency" if name == "exclusion" else "project") if closes else name,
                    "",
                    "",
                )
            elif name == "groupId" and not closes:
                group = text
            elif name == "artifactId" and not closes:
                artifact, at = text, line.number
    if holder in _POM_HOLDERS and artifact:
        yield Named(at, "maven", f"{group}:{artifact}".lstrip(":"))


def _line_reader(ecosystem: Ecosystem, *patterns: re.Pattern[str]) -> Reader:
    """Return a reader of lines that name a package each, by themselves."""

    def read(stretch: Stretch) -> Iterator[Named]:
        for line in stretch.lines:
            if line.text.lstrip().startswith(("//", "#", "*")):
                continue
            for pattern in patterns:
                for told in pattern.finditer(line.text):
                    yield Named(line.number, ecosystem, ":".join(each for each in told.groups() if each))

    return read


# -- images

_FROM = re.compile(r"\s*FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?.*", re.IGNORECASE)
_IMAGE = re.compile(r"""\s*(?:-\s+)?[\"']?image[\"']?\s*:\s*[\"']?([^\s\"'\#]+).*""")
_DEFAULT = re.compile(r"\$\{\w+:?-([^}]*)\}")


def _image(line: Line, told: str) -> Iterator[Named]:
    name = re.sub(r":[^/:]*$", "", _DEFAULT.sub(r"\1", told).partition("@")[0])
    if name and not re.search(r"[${}]", name) and name.casefold() != "scratch":
        yield Named(line.number, "docker", name, "image")


def _dockerfile(stretch: Stretch) -> Iterator[Named]:
    stages: set[str] = set()
    for line in stretch.lines:
        if told := _FROM.fullmatch(line.text):
            if told[1].casefold() not in stages:
                yield from _image(line, told[1])
            stages.add((told[2] or "").casefold())


def _yaml(stretch: Stretch) -> Iterator[Named]:
    for line in stretch.lines:
        if told := _IMAGE.fullmatch(line.text):
            yield from _image(line, told[1])


_NUGET_READER = _line_reader("nuget", _NUGET)
_READERS: Final[tuple[tuple[str, Reader], ...]] = (
    ("*requirements*.txt", _requirements),
    ("*requirements*.in", _requirements),
    ("pyproject.toml", _pyproject),
    ("pipfile", _pyproject),
    ("setup.cfg", _setup_cfg),
    ("setup.py", _setup_py),
    ("package.json", _json_reader("npm", _NPM_SECTIONS, _may_be_npm)),
    ("composer.json", _json_reader("composer", _COMPOSER_SECTIONS, _may_be_composer)),
    ("cargo.toml", _cargo),
    ("go.mod", _go_mod),
    ("pom.xml", _pom),
    ("*.gradle", _line_reader("maven", _GRADLE, _GRADLE_MAP, _GRADLE_PLUGIN)),
    ("*.gradle.kts", _line_reader("maven", _GRADLE, _GRADLE_MAP, _GRADLE_PLUGIN)),
    ("*.versions.toml", _line_reader("maven", _GRADLE_MODULE, _GRADLE_MAP, _GRADLE_PLUGIN)),
    ("*.csproj", _NUGET_READER),
    ("*.fsproj", _NUGET_READER),
    ("*.vbproj", _NUGET_READER),
    ("*.props", _NUGET_READER),
    ("packages.config", _NUGET_READER),
    ("gemfile", _line_reader("rubygems", _GEM)),
    ("*.gemspec", _line_reader("rubygems", _GEM)),
    ("dockerfile*", _dockerfile),
    ("*.dockerfile", _dockerfile),
    ("containerfile*", _dockerfile),
    ("*.yml", _yaml),
    ("*.yaml", _yaml),
)
