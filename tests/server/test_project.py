"""Which project does a folder belong to?"""

import pytest

from whence.features.workspaces import NOWHERE
from whence.server.project import project_of


def repository(folder, url=None):
    git = folder / ".git"
    git.mkdir(parents=True)
    remote = f'[remote "origin"]\n\turl = {url}\n' if url else ""
    (git / "config").write_text(f"[core]\n\tbare = false\n{remote}")
    return folder


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/ana/app.git",
        "https://token@example.com/ana/app",
        "git@example.com:ana/app.git",
        "ssh://git@example.com:2222/ana/app.git",
        "git+ssh://git@example.com/ana/app.git",
        "git://example.com/ana/app/",
    ],
)
def test_the_same_remote_in_any_spelling_is_the_same_project(tmp_path, url):
    place = project_of(repository(tmp_path / "clone", url) / ".git" / "..")
    assert (place.name, place.identity, place.second_name) == ("app", "git:example.com/ana/app", "ana-app")


def test_clones_of_one_folder_share(tmp_path):
    first = project_of(repository(tmp_path / "one", "file:///srv/git/app.git"))
    second = project_of(repository(tmp_path / "two", "/srv/git/app.git"))
    assert first.identity == second.identity
    assert first.name == "app"


def test_a_subfolder_belongs_to_its_repository_and_another_folder_to_none(tmp_path):
    inside = repository(tmp_path / "project") / "src" / "deep"
    inside.mkdir(parents=True)
    assert project_of(inside).name == "project"
    assert project_of(tmp_path / "elsewhere") == NOWHERE


def test_a_damaged_git_configuration_still_gives_a_project(tmp_path):
    folder = repository(tmp_path / "project")
    (folder / ".git" / "config").write_text("[[[ this is no configuration")
    assert project_of(folder).name == "project"
