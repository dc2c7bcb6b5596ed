"""Secrets: what must never be stored is masked before anything is."""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

# Whatever a caller sends is searched, so every pattern must take time in proportion to its text:
# it starts at a literal, its quantifiers are bounded or possessive, and no two searches that fail
# read the same stretch. A text without any of a pattern's hints (in lower case) is not searched.
_START = r"(?<![A-Za-z0-9])"  # no \b: a Hangul letter may stand right before or after a key
_END = r"(?![A-Za-z0-9])"


@dataclass(frozen=True, slots=True)
class _Token:
    """A secret that is known by its own shape; the group "kept" stays."""

    kind: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


def _token(kind: str, hints: str, pattern: str, flags: int = 0) -> _Token:
    return _Token(kind, tuple(hints.split("|")), re.compile(pattern, flags))


_TOKENS = (
    _token(
        "private key",
        "private key",
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----.*?"
        r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)",
        re.DOTALL,
    ),
    _token(
        "Slack webhook",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{8,}+",
        re.IGNORECASE,
    ),
    _token(
        "GitHub token",
        "ghp_|gho_|ghu_|ghs_|ghr_|github_pat_",
        _START + r"(?:gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_[A-Za-z0-9_]{40,}+)",
    ),
    _token("GitLab token", "glpat-", _START + r"glpat-[A-Za-z0-9_-]{20,}+"),
    _token("Anthropic key", "sk-ant-", _START + r"sk-ant-[A-Za-z0-9_-]{20,}+"),
    _token(
        "API key",
        "sk-|sk_|pk-|pk_|rk-|rk_",
        _START + r"(?:[spr]k[-_](?:live|test|proj|svcacct|or-v1)[-_][A-Za-z0-9_-]{16,}+"
        r"|sk-[A-Za-z0-9]{32,}+)",
    ),
    _token("SendGrid key", "sg.", _START + r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    _token("Docker token", "dckr_", _START + r"dckr_[po]at_[A-Za-z0-9_-]{20,}+"),
    _token("AWS key", "akia|asia", _START + r"A[KS]IA[0-9A-Z]{16}" + _END),
    _token("Google key", "aiza", _START + r"AIza[0-9A-Za-z_-]{35,}+"),
    _token("Slack token", "xox", _START + r"xox[abeoprs]-[A-Za-z0-9-]{10,}+"),
    _token(
        "package index token",
        "pypi-|npm_",
        _START + r"(?:pypi-[A-Za-z0-9_-]{50,}+|npm_[A-Za-z0-9]{36,}+)",
    ),
    _token("model hub token", "hf_", _START + r"hf_[A-Za-z0-9]{30,}+"),
    _token(
        "JSON web token",
        ".eyj",
        # from the start of a run, so that each run is read once; what stands before eyJ goes too
        r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]{0,64}?eyJ)[A-Za-z0-9_-]{13,}+"
        r"\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+",
    ),
    _token(
        "bearer token",
        "bearer",
        r"(?P<kept>" + _START + r"bearer[ \t]{1,4})[A-Za-z0-9._~+/-]{20,}+=*+",
        re.IGNORECASE,
    ),
)
_KINDS = (*(token.kind for token in _TOKENS), "password", "authorization", "credential")
_MARK = re.compile(r"\[masked (?:" + "|".join(map(re.escape, dict.fromkeys(_KINDS))) + r")\]")

