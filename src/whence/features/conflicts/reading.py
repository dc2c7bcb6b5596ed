"""What a short sentence says: who it is about, which of their slots it fills, and how it speaks of change."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, TypeAlias, TypedDict

from whence.core.words import is_cjk, stop_words

Language = Literal["en", "ko"]
Phrases: TypeAlias = dict[str, tuple[str, ...]]  # a phrase as a sentence holds it -> the marks that it sets

READ_AT_MOST = 600  # characters; a fact is a sentence or two, and a save must not wait for an essay
_LONGEST_PHRASE = 4
_LONGEST_LABEL = 8
_SHORTEST_NEGATED = 4
_TOKEN = re.compile(
    r"[^\W_](?:[\w]|[./:@#+\-](?=\w)|,(?=\d{3})|'(?=t\b))*(?:\(\))?|/[\w./:{}\-]*\w|--?[a-z][\w\-]*|_\w+|[$€£₩]"
)
_NUMBER = re.compile(r"v?(\d+(?:[.,:]\d+)*)(st|nd|rd|th)?([^\W\d_.]*|%)?$", re.IGNORECASE)
_CODE = re.compile(r".*(?:\w_\w|\(\)$|^/|^--|[a-z][A-Z]|\w[./]\w*[a-z]|::).*")
_MEMBER = re.compile(r"[^\W\d]\w+\.[^\W\d]\w{2,}$")
_CONTRAST = re.compile(r",\s*(?:never|not)\s[^,.;]*")  # "on the server, never in the browser" denies nothing
_CONTRACTED = re.compile(r"(\w+)n't\b")
_WRAPPING = re.compile(r"^\W+|[^\w%]+$")
_LABELLED = re.compile(r"([^:.;!?]+?)\s*(?::\s|\s=\s|\s->\s|\s→\s)\s*\S[^.;]{0,60}\.?$")
_HANGUL = re.compile(r"[가-힣]")
_SUFFIXES = re.compile(
    r"(?:(?<=\w{4})(?:encies|ency|ences|ence|ations|ation|ments|ment|ions|ion|ants|ent|ers|er|ings|ly)|(?<=\w{3})(?:ies|ing|ied|ed|es)|(?<=\w[^sui])s)$"
)


class _Table(TypedDict, total=False):
    irregular: str
    numbers: str
    negators: str
    user: str
    generic: str
    kin: str
    verbs: str
    function_words: str
    sure_verbs: str
    pasts: str
    additive: str
    also: str
    kinds: dict[str, list[str]]
    exclusive: str
    particles: str
    endings: str
    slots: dict[str, str]
    changes: dict[str, str]
    opposites: dict[str, list[list[str]]]


class _Tables(TypedDict):
    strong: str
    units: dict[str, str]
    en: _Table
    ko: _Table


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence, taken apart."""

    language: Language
    stems: tuple[str, ...]  # every word, in order
    content: frozenset[str]  # words that carry meaning, the subject's among them
    topics: frozenset[str]  # content without the subject's names and without words that fit anything
    names: frozenset[str]  # the user, names and code identifiers
    lead: frozenset[str]  # content before the first verb
    objects: frozenset[str]  # what follows the verb; Korean: what 을/를 marks
    adjuncts: frozenset[str]  # what follows a preposition then; Korean: what 에/에서/로 marks
    kin: frozenset[str]  # relatives and the like before the verb
    quantities: frozenset[tuple[str, str]]  # number and unit
    predicate: str  # English: the first verb; Korean: the last word
    label: str  # what stands before the colon of "label: value"
    marks: frozenset[
        str
    ]  # "slot:…", "ends", "turns", "light", "additive", "also", "exclusive", "not", "pairs:3:0"

    lead_marks: frozenset[str] = frozenset()  # English: of the marks, those that the lead sets

    @property
    def slots(self) -> frozenset[str]:
        return frozenset(each for each in self.marks if each.startswith("slot:"))

    @property
    def subject(self) -> frozenset[str]:
        """The names that the sentence begins with."""
        return self.lead & self.names

    @property
    def is_of_the_past(self) -> bool:
        return "past" in self.marks

    @property
    def is_negated(self) -> bool:
        return "not" in self.marks


@lru_cache(maxsize=4096)
def read_sentence(text: str) -> Reading:
    """Return what the first sentences of a text say."""
    text = unicodedata.normalize("NFC", text[:READ_AT_MOST])
    return _read_korean(text) if is_cjk(text) else _read_english(text)


