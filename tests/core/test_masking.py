"""Secrets are masked before anything is stored, and ordinary sentences are left alone."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.core.life import Whence
from whence.core.masking import mask, mask_within
from whence.core.memories import Draft
from whence.core.ports import Scope
from whence.features.portable import import_lines
from whence.features.workspaces import Place, found_workspace
from whence.models import NoModels
from whence.storage import open_store

# Each bait is put together here, so that no scanner takes this file for a leak.
A36 = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
BAITS = {
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow" + A36 + "\n-----END RSA PRIVATE KEY-----",
    "private key cut off": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz" + A36,
    "password in a URL": "hunter2" + "secretword",
    "GitHub token": "ghp_" + A36,
    "GitHub server token": "ghs_" + A36,
    "GitHub fine token": "github_pat_11" + A36 + "_" + A36,
    "GitLab token": "glpat-" + A36[:20],
    "Anthropic key": "sk-ant-api03-" + A36,
    "OpenAI key": "sk-proj-" + A36,
    "old OpenAI key": "sk-" + A36 + A36[:12],
    "Stripe key": "sk_live_" + A36[:24],
    "AWS key": "AKIA" + "IOSFODNN7EXAMPLE",
    "Google key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "Slack token": "xoxb-" + "123456789012-abcdefABCDEF",
    "package index token": "pypi-" + A36 + A36,
    "npm token": "npm_" + A36,
    "model hub token": "hf_" + A36,
    "Slack webhook": "https://hooks.slack.com/" + "services/T0AB1CD2E/B0AB1CD2E/" + A36[:24],
    "SendGrid key": "SG." + A36[:22] + "." + A36 + A36[:7],
    "Docker token": "dckr_pat_" + A36[:27],
    "JSON web token": "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4",
}
SENTENCES = {
    "password in a URL": "The database is postgres://admin:{}@db.example.com:5432/app",
}


def sentence(kind):
    return SENTENCES.get(kind, "Deploys use {} since May").format(BAITS[kind])


def heart(kind):
    """Return a piece of the secret that must not be anywhere."""
    return (
        BAITS[kind].replace("-----BEGIN RSA PRIVATE KEY-----\n", "").split("\n")[-1 if "cut" in kind else 0]
    )


@pytest.mark.parametrize("kind", BAITS)
def test_a_secret_is_replaced_by_a_word_that_says_what_it_was(kind):
    masked = mask(sentence(kind))
    assert heart(kind) not in masked.text
    assert "[masked" in masked.text
    assert masked.kinds
    assert masked.kinds
    assert mask(masked.text).text == masked.text  # masking again finds nothing


@pytest.mark.parametrize(
    "text",
    [
        "password=Tr0ub4dor&3",
        'DB_PASSWORD: "correct horse battery"',
        "export API_KEY='a1b2c3d4e5f6'",
        "secret := s3cr3tv4lue!",
        '{"access_token": "1234567890abcdef"}',
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "Authorization: Bearer abcdef0123456789abcdef0123",
        "client-secret: 0a1b2c3d4e5f6a7b",
        "SECRET_KEY = 'django-insecure-8x(q$w2e#r4'",
        "API_TOKEN=9f8a7b6c5d",
        "token=" + A36,
        "password: hunter2",
        "DB password: s3cr3t!",
        "PGPASSWORD=correcthorse",
        "pwd=Xy12ab",
        "db_pass: Xy12ab",
        "passphrase: open-sesame-77",
        "password=correct-horse-battery-staple",
        "비밀번호: hunter2!!xx",
        "비밀번호는: hunter2!!xx",
        "암호: hunter2!!xx",
        "Authorization: Basic " + "dXNlcjpwYXNzd29yZA==",
        "AccountKey=" + A36 + "+/==",
        "**Password:** hunter22",
        "password:\n  hunter22\n",
        "password: str = 'hunter2x'",
        'settings["password"] = "hunter2x"',
        ':password => "hunter2x"',
        "password=[masked]hunter2x!]",
        "password=[masked credential]hunter2x!",
        "password=" + "a1" * 300,
        'password: "' + "a1" * 300 + '"',
    ],
)
def test_a_named_credential_loses_its_value_and_keeps_its_name(text):
    masked = mask(text)
    assert "[masked" in masked.text
    assert masked.kinds
    value = text.rstrip("=").split("=")[-1].split(":")[-1].strip(" \"'{}=>*\n").removeprefix("Bearer ")
    assert value.removeprefix("Basic ").removeprefix("[masked credential]").rstrip("]") not in masked.text
    assert mask(masked.text) == type(masked)(masked.text, ())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("postgres://u:p/ss1@host/db", "postgres://u:[masked password]@host/db"),
        ("postgres://u:p@ss1@host:5432/db", "postgres://u:[masked password]@host:5432/db"),
        ("postgres://u:p@s/s1@host", "postgres://u:[masked password]@host"),
        ("https://u:pa#ss@host/a@b", "https://u:[masked password]@host/a@b"),
        ("smtp://ana@x.com:pw123@mail.x.com", "smtp://ana@x.com:[masked password]@mail.x.com"),
        (
            "redis://:pw12@h and redis://:pw34@i",
            "redis://:[masked password]@h and redis://:[masked password]@i",
        ),
        ("(password: hunter2).", "(password: [masked credential])."),
        ('{"password": "hunter2 x", "a": 1}', '{"password": "[masked credential]", "a": 1}'),
        ('{\\"password\\": \\"hunter2 x\\"}', '{\\"password\\": \\"[masked credential]\\"}'),
        ("AccountKey=a1b2c3d4==;Suffix=core", "AccountKey=[masked credential];Suffix=core"),
        ("암호: hunter2!!xx로 바꿈", "암호: [masked credential]로 바꿈"),
        ("키는" + BAITS["GitHub token"] + "이다", "키는[masked GitHub token]이다"),
        (BAITS["AWS key"] + "를 쓴다", "[masked AWS key]를 쓴다"),
        ("curl -H 'Authorization: Basic dTpwYXNz'", "curl -H 'Authorization: Basic [masked authorization]'"),
    ],
)
def test_what_stands_around_a_secret_stays(text, left):
    assert mask(text).text == left
    assert mask(left).kinds == ()


def test_json_is_masked_in_every_text_and_nowhere_else():
    value = {"a": ["password: hunter2", 7, None], "b": (BAITS["AWS key"],)}
    left = {"a": ["password: [masked credential]", 7, None], "b": ("[masked AWS key]",)}
    assert mask_within(value) == (left, ("credential", "AWS key"))


@pytest.mark.parametrize(
    "text",
    [
        "We rotate every password and API key each quarter.",
        "The password must have at least 12 characters.",
        "The secret: keep it simple.",
        "Password reset emails are sent through SES.",
        "The api_key parameter is optional.",
        "Use the Authorization header with a bearer token.",
        "See https://example.com/docs/auth?id=123#section and ssh://git@host/repo.git",
        "Commit 9da3d9c0f1e2d3c4b5a69788990011223344aabb fixed it",
        "sha256 f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
        "The class SecretManager reads secrets from Vault; see secret_manager.py",
        "Monkeys like sk-learn and hf_transfer, says risk-averse Ana",
        "fact_01JXT21Q00AZ0ZTDFSJ04105HQ supersedes fact_01JXT21Q00AZ0ZTDFSJ040ZAPR",
        "At 10:30 we met: token buckets limit 5 requests a second",
        "비밀번호는 금고에 있다",
        "author: ana@example.com",
        "The passwordless login (password: none needed) went live",
        "password: required",
        "token: optional",
        "secret: none",
        "password: changeme?",
        "The password policy requires 12 characters",
        "password: min. 12 characters",
        "password: ********",
        "Password: **required**! and password: !vault",
        "password: base64-encoded, then sha256-hashed",
        "password: ana@example.com",
        "password: see #general-ops, or ask @ana-knows",
        "password=password and login(user=user, password=password)",
        "password=settings.password2; password = get_password(user1)",
        "password=user_password, password=userPassword",
        "password=os.environ['DB_PASSWORD1']",
        "if password == 'hunter2x' and password != other.password2:",
        "DB_PASSWORD=$DB_PASSWORD and ${DB_PASSWORD} and password={password}",
        "DB_PASSWORD=\nDB_HOST=db1.example.com",
        'input("password: ") and then "x1234567"',
        '{"password": "required", "type": "password"}',
        "Name it `password:` and `x12345` too",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "token budget: 4000",
        "tokens=512, max_tokens: 4096",
        "token = tokenizer.encode(text1); token == 'identifier1'; token::Ident2",
        "token: https://auth.example.com:8443/v2/oauth",
        "access token: 15min lifetime",
        "secret: bytes32",
        "private_key: /home/ana/.ssh/id_ed25519",
        "PWD=/srv/main2 and pwd: /build/main2",
        "primary key: user_id2, cache key: user:1234567, foreign key=orders12",
        "Authorization: Basic authentication is off",
        "UUID 550e8400-e29b-41d4-a716-446655440000 names it",
        "git revert 9da3d9c0 and e2b0c442 on 2024-05-01",
        "http://localhost:8080/@fs/x1 and https://npm.example.org:443/@scope/pkg",
        "http://[::1]:8080/@x and https://h.example/a:b@c",
        "git+ssh://git@github.com:org/repo.git@v1.2",
        "docker://alpine:3.19@sha256:abcdef0123",
        "postgres://app:${DB_PASSWORD}@host/db",
        "Mail ana@example.com:bob@example.org at 10:30",
        "암호화는 AES-256-GCM: 2024년부터",
        "암호: AES-256-GCM",
        "암호화폐: coin2024now",
        "비밀번호: 8자리이상입력",
        "비밀번호: 없음",
        "",
    ],
)
def test_an_ordinary_sentence_is_left_to_the_letter(text):
    assert mask(text).text == text
    assert mask(text).kinds == ()
    assert mask(text).kinds == ()


UNITS = (
    "1",
    "-",
    "_",
    ".",
    "a",
    "A",
    "가",
    " ",
    "\n",
    "\\",
    '"',
    "@",
    ":",
    "/",
    "=",
    "{",
    "password=",
    "password: a",
    "password='",
    'password=\\"',
    "password=a_",
    "pwd=x.",
    "pwd=(",
    "password=[masked credential]",
    "암호=",
    "token=a.",
    "key",
    "://",
    "://a:",
    "://a:@",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "eyJ.",
    "eyJ-",
    "eyJaaaaaaaaaa.",
    "eyJaaaaaaaaaa.eyJ",
    "sk-",
    "sk-ant-",
    "ghp_",
    "SG.",
    "bearer ",
    "authorization: basic ",
    "hooks.slack.com/services/",
)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("start", ["", "password=", "://a:", "eyJ"])
def test_masking_takes_time_in_proportion_to_the_text_whatever_it_holds(unit, start):
    text = (start + unit * 50_000)[:50_000]
    began = time.process_time()  # however busy the machine is
    masked = mask(text + " password= http://a:b .eyJ sk- sg. bearer")
    assert time.process_time() - began < 1
    assert mask(masked.text).kinds == ()


PIECES = (
    *UNITS,
    *BAITS.values(),
    "password: ",
    "hunter2",
    "x1!",
    "]",
    "[masked credential]",
    "[masked ",
    "'",
)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_masking_again_finds_nothing_whatever_stood_there(pieces):
    masked = mask("".join(pieces))
    assert mask(masked.text) == type(masked)(masked.text, ())


def test_several_secrets_in_one_text_are_all_masked():
    text = " and ".join(sentence(kind) for kind in BAITS)
    masked = mask(text).text
    assert not [kind for kind in BAITS if heart(kind) in masked]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "whence.db"


@pytest.fixture
def opened(path, clock):
    whence = Whence(open_store(f"sqlite:///{path}", tenant="local", clock=clock), NoModels(), clock)
    yield whence, found_workspace(whence, Place(name="room")).id
    whence.close()


def bytes_on_disk(path: Path) -> bytes:
    """Return the file, its log and whatever lies beside it."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.iterdir()) if each.is_file())


