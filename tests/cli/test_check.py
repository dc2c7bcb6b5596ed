"""`whence check`: a git diff held against the decisions, as a user or a hook runs it."""

import json
import subprocess

import pytest


@pytest.fixture
def git(shell):
    """Run git in the shell's folder, which becomes a repository with one commit."""

    def run(*arguments):
        settings = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(
            ["git", *settings, *arguments], cwd=shell.folder, check=True, capture_output=True, text=True
        ).stdout

    run("init", "-q", ".")
    (shell.folder / "requirements.txt").write_text("flask\n")
    run("add", "-A")
    run("commit", "-qm", "begin")
    return run


@pytest.fixture
def decided(shell):
    told = {
        "topic": "session_store",
        "decision": "Keep sessions in PostgreSQL",
        "reasoning": "One server to run",
        "alternatives": [{"option": "Redis", "why_rejected": "a second server"}],
    }
    done = shell("call", "save_decision", json.dumps(told))
    assert done.code == 0, done.err
    return done.json["decision_id"]


def add_redis(shell):
    (shell.folder / "requirements.txt").write_text("flask\nredis>=5\n")


REASON = "'Redis' was rejected in favor of 'Keep sessions in PostgreSQL' (rationale: One server to run)"


def test_an_added_dependency_that_was_rejected_is_told_with_its_line_and_exits_3(shell, git, decided):
    add_redis(shell)
    done = shell("check")
    assert (done.code, done.err) == (3, "")
    assert done.out == f"requirements.txt:2: {REASON} (decision 1)\n"


def test_a_diff_that_adds_nothing_rejected_exits_0(shell, git, decided):
    (shell.folder / "requirements.txt").write_text("flask\nhttpx\n")
    done = shell("check")
    assert (done.code, done.out) == (0, "Nothing in this diff runs against a decision.\n")


def test_staged_looks_at_the_index_alone(shell, git, decided):
    add_redis(shell)
    assert shell("check", "--staged").code == 0
    git("add", "-A")
    (shell.folder / "requirements.txt").write_text("flask\n")
    assert shell("check", "--staged").code == 3
    assert shell("check").code == 0


def test_a_revision_is_what_the_working_tree_is_held_against(shell, git, decided):
    add_redis(shell)
    git("commit", "-qam", "redis")
    assert shell("check").code == 0
    assert shell("check", "--diff", "HEAD~1").code == 3
    assert shell("check", "--diff", "HEAD~1..HEAD").code == 3
    assert shell("check", "--diff", "HEAD~1...HEAD").code == 3
    assert shell("check", "--diff", "HEAD..HEAD").code == 0
    (shell.folder / "main-line").mkdir()
    git("branch", "main-line", "HEAD~1")
    assert shell("check", "--diff", "main-line").code == 3


def test_a_file_that_git_does_not_know_yet_counts_as_added(shell, git, decided):
    (shell.folder / "package.json").write_text('{\n  "dependencies": {\n    "ioredis": "^5"\n  }\n}\n')
    done = shell("check", "--json")
    assert done.code == 3
    (finding,) = done.json["findings"]
    assert (finding["file"], finding["line"], finding["package"]) == ("package.json", 3, "ioredis")
    assert (finding["hard"], finding["decision_id"], finding["memory_id"]) == (True, 1, decided)
    assert done.json["aligned"] is False


def test_a_diff_comes_on_standard_input(shell, git, decided):
    add_redis(shell)
    assert shell("check", "--diff", "-", stdin=git("diff")).code == 3
    assert shell("check", "--diff", "-", stdin="no diff at all").code == 0


def test_sarif_points_at_the_line(shell, git, decided):
    add_redis(shell)
    done = shell("check", "--format", "sarif")
    assert done.code == 3
    (run,) = done.json["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]
    assert done.json["version"] == "2.1.0"
    assert result["level"] == "error"
    assert result["message"]["text"].startswith(REASON)
    assert place["artifactLocation"]["uri"] == "requirements.txt"
    assert place["region"]["startLine"] == 2
    assert result["ruleId"] in {rule["id"] for rule in run["tool"]["driver"]["rules"]}


def test_a_superseded_or_reconsidered_decision_is_no_hard_conflict(shell, git, decided):
    add_redis(shell)
    update = {"action": "update", "id": 1, "new_status": "reconsidering"}
    assert shell("call", "decision_memory", json.dumps(update)).code == 0
    soft = shell("check", "--json")
    assert soft.code == 0
    assert [each["hard"] for each in soft.json["findings"]] == [False]
    new = {"old_id": decided, "decision": "Sessions in Redis", "reasoning": "4,000 requests a second"}
    assert shell("call", "evolve_supersede", json.dumps(new)).code == 0
    assert shell("check").code == 0


@pytest.mark.parametrize(
    "revision",
    [
        "nope",
        "--output=stolen",
        "-p",
        "HEAD; touch stolen",
        "",
        "^HEAD",
        "HEAD:requirements.txt",
        "HEAD..nope",
    ],
)
def test_what_is_no_revision_is_refused_in_a_sentence(shell, git, decided, revision):
    done = shell("check", f"--diff={revision}")
    assert done.code == 1
    assert "is no revision here" in done.err
    assert "stolen" not in shell.files()


def test_outside_a_repository_it_says_so(shell, decided):
    done = shell("check")
    assert done.code == 1
    assert "git repository" in done.err


def test_names_with_spaces_and_korean_are_read(shell, git, decided):
    folder = shell.folder / "서비스 하나"
    folder.mkdir()
    (folder / "requirements.txt").write_text("redis\n")
    untracked = shell("check", "--json")
    git("add", "-A")
    staged = shell("check", "--staged", "--json")
    for done in (untracked, staged):
        assert done.code == 3
        assert done.json["findings"][0]["file"] == "서비스 하나/requirements.txt"


def test_a_repository_without_a_commit_is_checked_whole(shell, request):
    subprocess.run(["git", "init", "-q", "."], cwd=shell.folder, check=True)
    request.getfixturevalue("decided")  # in the project's own workspace
    add_redis(shell)
    assert shell("check").code == 3