@cache
def _tables() -> _Tables:
    raw = files("whence.features.conflicts").joinpath("words.toml").read_text(encoding="utf-8")
    return tomllib.loads(raw)  # type: ignore[return-value]  # the file is ours, a test reads all of it


@cache
def strong_slots() -> frozenset[str]:
    """Return the slots of which a subject has one value at a time."""
    return frozenset(f"slot:{each}" for each in _listed(_tables()["strong"]))


def _listed(text: str) -> list[str]:
    """Return the phrases of a line; an underscore stands for a space that must be there."""
    return [each.strip().replace("_", " ") for each in text.split(",")]


@cache
def _words(language: Language, name: Literal["user", "generic", "kin", "verbs"]) -> frozenset[str]:
    words = [each.strip() for each in _tables()[language][name].split(",")]
    return frozenset(map(stem, words) if language == "en" else words)


@cache
def _plain(name: Literal["function_words", "sure_verbs", "pasts"]) -> frozenset[str]:
    return frozenset(_tables()["en"][name].split())


@cache
def _unit_kinds() -> dict[str, str]:
    """Return the kind of each unit: times compare with times, whatever the unit."""
    return {each: kind for kind, units in _tables()["units"].items() for each in units.split()}


@cache
def _pairs_of(name: Literal["irregular", "numbers"]) -> dict[str, str]:
    pairs = (each.split()[:2] for each in _tables()["en"][name].split(","))
    return dict(pairs)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the form under which the inflections of an English word meet."""
    irregular = _pairs_of("irregular")
    short = irregular.get(word) or _SUFFIXES.sub("", word)
    short = irregular.get(short, short)
    if len(short) > (5 if short.endswith("l") else 3) and short[-1] == short[-2] and short[-1] not in "sz":
        short = short[:-1]
    if len(short) > 3 and short[-1] in "ey":
        short = short[:-1]
    return short


@cache
def _phrases(language: Language) -> Phrases:
    """Return every phrase of the tables with the marks that it sets."""
    table = _tables()[language]
    marked: dict[str, list[str]] = {}

    def note(listed: str, mark: str) -> None:
        for each in _listed(listed):
            phrase = " ".join(_parts(each.replace(" ", "-"))) if language == "en" else each
            marked.setdefault(phrase, []).append(mark)

    for slot, listed in table["slots"].items():
        note(listed, f"slot:{slot}")
    for kind, listed in table["changes"].items():
        note(listed, kind)
    note(table["additive"], "additive")
    note(table["also"], "also")
    for kind, (heads, members) in table["kinds"].items():
        note(heads, f"all:{kind}")
        note(f"{heads}, {members}", f"some:{kind}")
    note(table["exclusive"], "exclusive")
    note(table["negators"], "not")
    for kind, rows in table["opposites"].items():
        for number, sides in enumerate(rows):
            for side, listed in enumerate(sides):
                note(listed, f"{kind}:{number}:{side}")
    return {phrase: tuple(marks) for phrase, marks in marked.items() if phrase}


def _marks_of(found: list[str], phrases: Phrases) -> frozenset[str]:
    """Return the marks of the phrases found; a change said with light words alone is a light one."""
    marks = {
        mark
        for phrase in found
        for mark in phrases[phrase]
        if not _is_swallowed(phrase, mark, found, phrases)
    }
    heavy = any(
        {"ends", "turns"} & set(phrases[phrase]) and "light" not in phrases[phrase] for phrase in found
    )
    return frozenset(marks - {"light"} if heavy else marks)


def _is_swallowed(phrase: str, mark: str, found: list[str], phrases: Phrases) -> bool:
    """True when a longer phrase around this one says the opposite: "siblings" in "no siblings"."""
    if not mark.startswith(("pairs:", "states:")):
        return False
    other = opposite(mark)
    return any(len(each) > len(phrase) and phrase in each and other in phrases[each] for each in found)


def opposite(mark: str) -> str:
    """Return the mark of the other side of a pair of opposites."""
    kind, number, side = mark.split(":")
    return f"{kind}:{number}:{1 - int(side)}"


def label_of(text: str) -> str:
    """Return what stands before the colon of "label: value"; a longer text is no label."""
    match = _LABELLED.match(text.strip())
    return " ".join(match.group(1).split()) if match and len(match.group(1).split()) <= _LONGEST_LABEL else ""


_NEGATING_PREFIXES = ("un", "non", "in", "im", "ir", "il", "dis", "de", "a", "anti", "mis")
_NEGATING_SUFFIXES = ("less", "free", "proof")


@lru_cache(maxsize=8192)
def _affirmed(word: str) -> frozenset[str]:
    """Return the words that this one may be the negation of: "async" of "sync"."""
    found = {word.removeprefix(each) for each in _NEGATING_PREFIXES if word.startswith(each)}
    found |= {word.removesuffix(each) for each in _NEGATING_SUFFIXES if word.endswith(each)}
    return frozenset(each for each in found if len(each) >= _SHORTEST_NEGATED)


def is_negation_of(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """True when a word of one side is the negation of a word of the other, by its prefix or suffix."""
    return any(_affirmed(each) & theirs for each in ours) or any(_affirmed(each) & ours for each in theirs)


# -- English


def _read_english(text: str) -> Reading:
    tokens = _tokens(_CONTRAST.sub("", text))
    raw = [token for token, _ in tokens]
    words = [word for token in raw for word in _parts(token)]
    stems = tuple(words)
    phrases = _phrases("en")
    spoken = [each for each in stems if each]
    found = [
        phrase
        for start in range(len(spoken))
        for length in range(1, _LONGEST_PHRASE + 1)
        if start + length <= len(spoken) and (phrase := " ".join(spoken[start : start + length])) in phrases
    ]
    user, generic = _words("en", "user"), _words("en", "generic")
    content = frozenset(
        "user" if each in user else each
        for each in stems
        if each in user or (each not in stop_words() and each not in _plain("function_words"))
    )
    names = _names(tokens) | ({"user"} & content)
    label = label_of(text)
    lead, predicate = _lead([token for token, _ in _tokens(label)] if label else raw, content, bool(label))
    objects, adjuncts = _after_verb(raw, predicate, content)
    return Reading(
        language="en",
        stems=tuple("user" if each in user else each for each in stems),
        content=content,
        topics=frozenset(
            each
            for each in content
            if each not in (names & lead) and each not in generic and not each[0].isdigit() and each != "user"
        ),
        names=frozenset(names),
        lead=lead,
        objects=objects,
        adjuncts=adjuncts,
        kin=lead & _words("en", "kin"),
        quantities=_quantities(raw),
        predicate=predicate,
        label=" ".join(stem(each) for each in label.lower().split()),
        marks=_marks_of(found, phrases) | ({"past"} if _tells_of_the_past(raw, predicate) else frozenset()),
        lead_marks=_marks_of([each for each in found if lead.issuperset(each.split())], phrases),
    )


def _tells_of_the_past(raw: list[str], predicate: str) -> bool:
    """True when the first verb stands in the past: what happened is no state that ends."""
    verb = next((each.lower() for each in raw[1:] if predicate in _parts(each)), "")
    if "born" in raw or "by" in raw:
        return False  # what somebody was born to, and what a thing is made by, lasts
    return verb in _plain("pasts") or (verb.endswith("ed") and not verb.endswith("eed"))


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Return the words as written, each with whether it owns what follows."""
    text = text.replace("\u2019", "'").replace("can't", "cannot").replace("won't", "will not")
    text = _CONTRACTED.sub(r"\1 not", text)
    text = re.sub(r"'m\b", " am", re.sub(r"'ve\b", " have", re.sub(r"'re\b", " are", text)))
    return [
        (match.group(), text[match.end() : match.end() + 2] in {"'s", "' "})
        for match in _TOKEN.finditer(text)
        if match.group() not in {"s", "S"}
    ]


