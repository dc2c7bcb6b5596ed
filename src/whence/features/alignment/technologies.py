"""Technologies: what they are called, where a text names one, and which of them a package brings."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from fnmatch import translate
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Ecosystem = Literal["pypi", "npm", "cargo", "go", "maven", "nuget", "rubygems", "composer", "docker"]

LONGEST_NAME: Final = 4  # words of a known name: "Ruby on Rails"
_TELLING_PIECE = 4  # letters from which a piece of a package's name tells a technology: "pg" does not
_PLURAL = 6  # letters from which a further "s" is a plural
_VERSIONED = 3  # letters from which digits at the end are a version: "Vue3", not "S3"
_GROUNDS = ("languages", "runtimes")  # in a package's name they only say where it runs: "kafka-python"

_PIECE = r"[A-Za-z0-9\u00c0-\u024f]+(?:\.[A-Za-z0-9\u00c0-\u024f]+)*(?:\+\+|#)?"
_UNIT = re.compile(
    rf"(?:(?<![\w.])\.(?=net\b))?{_PIECE}(?:[-_]{_PIECE})*|[\uac00-\ud7a3]+|[^\W_a-zA-Z0-9\uac00-\ud7a3]+",
    re.IGNORECASE,
)
_SPACING = re.compile(r"[\s_/-]+")
_JOINS = re.compile(r"[ \t_/]{0,2}")  # what may stand between the words of one name
_COMPOUND = re.compile(r"[\w.-]*(?:\w[-._]\w|[a-z]\d[a-z])[\w.-]*", re.IGNORECASE)
_VERSION = re.compile(r"[-_]?v?\d+(?:\.\d+)*(?:\.x)?$")
_VERSION_ALONE = re.compile(r"v?\d+(?:\.(?:\d+|x))*")
# "Redis-backed" is about Redis, while "redis-py" is a thing of its own.
_MANNER = re.compile(r"[-_](?:based|backed|only|first|native|powered|driven|style|hosted)$")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_PARTICLE = re.compile(
    r"(?:에서는|에서도|으로는|으로의|이라는|라는|으로|에서|에는|에도|보다|까지|부터|처럼|하고|이나|이랑|로는|로의"
    r"|은|는|이|가|을|를|로|와|과|의|에|도|만|나|랑|용)$"
)
_ITEM_ENDS = re.compile(r"[,/+&|()\[\]:;.!?\n→\"'`]")
_SENTENCE_ENDS = re.compile(r"[.!?:;\n]")
_JOINERS = frozenset({"or", "and", "vs", "vs.", "versus", "nor", "및", "또는"})
_BEFORE_NAMES = frozenset(
    [
        "use",
        "uses",
        "using",
        "in",
        "with",
        "adopt",
        "adopting",
        "choose",
        "chose",
        "pick",
        "prefer",
        "via",
        "than",
        "over",
        "like",
        "without",
    ]
)


class _Table(TypedDict):
    ordinary: str
    after_verbs: str
    names: dict[str, list[str]]
    builtins: dict[str, str]
    own: dict[str, str]
    namespaces: dict[str, str]
    packages: dict[Ecosystem, dict[str, str]]
    kinds: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A word of a text, or a compound: "redis-py"."""

    text: str
    start: int
    end: int

    @property
    def key(self) -> str:
        return key_of(self.text)


@cache
def _table() -> _Table:
    raw = files("whence.features.alignment").joinpath("technologies.toml").read_text(encoding="utf-8")
    return tomllib.loads(raw)  # type: ignore[return-value]  # the file is ours, a test reads all of it


def _listed(text: str) -> list[str]:
    return [" ".join(each.split()) for each in text.split(",")]


@lru_cache(maxsize=16_384)
def key_of(name: str) -> str:
    """Return the form under which the spellings of a name meet: "Styled Components", "styled-components"."""
    return _SPACING.sub("", unicodedata.normalize("NFKC", name).casefold())


@cache
def _groups() -> dict[str, tuple[str, ...]]:
    """Return, under the key of each name, all the names of its technology, the usual one first."""
    groups: dict[str, tuple[str, ...]] = {}
    for rows in _table()["names"].values():
        for row in rows:
            names = tuple(each.casefold() for each in _listed(row))
            groups.update({key_of(each): names for each in names})
    return groups


@cache
def _ordinary() -> frozenset[str]:
    return frozenset(_listed(_table()["ordinary"]))


@cache
def _after_verbs() -> frozenset[str]:
    return frozenset(_listed(_table()["after_verbs"]))


@cache
def builtins_of(language: Literal["python", "node"]) -> frozenset[str]:
    """Return the modules of a language's own library that are a choice, as a dependency is."""
    return frozenset(_listed(_table()["builtins"][language]))


@cache
def own_modules_of_node() -> frozenset[str]:
    return frozenset(_listed(_table()["own"]["node"]))


