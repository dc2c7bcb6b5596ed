"""Secrets are masked before anything is stored, and ordinary sentences are left alone."""

from pathlib import Path

import pytest

from whence.core.life import Whence
from whence.core.masking import mask
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
    ],
)
def test_a_named_credential_loses_its_value_and_keeps_its_name(text):
    masked = mask(text)
    assert "[masked" in masked.text
    assert masked.kinds
    value = text.split("=")[-1].split(":")[-1].strip(" \"'{}=").removeprefix("Bearer ")
    assert value not in masked.text


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
        "",
    ],
)
def test_an_ordinary_sentence_is_left_to_the_letter(text):
    assert mask(text).text == text
    assert mask(text).kinds == ()
    assert mask(text).kinds == ()


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