# What holds the place of a secret: a variable, a template, a type, an algorithm, a word.
_VARIABLE = r"\$[A-Z_][A-Z0-9_]*|\$?\{+[A-Za-z_][\w. ]*\}+|<[A-Za-z_][\w -]*>"
_REFERENCE = re.compile(
    _VARIABLE + r"|\$[A-Za-z_]+|\$?\{+[A-Za-z_][^{}]*\}+|\$?\{+[A-Za-z_]*|\$\([a-z][\w ./-]*\)?|<[^<>]*>"
    r"|%s|%\(\w+\)s|%[A-Z_]+%"
    r"|your[-_].*|my[-_](?:password|secret|token|api[-_]?key|key)|https?://.*|(?:~|\.\.?)/[\w./-]*"
    r"|/(?:app|data|dev|etc|home|mnt|opt|proc|root|run|secrets|srv|tmp|Users|usr|var)/[\w./-]*"
    r"|(?:args|body|cfg|conf|config|credentials|creds|ctx|data|env|form|options|os|params|process|req|request"
    r"|secrets|self|settings|this|user|vault)\.[\w.\[\]()]+"
    r"|(?:[a-z](?=\w*[._])|get|str|input|prompt|hash|encrypt|decrypt|read|load|make|create|fetch)[\w.]*\(.*"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|dev|kr|test)|\d{4}-\d\d-\d\d(?:T.*)?"
)
_ADDRESS_REFERENCE = re.compile(_VARIABLE)
_MENTION = re.compile(r"[@#!&*][A-Za-z][A-Za-z/_-]*")  # a name, a channel, a YAML tag or anchor
_ALGORITHM = (
    r"(?:aes|sha|md5|hmac|rsa|hs|rs|es|base|bcrypt|scrypt|argon2?(?:id)?|pbkdf2?|oauth2?|utf|ed25519|x25519"
    r"|chacha20|poly1305|bytes|u?int|string|rfc|gcm|cbc|ctr|siv|encoded|hashed|encrypted|based|derived|signed"
    r"|style|url|uuid)"
)
_NAMED = re.compile(rf"{_ALGORITHM}(?:[-_/+]?(?:{_ALGORITHM}|\d{{1,4}})){{0,6}}", re.IGNORECASE)
_WORDS = re.compile(
    r"authentication|authorization|changeme|credentials?|default|deprecated|disabled|empty|enabled|encrypted"
    r"|example|hashed|header|hidden|invalid|masked|missing|nothing|optional|passphrase|passwd|password"
    r"|plaintext|placeholder|prompt|redacted|request|required|secret|string|undefined|unknown|username|value",
    re.IGNORECASE,
)

# The names that a secret is kept under, and how much of a secret what follows must be.
_FIRST_NAMES = r"password|passwd|passphrase|pwd|(?<=db_)pass|(?-i:(?<=_)PASS)|비밀번호|패스워드|암호"
_SECOND_NAMES = (
    r"secret(?:[ _-]?key)?|(?:api|access|account|private|encryption|signing|master)[ _-]?key"
    r"|(?:api|auth|access|refresh|session|bot)[ _-]?token|(?-i:(?<=_)TOKEN)"
)
_NAME = re.compile(
    rf"(?:(?P<password>{_FIRST_NAMES})|(?P<secret>{_SECOND_NAMES})|(?P<token>token))"
    r"(?:[_-]?[0-9]{1,3}|[는은])?(?:\\{0,3}[\"'`]\]?|\*{1,2})?[ \t]{0,8}"
    r"(?P<sign>:[ ]?(?:str|string|&str)[ ]?=|=>|:=|=(?!=)|:(?!:)|\uff1a)\*{0,2}(?P<space>[ \t]{0,8})",
    re.IGNORECASE,
)
_NAME_HINTS = ("pass", "pwd", "secret", "key", "token", "비밀번호", "패스워드", "암호")
_OPENING = re.compile(r"(\\{0,3})([\"'`])")
_BODIES = {quote: re.compile(rf"(?:\\.|[^{quote}\\\n]){{0,200}}+(?={quote})") for quote in "\"'`"}
_ESCAPED_BODY = re.compile(r"[^\"'`\\\n]{0,200}+(?=\\{1,3}[\"'`])")
_BARE = r"[^\s\"'`,;\\가-힣]|\\(?![\"'`])"
_RUN = re.compile(rf"(?:{_BARE}){{0,200}}+")
_REST = re.compile(rf"(?:{_BARE})*+")
_NEXT_LINE = re.compile(r"\r?\n[ \t]{0,8}(?=[^\s\"',;:=]{6,200}+[ \t]{0,8}(?:\r?\n|\Z))")
_AFTER_QUOTE = re.compile(r"\s|[)\],;+}]{1,3}(?:\s|\Z)")  # the quote closed what stood before it
_EDGE = "!?.:*)]}>_"  # what prose puts around a word
_LEAST = {"password": 6, "secret": 6, "token": 16}
_DIGIT, _LETTER, _SYMBOL = (re.compile(each) for each in ("[0-9]", "[A-Za-z]", "[!@#$%^&*]"))
_TOKEN_LETTERS = re.compile(r"[A-Za-z0-9._~+/=:-]+")
_LETTERS = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_IDENTIFIER = re.compile(r"[A-Za-z_]+[0-9]{0,2}(?:\.[A-Za-z_]+[0-9]{0,2})*")
_AUTHORIZATION = re.compile(
    r"authorization\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?(?P<scheme>basic|token|api-?key|bearer)"
    r"[ \t]{1,4}(?P<value>[A-Za-z0-9+/._~-]{6,}+=*+)",
    re.IGNORECASE,
)

