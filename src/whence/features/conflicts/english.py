"""What an English sentence says."""

from __future__ import annotations

import re
from functools import lru_cache

from whence.core.words import stop_words
from whence.features.conflicts.sentence import Reading, label_of
from whence.features.conflicts.tables import (
    CODE,
    known_phrases,
    marks_of,
    pairs_of,
    parts,
    plain,
    stem,
    unit_kinds,
    word_list,
)

_LONGEST_PHRASE = 4
_TOKEN = re.compile(
    r"[^\W_](?:[\w]|[./:@#+\-](?=\w)|,(?=\d{3})|'(?=t\b))*(?:\(\))?|/[\w./:{}\-]*\w|--?[a-z][\w\-]*|_\w+|[$€£₩]"
)
_NUMBER = re.compile(r"v?(\d+(?:[.,:]\d+)*)(st|nd|rd|th)?([^\W\d_.]*|%)?$", re.IGNORECASE)
_CONTRAST = re.compile(r",\s*(?:never|not)\s[^,.;]*")  # "on the server, never in the browser" denies nothing
_CONTRACTED = re.compile(r"(\w+)n't\b")


def read_english(text: str) -> Reading:
    tokens = _tokens(_CONTRAST.sub("", text))
    raw = [token for token, _ in tokens]
    stems = tuple(word for token in raw for word in parts(token))
    phrases = known_phrases("en")
    spoken = [each for each in stems if each]
    found = [
        phrase
        for start in range(len(spoken))
        for length in range(1, _LONGEST_PHRASE + 1)
        if start + length <= len(spoken) and (phrase := " ".join(spoken[start : start + length])) in phrases
    ]
    user, generic = word_list("en", "user"), word_list("en", "generic")
    content = frozenset(
        "user" if each in user else each
        for each in stems
        if each in user or (each not in stop_words() and each not in plain("function_words"))
    )
    names = _names(tokens) | ({"user"} & content)
    label = label_of(text)
    lead, predicate = _lead([token for token, _ in _tokens(label)] if label else raw, content, bool(label))
    objects, adjuncts, preposition = _after_verb(raw, predicate, content)
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
        preposition=preposition,
        kin=lead & word_list("en", "kin"),
        quantities=_quantities(raw),
        predicate=predicate,
        label=" ".join(stem(each) for each in label.lower().split()),
        marks=marks_of(found, phrases) | ({"past"} if _tells_of_the_past(raw, predicate) else frozenset()),
        lead_marks=marks_of([each for each in found if lead.issuperset(each.split())], phrases),
    )


def _tells_of_the_past(raw: list[str], predicate: str) -> bool:
    """True when the first verb stands in the past: what happened is no state that ends."""
    verb = next((each.lower() for each in raw[1:] if predicate in parts(each)), "")
    if "born" in raw or "by" in raw:
        return False  # what somebody was born to, and what a thing is made by, lasts
    return verb in plain("pasts") or (verb.endswith("ed") and not verb.endswith("eed"))


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


@lru_cache(maxsize=8192)
def _is_sure_verb(token: str) -> bool:
    low = token.lower()
    return low in plain("sure_verbs") or low in pairs_of("irregular") or stem(low) in word_list("en", "verbs")


def _is_verb_at(raw: list[str], position: int) -> bool:
    """Guess from its form whether a word begins what is said of the subject."""
    token, before = raw[position], raw[position - 1].lower()
    if before in {"i", "we"} or (_is_sure_verb(token) and before not in {"the", "a", "an"}):
        return True
    if before in plain("function_words") or token.lower() != token:
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
            predicate = parts(token)[0]
            break
        lead += parts(token)
    user = word_list("en", "user")
    return frozenset("user" if each in user else each for each in lead) & content, predicate


_PREPOSITIONS = re.compile(
    r"(?:in|on|at|to|from|with|by|for|of|as|into|onto|after|before|during|until|since|near|per|every|each)$"
)


def _after_verb(
    raw: list[str], predicate: str, content: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], str]:
    """Return the content words after the verb, up to a preposition and behind it, and that preposition."""
    start = next((at + 1 for at, token in enumerate(raw) if at and predicate in parts(token)), len(raw))
    turn = next(
        (at for at, token in enumerate(raw) if at >= start and _PREPOSITIONS.match(token.lower())), len(raw)
    )
    near, far = raw[start:turn] if predicate != "be" else [], raw[turn:]
    return (
        content & {part for token in near for part in parts(token)},
        content & {part for token in far for part in parts(token)},
        far[0].lower() if far else "",
    )


def _names(tokens: list[tuple[str, bool]]) -> set[str]:
    """Return code identifiers and capitalised words, the first word only if it stands like a name."""
    names: set[str] = set()
    dates = word_list("en", "generic")
    for position, (token, owns) in enumerate(tokens):
        own = parts(token)
        if CODE.match(token):
            names.update(own)
        elif not token[0].isupper() or token.lower() in stop_words() or set(own) & dates:
            continue
        elif (position and not token.isupper()) or (not position and _stands_like_a_name(tokens, owns)):
            names.update(own)
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
    numbers = pairs_of("numbers")
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
        low in plain("function_words")
        or low in stop_words()
        or (word[:1].isupper() and not word.isupper() and len(word) > 2)
    ):
        return ""
    return unit_kinds().get(low) or unit_kinds().get(low.removesuffix("s")) or stem(low)
