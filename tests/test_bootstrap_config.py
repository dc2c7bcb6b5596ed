"""Settings, flag before environment before file before default, and the memory that is built from them."""

from pathlib import Path

import pytest

from whence.bootstrap import TENANT, SystemClock, model_state, open_memory
from whence.config import default_home, load_settings
from whence.core.errors import InvalidParameter, StorageFailed
from whence.core.memories import Draft
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.features.workspaces import NOWHERE, to_write
from whence.models import NoModels


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def settle(home):
    """Load settings with this text as the file."""

    def load(toml=None, flags=None, **environment):
        if toml is not None:
            home.mkdir(exist_ok=True)
            (home / "config.toml").write_text(toml, encoding="utf-8")
        return load_settings({"WHENCE_HOME": str(home), **environment}, **(flags or {}))

    return load


def test_without_a_word_said_everything_has_a_default(settle, home):
    settings = settle()
    assert settings.home == home
    assert settings.store == f"sqlite:///{home / 'whence.db'}"
    assert settings.workspace is None
    assert (settings.tools, settings.tool_names) == ("intents", "flat")
    assert settings.offline is False
    assert not home.exists()  # reading settings makes nothing


@pytest.mark.parametrize(
    ("name", "in_file", "in_environment"),
    [
        ("store", "sqlite:////file.db", "sqlite:////environment.db"),
        ("workspace", "from-file", "from-environment"),
        ("tools", "facts", "all"),
        ("tool_names", "slash", "flat"),
    ],
)
def test_the_environment_wins_over_the_file_which_wins_over_the_default(
    settle, name, in_file, in_environment
):
    toml = f'{name} = "{in_file}"'
    assert getattr(settle(toml), name) == in_file
    key = f"WHENCE_{name.upper()}"
    assert getattr(settle(toml, **{key: in_environment}), name) == in_environment
    assert getattr(settle(toml, **{key: ""}), name) == in_file  # an empty variable says nothing


@pytest.mark.parametrize("name", ["store", "workspace"])
def test_a_flag_wins_over_everything(settle, name):
    settings = settle(f'{name} = "file"', flags={name: "flag"}, **{f"WHENCE_{name.upper()}": "environment"})
    assert getattr(settings, name) == "flag"
    assert (
        getattr(settle(flags={name: None}, **{f"WHENCE_{name.upper()}": "environment"}), name)
        == "environment"
    )


@pytest.mark.parametrize(
    ("told", "offline"),
    [("1", True), ("true", True), ("YES", True), ("on", True), ("0", False), ("no", False), ("", False)],
)
def test_a_switch_is_read_in_the_words_people_use(settle, told, offline):
    assert settle(WHENCE_OFFLINE=told).offline is offline


def test_a_switch_and_a_number_keep_their_kinds_in_the_file(settle):
    settings = settle("offline = true\nidle_seconds = 5")
    assert (settings.offline, settings.idle_seconds) == (True, 5.0)
    assert settle(WHENCE_OFFLINE="0", WHENCE_IDLE_SECONDS="7.5").offline is False


@pytest.mark.parametrize(
    ("toml", "environment", "words"),
    [
        ('colour = "red"', {}, "unknown setting: colour"),
        ('Store = "x"', {}, "unknown setting: Store"),
        ("[store]\nurl = 'x'", {}, "The setting store must be text"),
        ("workspace = 5", {}, "The setting workspace must be text"),
        ("tools = ['facts']", {}, "The setting tools must be text"),
        ("this is no TOML", {}, "is no valid TOML"),
        ("store = ", {}, "is no valid TOML"),
        ('offline = "perhaps"', {}, "The setting offline must be true or false"),
        ("offline = 2", {}, "The setting offline must be true or false"),
        (None, {"WHENCE_OFFLINE": "perhaps"}, "The setting offline must be true or false"),
        (None, {"WHENCE_IDLE_SECONDS": "soon"}, "The setting idle_seconds must be a number"),
        ("idle_seconds = []", {}, "The setting idle_seconds must be a number"),
        (None, {"WHENCE_TOOL_NAMES": "camel"}, 'tool_names is "camel"'),
    ],
)
def test_a_wrong_setting_is_one_sentence_with_a_next_step(settle, toml, environment, words):
    with pytest.raises(InvalidParameter) as refused:
        settle(toml, **environment)
    assert words in refused.value.message
    assert refused.value.hint


def test_a_file_that_is_no_text_is_told_by_its_path(settle, home):
    home.mkdir()
    (home / "config.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidParameter, match=r"config\.toml is no valid TOML"):
        settle()


def test_the_home_is_taken_with_its_tilde_and_made_absolute(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_settings({"WHENCE_HOME": "~/memory"}).home == tmp_path / "memory"
    monkeypatch.chdir(tmp_path)
    assert load_settings({"WHENCE_HOME": "memory"}).home == tmp_path / "memory"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "xdg"))
    monkeypatch.setattr("sys.platform", "linux")
    assert default_home() == tmp_path / "xdg" / "whence"
    assert load_settings({}).home == tmp_path / "xdg" / "whence"


def test_the_clock_tells_microseconds_that_never_stand_before_the_year_this_was_written():
    clock = SystemClock()
    assert 1_750_000_000_000_000 < clock.now() <= clock.now()


@pytest.mark.promise("003-115", "001-002")
def test_the_default_store_is_one_private_sqlite_file_that_the_next_program_finds_again(settle, home):
    whence = open_memory(settle(), models=NoModels())
    room = to_write(whence, None, NOWHERE).id
    memory = whence.remember(Draft(content="kiwi"), workspace=room).memory
    health = whence.store.health()
    whence.close()
    assert (health["journal"], health["synchronous"]) == ("wal", "2")
    assert health["database"] == str(home / "whence.db")
    assert (home / "whence.db").stat().st_mode & 0o077 == 0
    again = open_memory(settle(), models=NoModels())
    assert [hit.memory.id for hit in again.recall(Query(text="kiwi", scope=Scope())).hits] == [memory.id]
    again.close()
    assert TENANT == "local"


@pytest.mark.parametrize("url", ["postgres://x", "whence.db", "", "sqlite://relative"])
def test_a_store_that_this_version_does_not_know_is_refused(settle, url):
    with pytest.raises(StorageFailed) as refused:
        open_memory(settle(flags={"store": url or "bad"}), models=NoModels())
    assert refused.value.hint


def test_a_store_path_takes_the_tilde(monkeypatch, tmp_path, settle):
    monkeypatch.setenv("HOME", str(tmp_path))
    open_memory(settle(flags={"store": "sqlite:///~/deep/w.db"}), models=NoModels()).close()
    assert (tmp_path / "deep" / "w.db").exists()


def test_a_store_path_of_an_unknown_user_is_refused_in_a_sentence(settle):
    with pytest.raises(StorageFailed):
        open_memory(settle(flags={"store": "sqlite:///~no-such-user/w.db"}), models=NoModels())


def test_a_home_without_a_model_says_so(settle, model_home):
    assert model_state(settle()) == "not installed"
    assert model_state(load_settings({"WHENCE_HOME": str(Path(model_home))})) == "installed and verified"