_AUTHORITY = re.compile(r"[^\s\"'`]*+")
_USER = re.compile(r"(?P<user>[^\s\"'`:/?#\[]*+):")
_PORT = re.compile(r"(?:\d{1,5}|\$?\{+\w+\}+|\$\w+|<\w+>)(?:[/?#]|\Z)")
_WEB = ("http", "https", "ws", "wss", "git", "ssh", "ftp", "ftps", "sftp")
_SCHEME = re.compile(r"[a-z]{1,12}\Z", re.IGNORECASE)

_ROUNDS = 4  # what stood glued to one secret may be seen as another once the first is gone

Anything: TypeAlias = Any  # what JSON holds, tuples included
Found: TypeAlias = tuple[int, int, str]  # from, to, and what is written there instead


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and what kinds they were."""

    text: str
    kinds: tuple[str, ...]


def _placeholder(core: str) -> bool:
    """Whether this only stands where a secret would."""
    return any(each.fullmatch(core) for each in (_WORDS, _REFERENCE, _NAMED))


def _secret_token(core: str) -> bool:
    """Whether this is a token: what a lexer or a budget calls so is not."""
    return bool(_DIGIT.search(core) and _TOKEN_LETTERS.fullmatch(core) and not _IDENTIFIER.fullmatch(core))


def _secret_letters(core: str, name: re.Match[str], follows: str) -> bool:
    """Whether letters alone are a secret: only as PASSWORD=letters or password=eightletters."""
    if name["sign"] != "=" or name["space"] or follows in ("(", "[") or not _LETTERS.fullmatch(core):
        return False
    if name.group().partition("=")[0].isupper():
        return True
    camel = re.fullmatch(r"[a-z]+[A-Za-z]*(?:Password|Passphrase|Secret|Key|Token|Pwd|Pass)", core)
    return bool(name["password"]) and len(core) >= 8 and camel is None


def _secret_value(value: str, name: re.Match[str], family: str, follows: str) -> bool:
    """Whether what stands bare after the name of a secret is one, not prose."""
    marked = _MARK.match(value)
    value = value[marked.end() :].rstrip("?.:)]}") if marked else value.rstrip("?.:)]}")
    core = value.strip(_EDGE)
    if len(value) < _LEAST[family]:
        return False
    if family == "token":
        likely = _secret_token(core)
    elif _DIGIT.search(core) or (_SYMBOL.search(value.rstrip(_EDGE)) and _LETTER.search(core)):
        likely = not (name["space"] and _MENTION.fullmatch(value))
    else:
        likely = not marked and _secret_letters(core, name, follows)
    if not likely or (name["password"] in ("pwd", "PWD") and value.startswith("/")):
        return False
    return not _placeholder(value) and not _placeholder(core)


def _secret_quoted(body: str, family: str) -> bool:
    """Whether what stands in quotes after the name of a secret is one."""
    unmarked = _MARK.sub("", body).strip()
    if len(unmarked) < 6 or _placeholder(unmarked) or _AFTER_QUOTE.match(body):
        return False
    return family != "token" or (len(unmarked) >= _LEAST["token"] and _secret_token(unmarked))


def _bare(text: str, start: int, name: re.Match[str], family: str) -> tuple[int, int] | None:
    """Return where the unquoted secret stands that begins here, if one does."""
    marked = _MARK.match(text, start)
    run = _RUN.match(text, marked.end() if marked else start)
    if run is None:
        return None
    value = text[start : run.end()]
    if not _secret_value(value, name, family, text[run.end() : run.end() + 1]):
        return None
    rest = _REST.match(text, run.end())  # judged by its first 200 characters, masked to its last
    end = rest.end() if rest else run.end()
    kept = len(text[start:end]) - len(text[start:end].rstrip(".:)]}"))
    return start, end - kept


def _value(text: str, name: re.Match[str]) -> tuple[int, int] | None:
    """Return where the secret stands that belongs to this name, if it is one."""
    family = next(each for each in _LEAST if name[each])
    start = name.end()
    opening = _OPENING.match(text, start)
    if opening:
        start = opening.end()
        body = (_ESCAPED_BODY if opening[1] else _BODIES[opening[2]]).match(text, start)
        if body:
            return (start, body.end()) if _secret_quoted(body.group(), family) else None
    elif name["sign"] in (":", "\uff1a") and family != "token":
        below = _NEXT_LINE.match(text, start)
        start = below.end() if below else start
    return _bare(text, start, name, family)


def _credentials(text: str) -> list[Found]:
    """Find the values of what is called a password, a secret, a key or a token."""
    found: list[Found] = []
    at = 0
    while name := _NAME.search(text, at):
        place = _value(text, name)
        at = place[1] if place else name.end()
        if place:
            found.append((*place, "[masked credential]"))
    return found


def _basic(value: str) -> bool:
    """Whether this is a user and a password in base64, not the word authentication."""
    padded = value.rstrip("=")[:400]
    try:
        decoded = b64decode(padded + "=" * (-len(padded) % 4))
    except (binascii.Error, ValueError):
        decoded = b""
    return (b":" in decoded and decoded.isascii()) or value.endswith("=") or _DIGIT.search(value) is not None


def _authorizations(text: str) -> list[Found]:
    """Find what follows the scheme in an Authorization header."""
    return [
        (*match.span("value"), "[masked authorization]")
        for match in _AUTHORIZATION.finditer(text)
        if _basic(match["value"])
    ]


def _password_end(rest: str, user: str, scheme: str) -> int:
    """Return where the password ends that starts this rest of an address, or -1."""
    if _PORT.match(rest) or re.match(r"[\w.-]{1,128}@sha256:", rest):
        return -1
    strict = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in strict:
        # a path of a web address may hold an @; before a database it is the password that does
        whole = strict if scheme in _WEB else re.split(r"[?#]", rest, maxsplit=1)[0]
        return max(strict.rfind("@"), whole.rfind("@"))
    first = rest.find("@")
    if first < 0 or "@" in user:
        return -1
    return first + re.split(r"[/?#]", rest[first:], maxsplit=1)[0].rfind("@")


def _addresses(text: str) -> list[Found]:
    """Find the passwords in addresses such as postgres://user:password@host."""
    found: list[Found] = []
    at = text.find("://")
    while at >= 0:
        following = text.find("://", at + 3)
        until = following if following >= 0 else len(text)
        user = _USER.match(text, at + 3, until)
        if user:
            marked = _MARK.match(text, user.end(), until)
            start = marked.end() if marked else user.end()
            run = _AUTHORITY.match(text, start, until)
            scheme = _SCHEME.search(text[max(0, at - 12) : at])
            rest = run.group() if run else ""
            length = _password_end(rest, user["user"], scheme.group().lower() if scheme else "")
            if length > 0 and not _ADDRESS_REFERENCE.fullmatch(rest[:length]):
                found.append((user.end(), start + length, "[masked password]"))
        at = following
    return found