@cache
def python_namespaces() -> frozenset[str]:
    """Return the modules under which many packages of one house lie: their own name says little."""
    return frozenset(_listed(_table()["namespaces"]["python"]))


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    """Return, for the identity of each technology that others can stand in for, what kinds of thing it is."""
    kinds: dict[str, tuple[str, ...]] = {}
    for kind, names in _table()["kinds"].items():
        for each in map(identity, _listed(names)):
            kinds[each] = (*kinds.get(each, ()), kind)
    return kinds


def kinds_in(text: str) -> dict[str, str]:
    """Return the kinds of thing that a text names, each with the technology that it names."""
    named = sorted(names_in(text))
    return {kind: names_of(each)[0] for each in named for kind in _kinds().get(each, ())}


def is_known(name: str) -> bool:
    return key_of(name) in _groups()


def identity(name: str) -> str:
    """Return what all names of one technology have in common."""
    key = key_of(name)
    return key_of(_groups()[key][0]) if key in _groups() else key


def names_of(technology: str) -> tuple[str, ...]:
    """Return the name in lower case, then every other name of the same technology."""
    name = " ".join(unicodedata.normalize("NFC", technology).casefold().split())
    return tuple(dict.fromkeys((name, *_groups().get(key_of(technology), ()))))


# -- where a text names one


def _units(text: str) -> list[_Unit]:
    return [_Unit(match.group(), match.start(), match.end()) for match in _UNIT.finditer(text)]


@lru_cache(maxsize=16_384)
def _forms(word: str) -> tuple[str, ...]:
    """Return the keys under which a word may be known: without a version, a plural, a Korean particle."""
    word = word.casefold()
    found = [word, _MANNER.sub("", word)]
    if len(bare := _VERSION.sub("", word)) >= _VERSIONED:
        found.append(bare)
    if len(word) > _PLURAL and word.endswith("s"):
        found.append(word[:-1])
    if _HANGUL.match(word):
        found.append(_PARTICLE.sub("", word))
    return tuple(dict.fromkeys(key_of(each) for each in found if each))