def _parts(token: str) -> list[str]:
    """Return the stems of a token: code as it stands, a hyphenated word in its parts."""
    if _CODE.match(token):
        low = token.lower()
        return low.split(".") if _MEMBER.match(token) else [low]
    numbers = _pairs_of("numbers")
    return [numbers.get(each, stem(each)) for each in token.lower().strip(".:'").split("-") if each]


def _is_sure_verb(token: str) -> bool:
    low = token.lower()
    return low in _plain("sure_verbs") or low in _pairs_of("irregular") or stem(low) in _words("en", "verbs")


def _is_verb_at(raw: list[str], position: int) -> bool:
    """Guess from its form whether a word begins what is said of the subject."""
    token, before = raw[position], raw[position - 1].lower()
    if before in {"i", "we"} or (_is_sure_verb(token) and before not in {"the", "a", "an"}):
        return True
    if before in _plain("function_words") or token.lower() != token:
        return False
    low = token.lower()
    if not low.endswith(("s", "ed")) or low.endswith(("ss", "us", "is", "eed")):
        return False
    # Of two words that could be the verb, as in "tokens expire", the later one is.
    return position + 1 == len(raw) or not _is_sure_verb(raw[position + 1])


def _lead(raw: list[str], content: frozenset[str], is_label: bool) -> tuple[frozenset[str], str]:
    """Return the content words before the first verb, and that verb; of a label every word."""
    lead: list[str] = []
    predicate = ""
    for position, token in enumerate(raw):
        if position and not is_label and _is_verb_at(raw, position):
            predicate = _parts(token)[0]
            break
        lead += _parts(token)
    user = _words("en", "user")
    return frozenset("user" if each in user else each for each in lead) & content, predicate