def _tokens(token: _Token) -> Callable[[str], list[Found]]:
    def search(text: str) -> list[Found]:
        kept = "kept" in token.pattern.groupindex
        return [
            (match.end("kept") if kept else match.start(), match.end(), f"[masked {token.kind}]")
            for match in token.pattern.finditer(text)
        ]

    return search


_SEARCHES: tuple[tuple[str, tuple[str, ...], Callable[[str], list[Found]]], ...] = (
    *((token.kind, token.hints, _tokens(token)) for token in _TOKENS),
    ("password in a URL", ("://",), _addresses),
    ("authorization", ("authorization",), _authorizations),
    ("credential", _NAME_HINTS, _credentials),
)


def _replace(text: str, found: list[Found]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end, word in found:
        pieces += (text[at:start], word)
        at = end
    return "".join((*pieces, text[at:]))


def _once(text: str) -> Masked:
    kinds: list[str] = []
    lowered = text.lower()
    for kind, hints, search in _SEARCHES:
        if any(hint in lowered for hint in hints) and (found := search(text)):
            kinds.append(kind)
            text = _replace(text, found)
    return Masked(text, tuple(kinds))


def mask(text: str) -> Masked:
    """Return the text with every key, token and password replaced by a word."""
    kinds: list[str] = []
    for _ in range(_ROUNDS):
        masked = _once(text)
        if not masked.kinds:
            break
        text = masked.text
        kinds += masked.kinds
    return Masked(text, tuple(dict.fromkeys(kinds)))


def mask_within(value: Anything) -> tuple[Anything, tuple[str, ...]]:
    """Return JSON without the secrets in any of its texts, and what kinds they were."""
    kinds: list[str] = []

    def clean(each: Anything) -> Anything:
        if isinstance(each, str):
            masked = mask(each)
            kinds.extend(masked.kinds)
            return masked.text
        if isinstance(each, dict):
            return {name: clean(inner) for name, inner in each.items()}
        if isinstance(each, list | tuple):
            return type(each)(clean(inner) for inner in each)
        return each

    return clean(value), tuple(dict.fromkeys(kinds))
