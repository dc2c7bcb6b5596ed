"""Words: how a text is cut so that a question finds it, in every script."""

import re
import unicodedata
from functools import cache
from importlib.resources import files
from itertools import pairwise

_CJK_RANGES = (
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_CJK_RUN = re.compile(f"[{_CJK_RANGES}]+")
_WORD = re.compile(r"[^\W_]+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_NON_LATIN = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]")

PHRASES = 3
CONTEXT_WORDS = 25  # a whole context drowns its text: bm25 counts every column in its length


def is_cjk(text: str) -> bool:
    """True when the text holds Hangul, Kana or Han."""
    return _CJK_RUN.search(text) is not None


def needs_multilingual(text: str) -> bool:
    """True when the English model cannot read the text: CJK in it, or mostly another script."""
    if is_cjk(text):
        return True
    letters = sum(character.isalpha() for character in text)
    return letters > 0 and len(_NON_LATIN.findall(text)) * 2 > letters


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def index_form(text: str) -> str:
    """Return the text as the word index reads it: CJK runs as overlapping pairs of characters."""
    # The word index takes characters newer than itself, such as most emoji, for parts of a word.
    composed = _BETWEEN_WORDS.sub(" ", unicodedata.normalize("NFKC", text))
    return _CJK_RUN.sub(lambda run: f" {' '.join(_bigrams(run.group()))} ", composed)


def context_form(context: str) -> str:
    """Return the last words of a context in index form."""
    return index_form(" ".join(context.split()[-CONTEXT_WORDS:]))


@cache
def stop_words() -> frozenset[str]:
    """Return the English words that carry no meaning in a question."""
    text = files("whence.core").joinpath("stop_words.txt").read_text(encoding="utf-8")
    return frozenset(line.strip() for line in text.splitlines() if line and not line.startswith("#"))


def _folded(word: str) -> str:
    """Fold ASCII alone: the index folds the rest, by tables older than this Python's."""
    return word.lower() if word.isascii() else word


def question_words(text: str) -> list[str]:
    """Return the distinct content words of a question, in order; all its words if none is left."""
    words = [_folded(word) for word in _WORD.findall(index_form(text))]
    content = [word for word in words if word not in stop_words()]
    return list(dict.fromkeys(content or words))


_SUFFIXES = ("ations", "ation", "ings", "ions", "ion", "ing", "ies", "ied", "es", "ed", "s")
_STEM = 4  # letters that a stem keeps


def light_stem(word: str) -> str:
    """Return an English word without its ending, for comparing names: rough, and the index does it better."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _STEM:
            return word[: -len(suffix)]
    return word


def question_phrases(text: str) -> list[str]:
    """Return a few pairs of neighbouring content words, which weigh more when they meet as a pair.

    The longest are the rarest, and the cheapest to look up: the index counts every pair over all its texts.
    """
    composed = _CJK_RUN.sub(" . ", unicodedata.normalize("NFKC", text))
    words = [_folded(word) for word in _WORD.findall(composed)]
    pairs = {
        f"{a} {b}": len(a) + len(b)
        for a, b in pairwise(words)
        if a not in stop_words() and b not in stop_words()
    }
    return sorted(pairs, key=lambda pair: -pairs[pair])[:PHRASES]
