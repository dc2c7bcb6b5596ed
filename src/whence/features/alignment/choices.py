"""Choices: what a sentence chooses, apart from what it only mentions to turn it away."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from whence.features.alignment.technologies import identity, is_compound, is_known

_GONE: Final = " ; "  # stands where something was taken out, so that what was apart stays apart
_SIGHT = 300  # characters after "instead of" that may belong to it
_ITEM_WORDS = 4
_SENTENCE = re.compile(r"[^\n;.!?]*(?:[.!?](?!\s|$)[^\n;.!?]*)*(?:[\n;.!?]|$)")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")

_REASON = re.compile(r"\b(?:because|since|due to|given that|so that|in order to)\b", re.IGNORECASE)
_KOREAN_REASON = re.compile(r"^.*?때문에")
_TURNED_DOWN = re.compile(
    r"\b(?:was|were|is|are|been|being|got|gets)\s+(?:\w+\s+)?(?:rejected|ruled out|turned down|discarded"
    r"|declined|dropped|retired|removed|replaced|deprecated|considered|too)\b"
    r"|\b(?:rejected|ruled out|turned down|discarded|considered)\s*(?:$|but\b)",
    re.IGNORECASE,
)
_TURN = re.compile(r"\bin favou?r of\b|\b(?:replaced|superseded) (?:by|with)\b|->|→|=>", re.IGNORECASE)
_CHOOSING = re.compile(
    r"\b(?:us(?:e|es|ing)|choos(?:e|ing)|chose|pick|prefer|adopt(?:ing)?)\b", re.IGNORECASE
)
_MOVING = re.compile(
    r"\b(?:away|turn\w*|shut\w*|mov\w*|migrat\w*|switch\w*|chang\w*|convert\w*|transition\w*|upgrad\w*|port(?:ing|ed)?)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"\b(?:instead of|rather than|in place of|in lieu of|as opposed to|as against|no longer"
    r"|(?:a |the )?(?:replacements?|alternatives?|substitutes?) (?:for|of|to)"
    r"|not(?! only\b| just\b)|\w+n['\u2019]t|no|never|without|except|unlike|versus|vs\.?|than|against|off"
    r"|from"
    r"|over(?! (?:the )?(?:time|wire|network|https?|tls|ssl|ssh|tcp|udp|quic|web ?sockets?|mqtt|stdio)\b)"
    r"|avoid(?:s|ing)?|reject(?:s|ing|ed)?|drop(?:s|ping|ped)?(?!-)|remov(?:e|es|ing|ed)|replac(?:e|es|ing)"
    r"|retir(?:e|es|ing)|deprecat(?:e|es|ing)|ditch(?:es|ing|ed)?|abandon(?:s|ing|ed)?|get(?:ting)? rid of"
    r"|stop(?:s|ping|ped)?|consider(?:ed|ing)|evaluat(?:ed|ing))(?![\w-])",
    re.IGNORECASE,
)
_LEAD_IN = re.compile(
    r"(?:\s+(?:to|with|by|use|uses|using|in|on|for|going|go|be|being|the|a|an|any|adopt|adding|add|of))*\s*",
    re.IGNORECASE,
)
_STRETCH_ENDS = re.compile(r"[():\u2014\u2013]|\s-\s")
_TURNS_BACK = re.compile(
    r"(?<=\S)\s+(?:but|use|uses|using|choose|chose|adopt|adopted|went|while|because|for|so|we|then|in|on|at|to"
    r"|into|with|by|when|where|(?<!such )as)\b",
    re.IGNORECASE,
)
_LAST_ITEM = re.compile(r"\s*(?:or|nor|and)\b", re.IGNORECASE)
_BEFORE_LAST = re.compile(r"\s(?:or|nor|and)\s", re.IGNORECASE)


def chosen(text: str) -> str:
    """Return the text without what it turns away: "Use Redis" of "Use Redis instead of Memcached"."""
    sentences = _SENTENCE.findall(unicodedata.normalize("NFKC", text))
    return " ".join(kept for each in sentences if (kept := _kept(each)).strip(" ;.\n"))


def _kept(sentence: str) -> str:
    text = _without_reason(sentence)
    turn = _TURN.search(text)
    if turn and not _CHOOSING.search(text, 0, turn.start()):
        text = text[turn.end() :]
    if _TURNED_DOWN.search(text):
        text = ",".join(each for each in re.split(r"[,:]", text) if not _TURNED_DOWN.search(each))
    text = _without_negated(text)
    return _without_negated_korean(text) if _HANGUL.search(text) else text


def _without_reason(sentence: str) -> str:
    sentence = _KOREAN_REASON.sub("", sentence)
    reason = _REASON.search(sentence)
    if reason is None:
        return sentence
    if sentence[: reason.start()].strip():
        return sentence[: reason.start()]
    return sentence.partition(",")[2]  # "Because X is slow, use Y"


def _without_negated(text: str) -> str:
    kept, at = [], 0
    while away := _AWAY.search(text, at):
        kept.append(text[at : away.start()])
        at = away.end()
        if away.group().casefold() in {"from", "off"} and not _is_left(text, away):
            kept.append(away.group())
            continue
        kept.append(_GONE)
        at = _stretch_end(text, at)
    return "".join([*kept, text[at:]])


def _is_left(text: str, word: re.Match[str]) -> bool:
    """True for a "from" of one who moves; one may as well read secrets from Vault."""
    before = text[: word.start()]
    return not before.strip() or bool(_MOVING.search(before[-_SIGHT:]))


def _stretch_end(text: str, start: int) -> int:
    """Return where that ends which "instead of" and the like turn away."""
    lead_in = _LEAD_IN.match(text, start)
    start = lead_in.end() if lead_in else start
    stretch = text[start : start + _SIGHT]
    if end := _STRETCH_ENDS.search(stretch):
        stretch = stretch[: end.start()]
    if back := _TURNS_BACK.search(stretch):
        stretch = stretch[: back.start()]
    return start + _listed_length(stretch)


def _listed_length(stretch: str) -> int:
    """Return how far a list reaches: over all of "A, B or C", over the first of "A, B"."""
    items = stretch.split(",")
    if len(items) == 1 or _BEFORE_LAST.search(items[0]):
        return len(items[0])
    length = len(items[0])
    for number, item in enumerate(items[1:], start=1):
        if len(item.split()) > _ITEM_WORDS + 1:
            break
        length += len(item) + 1
        if number == 1 and item.split()[:1] == ["and"]:
            break  # "not A, and B for events" chooses B
        if _LAST_ITEM.match(item) or _BEFORE_LAST.search(item):
            return length
    return len(items[0])


# -- Korean: what is turned away stands before the word that does it

_KOREAN_AWAY = re.compile(
    r"(?:대신|말고|아니라|아닌|아니고|아님|빼고|없이|제외|버리고|걷어내|지양|금지|배제|미사용|안$)"
)
_KOREAN_AWAY_GLUED = re.compile(r".+(?:대신|대신에|말고|보다|보다는)$")
_KOREAN_NOT = re.compile(r"(?:않|말|못)")
_KOREAN_NEGATED = re.compile(r"\S*지(?:않|말|못)")
_KOREAN_CHANGE = re.compile(r"이전|전환|옮|바꾸|바꿔|바꾼|변경|교체|대체|마이그레이션|이동|갈아")
_KOREAN_LEFT = re.compile(r".+(?:에서|을|를)$")
_KOREAN_GOAL = re.compile(r".+로(?:의)?$")
_KOREAN_JOINED = re.compile(r".*(?:와|과|이나|나|랑|하고|[,/])$|및$|또는$|그리고$|or$|and$", re.IGNORECASE)
_PLAIN = re.compile(r"[!-~]+")
_KOREAN_DOING = re.compile(r"(?:사용|도입|채택|적용|이용)(?:을|를)?")
_KOREAN_WORDS = 8


def _without_negated_korean(text: str) -> str:
    words = text.split()
    gone: set[int] = set()
    for at, word in enumerate(words):
        if _KOREAN_AWAY_GLUED.match(word):
            gone.update(_phrase(words, at))
        elif (_KOREAN_AWAY.match(word) and at) or (_is_negated_verb(words, at) and at):
            gone.update(_phrase(words, at - 1))
        elif _KOREAN_LEFT.match(word) and _is_left_behind(words, at):
            gone.update(_phrase(words, at))
    return " ".join(";" if at in gone else word for at, word in enumerate(words))


def _is_negated_verb(words: list[str], at: int) -> bool:
    if _KOREAN_NEGATED.match(words[at]):
        return True
    return words[at].endswith("지") and at + 1 < len(words) and bool(_KOREAN_NOT.match(words[at + 1]))


def _is_left_behind(words: list[str], at: int) -> bool:
    """True in "Memcached에서 Redis로 옮긴다", false in "Redis에서 세션을 읽는다"."""
    later = words[at + 1 : at + 1 + _KOREAN_WORDS]
    return any(_KOREAN_GOAL.match(each) for each in later) and any(map(_KOREAN_CHANGE.search, later))


def _phrase(words: list[str], end: int) -> range:
    """Return the words of the phrase that ends here: "Memcached와 Redis Streams" is one."""
    start = end
    while start and end - start < _KOREAN_WORDS:
        joined = _KOREAN_JOINED.match(words[start - 1])
        compound = _PLAIN.fullmatch(words[start - 1]) and _PLAIN.match(words[start])
        if not (joined or compound or _KOREAN_DOING.fullmatch(words[start])):
            break
        start -= 1
    return range(start, end + 1)


# -- an option, as it is written down

_QUOTES = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb*_ \t"
_REMARK = re.compile(
    r"\s*[(\[:;].*|\s+[-\u2013\u2014]\s+.*|\s+(?:because|since|due to)\b.*", re.IGNORECASE | re.DOTALL
)
_LEADING = re.compile(
    r"^(?:us(?:e|ing)|adopt(?:ing)?|keep(?:ing)?|stay(?:ing)? (?:on|with)|stick(?:ing)? with"
    r"|switch(?:ing)? to|mov(?:e|ing) to|migrat(?:e|ing) to|go(?:ing)? with|the|a|an)\s+",
    re.IGNORECASE,
)
_KIND = re.compile(r"\s+(?:library|package|framework|database|db|language|lang)$", re.IGNORECASE)
_ROLE = re.compile(
    r"\s+(?:library|package|framework|database|db|language|lang|clusters?|servers?|caches?|queues?|brokers?|instances?"
    r"|stores?|storage|clients?|back ?ends?|front ?ends?|services?|apps?|apis?|scripts?|code|projects?)$",
    re.IGNORECASE,
)
_USE = re.compile(
    r"\s+(?:for|as|with|on|in|via|to|at|by|behind|under|through|across|per|everywhere|directly|only|alone|itself)\b.*",
    re.IGNORECASE | re.DOTALL,
)
_TRAILING_VERSION = re.compile(r"\s+v?\d+(?:\.(?:\d+|x))*\+?$", re.IGNORECASE)
_SEVERAL = re.compile(r"\s*(?:,|\||\s(?:or|and|또는|및)\s)\s*", re.IGNORECASE)


@lru_cache(maxsize=16_384)
def bare_names(option: str) -> frozenset[str]:
    """Return the identities of what an option is, without its remark: "Kafka 3 (too heavy)" is kafka."""
    text = unicodedata.normalize("NFKC", chosen(option))
    names = {_bare(each, _KIND) for each in (text, *_SEVERAL.split(_REMARK.sub("", text)), *_slashed(text))}
    return frozenset(identity(each) for each in names if each)


@lru_cache(maxsize=16_384)
def main_names(option: str) -> frozenset[str]:
    """Return `bare_names` and what only its use is added to: Redis of "Redis for sessions"."""
    text = unicodedata.normalize("NFKC", chosen(option))
    names = {_bare(_USE.sub("", each), _ROLE) for each in _SEVERAL.split(_REMARK.sub("", text))}
    return bare_names(option) | {identity(each) for each in names if is_known(each) or is_compound(each)}


def _bare(text: str, trailing: re.Pattern[str]) -> str:
    text = _REMARK.sub("", text).strip(_QUOTES).rstrip(".,")
    while not is_known(text):
        shorter = trailing.sub("", _TRAILING_VERSION.sub("", _LEADING.sub("", text, count=1))).strip(_QUOTES)
        if shorter == text:
            break
        text = shorter
    return text


def _slashed(text: str) -> list[str]:
    """Return the sides of "Kafka/RabbitMQ"; CI/CD is one thing."""
    sides = [_bare(each, _KIND) for each in text.split("/")]
    return sides if len(sides) > 1 and all(map(is_known, sides)) else []