_PREPOSITIONS = frozenset(
    "in on at to from with by for of as into onto after before during until since near per every each".split()
)


def _after_verb(
    raw: list[str], predicate: str, content: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the content words after the verb, up to a preposition and behind it."""
    start = next((at + 1 for at, token in enumerate(raw) if at and predicate in _parts(token)), len(raw))
    turn = next(
        (at for at, token in enumerate(raw) if at >= start and token.lower() in _PREPOSITIONS), len(raw)
    )
    near, far = raw[start:turn], raw[turn:]
    return (
        content & {part for token in near for part in _parts(token)},
        content & {part for token in far for part in _parts(token)},
    )


def _names(tokens: list[tuple[str, bool]]) -> set[str]:
    """Return code identifiers and capitalised words, the first word only if it stands like a name."""
    names = set()
    dates = _words("en", "generic")
    for position, (token, owns) in enumerate(tokens):
        parts = _parts(token)
        if _CODE.match(token):
            names.update(parts)
        elif not token[0].isupper() or token.lower() in stop_words() or set(parts) & dates:
            continue
        elif (position and not token.isupper()) or (not position and _stands_like_a_name(tokens, owns)):
            names.update(parts)
    return names


def _stands_like_a_name(tokens: list[tuple[str, bool]], owns: bool) -> bool:
    first = tokens[0][0]
    if owns or len(tokens) < 2:
        return True
    following = tokens[1][0]
    if following[0].isupper():
        return not following.isupper()
    raw = [token for token, _ in tokens]
    if following in {"is", "was", "has"}:
        return True  # a plural noun would take the plural
    return not first.lower().endswith("s") and (following == "and" or _is_verb_at(raw, 1))


def _quantities(raw: list[str]) -> frozenset[tuple[str, str]]:
    """Return the numbers of a sentence, each with its unit: what is glued to it or the next word."""
    numbers = _pairs_of("numbers")
    found = set()
    for position, token in enumerate(raw):
        match = _NUMBER.match(numbers.get(token.lower(), token))
        if match is None:
            continue
        value, ordinal, glued = match.groups()
        following = raw[position + 1] if position + 1 < len(raw) else ""
        before = raw[position - 1] if position else ""
        unit = ordinal or glued or (before if before in {"$", "€", "£"} else "") or following
        unit = "th" if ordinal else _unit(unit)
        found.add((value.replace(",", ""), unit))
    return frozenset(found)


def _unit(word: str) -> str:
    low = word.lower()
    if (
        low in _plain("function_words")
        or low in stop_words()
        or (word[:1].isupper() and not word.isupper() and len(word) > 2)
    ):
        return ""
    return _unit_kinds().get(low) or _unit_kinds().get(low.removesuffix("s")) or stem(low)


# -- Korean


@cache
def _korean_tails(name: Literal["particles", "endings"]) -> re.Pattern[str]:
    tails = sorted({each.strip() for each in _tables()["ko"][name].split(",")}, key=len, reverse=True)
    return re.compile(f"(?:{'|'.join(tails)})$")


_PUNCTUATION = re.compile(r"[^\w\s%]")


_NAME_AND_I = 3  # 수빈이에게 and 수빈이 are of one name
_VERBAL = tuple("다고며면서지게음던요네는")


@lru_cache(maxsize=8192)
def korean_root(word: str) -> str:
    """Return the form under which the inflections of a Korean word meet."""
    if not _HANGUL.search(word):
        return stem(word.lower())
    ended = _korean_tails("endings").sub("", word)
    if ended != word and len(ended) >= 2:
        return ended
    bare = _korean_tails("particles").sub("", word)
    if bare != word and bare and (len(bare) >= 2 or len(word) - len(bare) == 1):
        return bare[:2] if len(bare) == _NAME_AND_I and bare.endswith("이") else bare
    if not word.endswith(_VERBAL):
        return word
    # What holds through the forms of a verb: a closed first syllable, else two without their last consonant.
    letters = unicodedata.normalize("NFD", word)
    is_closed = len(unicodedata.normalize("NFD", word[0])) == 3
    return word[0] if is_closed else unicodedata.normalize("NFC", letters[:4])


def _read_korean(text: str) -> Reading:
    phrases = _phrases("ko")
    spoken = f" {_PUNCTUATION.sub(' ', text.lower())} "
    found = [phrase for phrase in phrases if phrase in spoken]
    user, generic = _words("ko", "user"), _words("ko", "generic")
    stems: list[str] = []
    lead: list[str] = []
    objects: set[str] = set()
    adjuncts: set[str] = set()
    names: set[str] = set()
    is_leading = True
    for spaced in text.split():
        chunk = _WRAPPING.sub("", spaced)
        pieces = _pieces(chunk)
        roots = ["user" if each in user else each for each in pieces]
        stems += roots
        names.update(each for each in roots if each == "user" or _CODE.match(each))
        if is_leading:
            lead += roots
            is_leading = not chunk.endswith(("은", "는", "이", "가", "께서"))
        elif chunk.endswith(("을", "를")):
            objects.update(roots)
        elif chunk.endswith(("에", "에서", "로", "으로", "마다")):
            adjuncts.update(roots)
    if stems:
        names.add(stems[0])
    content = frozenset(each for each in stems if each)
    return Reading(
        language="ko",
        stems=tuple(stems),
        content=content,
        topics=frozenset(
            each for each in content if each not in names and each not in generic and not each[0].isdigit()
        ),
        names=frozenset(names),
        lead=frozenset(lead) if not is_leading else frozenset(stems[:1]),
        objects=frozenset(objects),
        adjuncts=frozenset(adjuncts),
        kin=frozenset(lead) & _words("ko", "kin"),
        quantities=_korean_quantities(text),
        predicate=stems[-1] if stems else "",
        label=" ".join(label_of(text).split()),
        marks=_marks_of(found, phrases) | _said_by_endings(text),
    )


_ALSO = re.compile(r"[가-힣]도(?=\s)")
_NO_ADDITION = tuple(
    "정도 온도 속도 지도 태도 각도 용도 제도 밀도 강도 빈도 난도 연도 년도 해도 어도 아도 여도 려도 돼도 라도 와도 봐도 이도 주도 의도 시도 습도 고도 해상도 중요도 만족도 신뢰도 난이도 제주도 강원도 경기도".split()
)


_PAST = re.compile(r"[가-힣](?<=[았었했렸났갔왔됐겼졌쳤샀뒀셨봤줬랐섰탔컸])(?:다|음|습니다)\W*$")


def _said_by_endings(text: str) -> frozenset[str]:
    """Return "also" for a noun with that particle, and "past" for a sentence that ends so."""
    marks = set()
    if any(not text[: each.end()].endswith(_NO_ADDITION) for each in _ALSO.finditer(text)):
        marks.add("also")
    if _PAST.search(text):
        marks.add("past")
    return frozenset(marks)


def _pieces(chunk: str) -> list[str]:
    """Return the roots of one spaced word: foreign words and numbers apart from their particles."""
    if not re.search(r"[A-Za-z0-9]", chunk):
        return [korean_root(chunk)] if chunk else []
    found = re.findall(
        r"[A-Za-z_/\-][\w./\-]*[A-Za-z0-9_]|[A-Za-z]|\d+(?:[.,:]\d+)*|[가-힣]+",
        re.sub(r"([A-Za-z0-9])([가-힣])", r"\1 \2", chunk),
    )
    particles = _korean_tails("particles")
    return [korean_root(each) for each in found if not particles.fullmatch(each)]


_KOREAN_QUANTITY = re.compile(r"(\d+(?:[.,:]\d+)*)\s*([가-힣]{1,2}|[A-Za-z%]+)?")


def _korean_quantities(text: str) -> frozenset[tuple[str, str]]:
    return frozenset(
        (value.replace(",", ""), _korean_unit(unit)) for value, unit in _KOREAN_QUANTITY.findall(text)
    )


def _korean_unit(unit: str) -> str:
    particles = _korean_tails("particles")
    bare = "" if particles.fullmatch(unit) and unit not in _unit_kinds() else unit.lower()
    if bare not in _unit_kinds() and len(bare) > 1:
        bare = particles.sub("", bare)
    return _unit_kinds().get(bare, "년" if bare.startswith("년") else bare)