def _runs(text: str, units: Sequence[_Unit], at: int, longest: int) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the words from here on that may be one name, the shortest first, with their keys."""
    before = ""
    for stop in range(at, min(len(units), at + longest)):
        if stop > at and not _JOINS.fullmatch(text, units[stop - 1].end, units[stop].start):
            return
        yield stop + 1, tuple(before + each for each in _forms(units[stop].text))
        before += units[stop].key


def _known_runs(text: str, units: Sequence[_Unit]) -> Iterator[tuple[int, int, str]]:
    """Yield first word, word after the last, and identity of each known name; the longest wins."""
    at = 0
    while at < len(units):
        known = [
            (stop, key)
            for stop, keys in _runs(text, units, at, LONGEST_NAME)
            for key in keys
            if key in _groups()
        ]
        stop, key = max(known, key=lambda each: each[0], default=(at + 1, ""))
        if key and (stop > at + 1 or key not in _ordinary() or _is_a_name(text, units, at)):
            yield at, stop, identity(key)
        at = stop


def _is_a_name(text: str, units: Sequence[_Unit], at: int) -> bool:
    """False for an ordinary word used as such: "go with Redis", "a flask of water"."""
    word, before, after = units[at], units[at - 1] if at else None, next(iter(units[at + 1 : at + 2]), None)
    gap_before = text[before.end : word.start] if before else ""
    gap_after = text[word.end : after.start] if after else ""
    begins_item = before is None or before.key in _JOINERS or bool(_ITEM_ENDS.search(gap_before))
    ends_item = (
        after is None
        or after.key in _JOINERS
        or bool(_ITEM_ENDS.search(gap_after) or _VERSION_ALONE.fullmatch(after.text))
    )
    if (begins_item or before is None or before.key in _BEFORE_NAMES) and ends_item:
        return True
    if after and _HANGUL.match(after.text):  # whoever writes Korean uses no English verb
        return True
    if before is None:
        return after is None or after.key not in _after_verbs()
    if not word.text[0].isupper():
        return False
    begins_sentence = bool(_SENTENCE_ENDS.search(gap_before))
    return not begins_sentence or after is None or after.key not in _after_verbs()


def names_in(text: str) -> frozenset[str]:
    """Return the identity of every known technology that the text names."""
    text = unicodedata.normalize("NFKC", text)
    return frozenset(name for _, _, name in _known_runs(text, _units(text)))


def phrases_in(text: str, longest: int = 8) -> frozenset[str]:
    """Return the key of every run of words, by which a name that nobody knows is found."""
    text = unicodedata.normalize("NFKC", text)
    units = _units(text)
    return frozenset(
        key for at in range(len(units)) for _, keys in _runs(text, units, at, longest) for key in keys
    )


def compounds_in(text: str) -> frozenset[str]:
    """Return the keys of the words that only a name can be."""
    units = _units(unicodedata.normalize("NFKC", text))
    return frozenset(unit.key for unit in units if is_compound(unit.text))


def is_compound(name: str) -> bool:
    """True for a word that only a name can be: "date-fns", "log4j2"."""
    return bool(_COMPOUND.fullmatch(name))


def mentions(text: str, technology: str) -> bool:
    """True when the text names the technology, by this or another of its names, as whole words."""
    if is_known(technology):
        return identity(technology) in names_in(text)
    wanted = key_of(technology)
    text = unicodedata.normalize("NFKC", text)
    units = _units(text)
    taken = [(at, stop) for at, stop, _ in _known_runs(text, units)]
    longest = len(_units(unicodedata.normalize("NFKC", technology))) + 1
    return any(
        bool(wanted)
        and wanted in keys
        and not any(a <= at and stop <= b and b - a > stop - at for a, b in taken)
        for at in range(len(units))
        for stop, keys in _runs(text, units, at, longest)
    )


# -- which a package brings


@cache
def _bringing(ecosystem: Ecosystem) -> tuple[dict[str, list[str]], list[tuple[re.Pattern[str], str]]]:
    """Return the technologies of packages by their whole names, and by patterns with a star."""
    whole: dict[str, list[str]] = {}
    patterns: list[tuple[re.Pattern[str], str]] = []
    for technology, packages in _table()["packages"].get(ecosystem, {}).items():
        for each in _listed(packages):
            if "*" in each:
                patterns.append(
                    (re.compile(translate(normal_package(ecosystem, each))), technology.casefold())
                )
            else:
                whole.setdefault(normal_package(ecosystem, each), []).append(technology.casefold())
    return whole, patterns


def normal_package(ecosystem: Ecosystem, package: str) -> str:
    """Return the package's name in its ecosystem's own normal form."""
    name = package.strip().casefold()
    if ecosystem == "pypi":
        return re.sub(r"[-_.]+", "-", name)
    if ecosystem == "cargo":
        return name.replace("_", "-")
    if ecosystem == "go":
        return re.sub(r"(?:/v\d+)$", "", name)
    if ecosystem == "maven" and not re.search(r"[.:]", name):
        return f":{name}"  # an artifact whose group nobody saw
    if ecosystem == "docker":
        bare = re.sub(r":[^/:]*$", "", name.partition("@")[0])
        return re.sub(
            r"^(?:(?:docker\.io|index\.docker\.io|registry-1\.docker\.io)/)?(?:library/)?", "", bare
        )
    return name


def _last(ecosystem: Ecosystem, name: str) -> str:
    """Return the part of a package's name that is not its house's."""
    if ecosystem == "maven":
        return name.rpartition(":")[2] if ":" in name else ""
    last = name.rstrip("/").rpartition("/")[2]
    return re.sub(r"\.v\d+$", "", last) if ecosystem == "go" else last


@cache
def _grounds() -> frozenset[str]:
    """Return the identities of what packages are written in and run on."""
    return frozenset(identity(_listed(row)[0]) for group in _GROUNDS for row in _table()["names"][group])


@cache
def _says_little() -> frozenset[str]:
    """Return the identities that a piece of a package's name does not tell."""
    return _grounds() | {identity(each) for each in _ordinary()}


def _told_by_pieces(name: str) -> list[str]:
    pieces = [each for each in re.split(r"[-_.]", name) if len(each) >= _TELLING_PIECE]
    return [
        _groups()[key_of(each)][0]
        for each in pieces
        if is_known(each) and identity(each) not in _says_little()
    ]


def _told_by_name(ecosystem: Ecosystem, name: str) -> list[str]:
    last = _last(ecosystem, name)
    if name.startswith("@types/"):
        return []
    scope = re.match(r"@?([^/]+)/", name)
    house = scope[1] if scope and ecosystem in {"npm", "composer"} else ""
    if house and name.startswith("@"):
        # "@sentry/node" brings Sentry, and says only where it runs.
        own = [each for each in (last,) if is_known(each) and identity(each) not in _says_little()]
    else:
        # "json-iterator/go" is not Go.
        own = [last] if last and identity(last) not in _grounds() else []
    return [*own, *([house] if house and is_known(house) else []), *_told_by_pieces(last or name)]


@lru_cache(maxsize=8192)
def technology_of_package(ecosystem: Ecosystem, package: str) -> tuple[str, ...]:
    """Return the technologies that depending on a package means, in lower case, its own name first."""
    name = normal_package(ecosystem, package)
    whole, patterns = _bringing(ecosystem)
    brought = [*whole.get(name, ()), *(each for pattern, each in patterns if pattern.match(name))]
    found = (name, *_told_by_name(ecosystem, name), *brought)
    return tuple(dict.fromkeys(each for each in found if each))