@pytest.mark.promise("001-010")
@pytest.mark.parametrize("kind", BAITS)
def test_no_byte_of_a_secret_reaches_the_disk_by_any_field(opened, path, kind):
    whence, room = opened
    secret = sentence(kind)
    tag = secret if len(secret) <= 64 else "plain"
    draft = Draft(content=secret, context=f"before {secret}", tags=(tag,))
    saved = whence.remember(draft, workspace=room)
    assert any("Masked before storing" in notice for notice in saved.notices)
    short = secret if len(secret) <= 200 else "plain"
    topical = whence.remember(Draft(content="a plain text", topic=short), workspace=room).memory
    whence.edit(topical.id, {"content": f"edited: {secret}", "topic": short})
    whence.edit(topical.id, {"content": "edited again"})
    on_disk = bytes_on_disk(path)
    assert heart(kind).encode() not in on_disk
    assert b"[masked" in on_disk


def test_a_secret_in_a_tag_alone_is_masked_and_told(opened, path):
    whence, room = opened
    saved = whence.remember(Draft(content="plain", tags=(BAITS["AWS key"],)), workspace=room)
    assert saved.memory.tags == ("[masked AWS key]",)
    assert "Masked before storing" in saved.notices[0]
    assert BAITS["AWS key"].encode() not in bytes_on_disk(path)


def test_a_secret_in_an_edit_or_in_what_a_hand_wrote_into_an_export_is_masked_too(opened, path):
    whence, _ = opened
    secret = BAITS["Anthropic key"]
    memory = (
        '{"kind":"memory","id":"fact_1","type":"fact","content":"uses SECRET","topic":"SECRET",'
        '"context":"SECRET before","tags":["SECRET"],"workspace":"w1","created_at":1,"updated_at":1,'
        '"accessed_at":1,"valid_from":1,"metadata":{"schema_version":1}}'
    )
    event = (
        '{"kind":"event","memory_id":"fact_1","number":1,"at":1,"action":"edited",'
        '"author":{"client":null,"session":null,"tool":null},'
        '"replaced":{"content":"SECRET once","topic":"SECRET"}}'
    )
    room = '{"kind":"workspace","id":"w1","name":"w1","identity":null,"created_at":1,"archived_at":null}'
    lines = [
        '{"kind":"whence","format":1}',
        room,
        memory.replace("SECRET", secret),
        event.replace("SECRET", secret),
    ]
    import_lines(whence, lines)
    assert [each.content for each in whence.recent(Scope(), 5)] == ["uses [masked Anthropic key]"]
    assert secret.encode() not in bytes_on_disk(path)
