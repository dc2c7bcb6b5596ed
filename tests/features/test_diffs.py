"""What does a change add to a project, and is nothing taken for a dependency that is none?"""

import difflib
import json
import subprocess
import tomllib
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.features.alignment.diffs import added
from whence.features.alignment.manifests import manifest_reader
from whence.features.alignment.patches import Line, Stretch, read_patch
from whence.features.alignment.technologies import technology_of_package

unhurried = settings(deadline=None)  # the first example also reads the tables


def patch(path, old, new, context=3):
    """Return the diff of one file as git writes it."""
    old_lines, new_lines = old.splitlines(), new.splitlines()
    told = difflib.unified_diff(old_lines, new_lines, f"a/{path}", f"b/{path}", n=context, lineterm="")
    return "\n".join([f"diff --git a/{path} b/{path}", "index 1..2 100644", *told, ""])


def named(additions):
    return [(each.package, each.line) for each in additions]


def packages(path, old, new, context=3, seen=False):
    return [each.package for each in added(patch(path, old, new, context), (lambda _: new) if seen else None)]


def new_file(path, text):
    return added(patch(path, "", dedent(text)))


# -- manifests


def test_an_added_requirement_tells_where_it_stands():
    diff = patch("requirements.txt", "flask==3.0\nrich\n", "flask==3.0\nredis>=5  # cache\nrich\n", 0)
    (found,) = added(diff)
    assert (found.package, found.ecosystem, found.why) == ("redis", "pypi", "dependency")
    assert (found.file, found.line, found.text) == ("requirements.txt", 2, "redis>=5  # cache")


MANIFESTS = {
    "requirements-dev.txt": (
        """\
        # redis is not meant
        -r base.txt
        --index-url https://example.invalid/simple
        psycopg[binary,pool] >= 3.1 ; python_version > "3.8"
        Django~=5.0
        rich
        git+https://example.invalid/x.git@v1#egg=celery
        boto3 @ https://example.invalid/boto3.whl
        pytz==2024.1 \\
            --hash=sha256:aa
        this is a sentence
        """,
        ["psycopg", "Django", "rich", "celery", "boto3", "pytz"],
    ),
    "requirements/base.txt": ("redis\n", ["redis"]),
    "api/pyproject.toml": (
        '''\
        [build-system]
        requires = ["hatchling"]

        [project]
        name = "redis-tool"
        version = "1.2.3"
        description = """
        [project.optional-dependencies]
        x = ["memcached>=1"]
        """
        keywords = ["kafka", "celery"]
        requires-python = ">=3.11"
        dependencies = [
          "redis>=5",  # "pika"
          'psycopg[binary] ; python_version > "3"',
        ]

        [project.optional-dependencies]
        mongo = ["pymongo"]

        [project.scripts]
        flask = "app:main"

        [dependency-groups]
        dev = ["pytest>=8", {include-group = "lint"}]

        [tool.poetry.dependencies]
        python = "^3.11"
        celery = {version = "^5", extras = ["sqs"]}

        [tool.poetry.group.dev.dependencies.mypy]
        version = "^1"

        [tool.ruff]
        select = ["ALL"]
        extend = "base>=1"

        [tool.uv]
        dev-dependencies = ["ruff"]
        ''',
        ["hatchling", "redis", "psycopg", "pymongo", "pytest", "celery", "mypy", "ruff"],
    ),
    "Pipfile": ('[packages]\nredis = "*"\n\n[requires]\npython_version = "3.11"\n', ["redis"]),
    "setup.py": (
        """\
        from setuptools import setup

        setup(
            name="redis-tool",
            version="1.0",
            install_requires=["redis", "flask>=2"],
            extras_require={
                "mongo": ["pymongo"],
            },
            keywords=["kafka"],
        )
        """,
        ["redis", "flask", "pymongo"],
    ),
    "setup.cfg": (
        """\
        [metadata]
        name = redis-tool
        version = 1.0

        [options]
        packages = find:
        install_requires =
            redis>=4
            flask

        [options.extras_require]
        mongo = pymongo

        [flake8]
        exclude = celery
        """,
        ["redis", "flask", "pymongo"],
    ),
    "web/package.json": (
        """\
        {
          "name": "redis-web",
          "version": "1.0.0",
          "engines": { "node": ">=18", "kafka": "1.0.0" },
          "scripts": { "pg": "pg-start", "test": "jest" },
          "dependencies": {
            "ioredis": "^5.0.0",
            "@nestjs/core": "workspace:*"
          },
          "devDependencies": { "jest": "^29", "vitest": "github:x/y" },
          "peerDependencies": { "react": ">=18" },
          "peerDependenciesMeta": { "react": { "optional": true, "since": "1.0.0" } },
          "overrides": { "mongodb": "6.0.0" },
          "jest": { "dependencies": { "mysql": "1.0.0" } },
          "packageManager": "pnpm@9.0.0"
        }
        """,
        ["ioredis", "@nestjs/core", "jest", "vitest", "react"],
    ),
    "composer.json": (
        """\
        {
          "name": "a/redis",
          "require": {
            "php": "^8",
            "predis/predis": "^2"
          },
          "autoload": { "x/y": "1" }
        }
        """,
        ["php", "predis/predis"],
    ),
    "Cargo.toml": (
        """\
        [package]
        name = "redis-cli"
        version = "0.1.0"
        edition = "2021"

        [features]
        default = ["mongodb"]

        [dependencies]
        tokio = { version = "1", features = ["full"] }
        cache = { package = "redis", version = "0.25" }
        serde.workspace = true

        [dev-dependencies.criterion]
        version = "0.5"

        [target.'cfg(target_os = "linux")'.dependencies]
        openssl = "0.10"

        [profile.release]
        lto = "1"
        """,
        ["tokio", "redis", "serde", "criterion", "openssl"],
    ),
    "go.mod": (
        """\
        module example.com/redis

        go 1.22

        require github.com/gin-gonic/gin v1.9.1

        require (
        \tgithub.com/redis/go-redis/v9 v9.5.1
        \tgolang.org/x/net v0.20.0 // indirect
        \tgorm.io/gorm v1.25.0 // the one
        )

        replace github.com/lib/pq => ../pq

        exclude (
        \tgithub.com/lib/pq v1.0.0
        )
        """,
        ["github.com/gin-gonic/gin", "github.com/redis/go-redis/v9", "gorm.io/gorm"],
    ),
    "pom.xml": (
        """\
        <project>
          <groupId>com.example</groupId>
          <artifactId>redis-app</artifactId>
          <parent>
            <groupId>org.springframework.boot</groupId>
            <artifactId>spring-boot-starter-parent</artifactId>
          </parent>
          <dependencies>
            <dependency>
              <groupId>redis.clients</groupId>
              <artifactId>jedis</artifactId>
              <exclusions>
                <exclusion><groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId></exclusion>
              </exclusions>
            </dependency>
            <dependency><artifactId>gson</artifactId><groupId>com.google.code.gson</groupId></dependency>
          </dependencies>
          <build><plugins><plugin>
            <groupId>org.flywaydb</groupId>
            <artifactId>flyway-maven-plugin</artifactId>
          </plugin></plugins></build>
        </project>
        """,
        [
            "org.springframework.boot:spring-boot-starter-parent",
            "redis.clients:jedis",
            "com.google.code.gson:gson",
        ],
    ),
    "app/build.gradle.kts": (
        """\
        plugins { java }
        plugins {
            id("org.springframework.boot") version "3.2.0"
        }
        dependencies {
            // implementation("org.jooq:jooq:3.19")
            implementation("io.lettuce:lettuce-core:6.3.0")
            testImplementation(platform("org.junit:junit-bom:5.10.0"))
            runtimeOnly group: 'org.postgresql', name: 'postgresql', version: '42.7'
        }
        """,
        [
            "org.springframework.boot",
            "io.lettuce:lettuce-core",
            "org.junit:junit-bom",
            "org.postgresql:postgresql",
        ],
    ),
    "gradle/libs.versions.toml": (
        """\
        [versions]
        jedis = "5.1.0"

        [libraries]
        jedis = { module = "redis.clients:jedis", version.ref = "jedis" }
        kafka = { group = "org.apache.kafka", name = "kafka-clients" }
        """,
        ["redis.clients:jedis", "org.apache.kafka:kafka-clients"],
    ),
    "src/App.csproj": (
        """\
        <Project Sdk="Microsoft.NET.Sdk">
          <ItemGroup>
            <PackageReference Include="StackExchange.Redis" Version="2.7.0" />
            <ProjectReference Include="../Npgsql/Npgsql.csproj" />
          </ItemGroup>
        </Project>
        """,
        ["StackExchange.Redis"],
    ),
    "Gemfile": (
        'source "https://example.invalid"\n# gem "pg"\ngem "sidekiq", "~> 7"\n  gem(\'redis\')\n',
        ["sidekiq", "redis"],
    ),
    "x.gemspec": ('  spec.add_dependency "pg", ">= 1"\n  spec.name = "redis"\n', ["pg"]),
    "docker/Dockerfile.dev": (
        """\
        ARG BASE=node:20
        FROM --platform=linux/amd64 node:20-alpine AS build
        FROM build AS test
        FROM ${BASE}
        FROM scratch
        FROM ghcr.io/acme/tool@sha256:00
        # FROM redis
        """,
        ["node", "ghcr.io/acme/tool"],
    ),
    "docker-compose.prod.yml": (
        """\
        services:
          cache:
            image: "redis:7-alpine"
          db: { build: . }
          queue:
            image: ${QUEUE_IMAGE:-rabbitmq:3}
          app:
            image: ${APP_IMAGE}
          other:
            image:
              name: mongo
          # image: kafka
        """,
        ["redis", "rabbitmq"],
    ),
}


@pytest.mark.parametrize("path", MANIFESTS)
def test_a_new_manifest_adds_its_dependencies_and_nothing_else(path):
    text, expected = MANIFESTS[path]
    found = new_file(path, text)
    assert [each.package for each in found] == expected
    lines = dedent(text).splitlines()
    for each in found:
        assert each.text == lines[each.line - 1].strip()
        assert each.package.rpartition(":")[2] in each.text or path.endswith(".toml")


@pytest.mark.parametrize("path", MANIFESTS)
def test_every_dependency_added_on_its_own_is_found_in_the_whole_file(path):
    text, expected = MANIFESTS[path]
    lines = dedent(text).splitlines()
    for each in new_file(path, text):
        before = "\n".join(line for number, line in enumerate(lines, start=1) if number != each.line)
        found = packages(path, before, dedent(text), context=0, seen=True)
        # A heading may go with its line; what stands under it is then added as well.
        assert each.package in found
        assert set(found) <= set(expected)


@pytest.mark.parametrize("path", MANIFESTS)
def test_a_file_that_is_only_shown_in_part_adds_no_more_than_it_names(path):
    text, expected = MANIFESTS[path]
    lines = dedent(text).splitlines()
    for at in range(len(lines)):
        before = "\n".join(lines[:at] + lines[at + 1 :])
        for context in (0, 3):
            assert set(packages(path, before, dedent(text), context)) <= set(expected) | MISTAKEN


# What no one can tell apart without the lines above: an engine or an override looks like a dependency.
MISTAKEN = {
    *("kafka", "mongodb", "mysql", "since", "x/y", "lto", "memcached", "github.com/lib/pq", "build"),
    *(
        "com.example:redis-app",
        "redis-app",
        "spring-boot-starter-parent",
        "jedis",
        "gson",
        "flyway-maven-plugin",
    ),
}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("requirements.txt", "redis==4.0\n", "redis==5.0\n"),
        ("requirements.txt", "typing_extensions\n", "Typing-Extensions>=4\n"),
        ("requirements.txt", "redis\nflask\n", "flask\nredis\n"),
        (
            "pyproject.toml",
            '[project]\ndependencies = ["redis>=4"]\n',
            '[project]\ndependencies = ["redis>=5"]\n',
        ),
        ("package.json", '{"dependencies": {"pg": "^8.0.0"}}\n', '{"devDependencies": {"pg": "^8.1.0"}}\n'),
        ("Cargo.toml", '[dependencies]\nredis = "0.24"\n', '[dependencies]\nredis = { version = "0.25" }\n'),
        ("go.mod", "require github.com/lib/pq v1.0.0\n", "require github.com/lib/pq v1.2.0\n"),
        ("go.mod", "require x.org/a/v2 v2.0.0\n", "require x.org/a/v3 v3.0.0\n"),
        ("Dockerfile", "FROM redis:6\n", "FROM redis:7\n"),
        ("compose.yaml", "  image: redis:6\n", "  image: docker.io/library/redis:7\n"),
        ("app.py", "import redis\n", "from redis import Redis\n"),
        ("App.java", "import io.lettuce.core.RedisClient;\n", "import io.lettuce.core.api.Commands;\n"),
    ],
)
@pytest.mark.parametrize("context", [0, 3])
def test_what_the_file_named_before_is_no_addition(path, old, new, context):
    assert packages(path, old, new, context) == []
    assert packages(path, old, new, context, seen=True) == []


def test_what_stands_unchanged_elsewhere_in_the_file_is_no_addition():
    old = "import redis\n" + "x = 1\n" * 20
    assert packages("a.py", old, old + "from redis.asyncio import Redis\n", seen=True) == []
    assert packages("a.py", old, old + "from redis.asyncio import Redis\n") == ["redis"]


def test_a_name_that_is_added_twice_in_a_file_is_told_once_where_it_stands_first():
    assert named(new_file("a.py", "import os\nimport redis\nfrom redis import Redis\n")) == [("redis", 2)]


@pytest.mark.parametrize(
    "path",
    [
        "package-lock.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "poetry.lock",
        "Cargo.lock",
        "requirements.lock.txt",
        "node_modules/x/package.json",
        "vendor/x/go.mod",
        "README.md",
        "data.json",
    ],
)
def test_a_lock_file_a_vendored_one_and_any_other_adds_nothing(path):
    text = '{"dependencies": {"redis": "^4.0.0"}}\nredis==4\nimage: redis\nrequire x.org/y v1.0.0\n'
    assert new_file(path, text) == []


# -- what is added to a section that the diff does not show

PACKAGE = """\
{
  "name": "app",
  "version": "1.0.0",
  "scripts": {
    "a": "1.0.0",
    "redis": "2.0.0",
    "z": "1.0.0"
  },
  "config": {
    "pg": "8.0.0"
  },
  "dependencies": {
    "koa": "^2.0.0",
    "mysql2": "^3.0.0",
    "zod": "^3.0.0"
  }
}
"""


@pytest.mark.parametrize("context", [0, 1, 3])
def test_the_whole_file_decides_in_which_section_a_line_stands(context):
    lines = PACKAGE.splitlines()
    gone = [line for line in lines if '"redis"' not in line and '"pg"' not in line and '"mysql2"' not in line]
    diff = patch("package.json", "\n".join(gone), PACKAGE, context)
    assert named(added(diff, lambda _: PACKAGE)) == [("mysql2", 14)]


def test_a_version_or_a_script_is_no_dependency_even_in_a_line_shown_alone():
    lines = PACKAGE.replace('"z": "1.0.0"', '"pg": "pg_ctl start"').splitlines()
    for at, line in enumerate(lines):
        if any(key in line for key in ('"name"', '"version"', "pg_ctl")):
            assert (
                packages("package.json", "\n".join(lines[:at] + lines[at + 1 :]), "\n".join(lines), 0) == []
            )


def test_a_whole_text_that_is_another_than_the_diffs_is_not_believed():
    diff = patch("requirements.txt", "flask\n", "flask\nredis\n")
    assert named(added(diff, lambda _: "something\nelse\n")) == [("redis", 2)]
    assert named(added(diff, lambda _: None)) == [("redis", 2)]


def test_gits_heading_of_a_hunk_tells_the_section():
    diff = '--- a/pyproject.toml\n+++ b/pyproject.toml\n@@ -9,0 +10 @@ dependencies = [\n+  "redis",\n'
    assert named(added(diff)) == [("redis", 10)]
    assert added(diff.replace("dependencies = [", "keywords = [")) == []


@unhurried
@given(
    st.dictionaries(
        st.sampled_from(["dependencies", "devDependencies", "scripts", "engines", "overrides"]),
        st.dictionaries(st.from_regex(r"[a-z]{2,5}", fullmatch=True), st.just("^1.0.0"), max_size=4),
    ),
    st.integers(0, 3),
)
def test_what_json_says_is_what_a_package_file_adds(sections, context):
    text = json.dumps({"name": "x", **sections}, indent=2)
    read = json.loads(text)
    wanted = {name for section in ("dependencies", "devDependencies") for name in read.get(section, {})}
    assert set(packages("package.json", "{\n}\n", text, context, seen=True)) == wanted


names = st.from_regex(r"[a-z]{2,6}", fullmatch=True)


@unhurried
@given(st.lists(names, max_size=4), st.lists(names, max_size=4), st.lists(names, max_size=4), st.booleans())
def test_what_toml_says_is_what_a_pyproject_adds(first, second, others, in_lines):
    gap = "\n" if in_lines else " "

    def array(each):
        return "[" + gap + f",{gap}".join(f'"{name}>=1"' for name in each) + gap + "]"

    text = (
        f"[project]\nkeywords = {array(others)}\ndependencies = {array(first)}\n"
        f"[project.optional-dependencies]\nx = {array(second)}\n[tool.x]\ndependencies = {array(others)}\n"
    )
    project = tomllib.loads(text)["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["x"]]
    assert set(packages("pyproject.toml", "", text)) == {each.removesuffix(">=1") for each in wanted}


# -- code

IMPORTS = {
    "app/cache.py": (
        '''\
        """Code that says

        import celery
        """
        import os, redis.asyncio as r, json
        import sqlite3
        from psycopg.rows import dict_row
        from . import kafka
        from .pika import x
            import boto3  # late
        # import flask
        from google.cloud import storage
        text = "import pymongo"
        ''',
        ["redis", "sqlite3", "psycopg", "boto3", "google.cloud"],
    ),
    "web/a.tsx": (
        """\
        import React, { useState } from 'react'
        import type { Redis } from "ioredis"
        import './style.css'
        import "zone.js/dist"
        import x from '@/lib/pg'
        import fs from 'fs'
        import { DatabaseSync } from 'node:sqlite'
        import path from 'node:path'
        export * from '@nestjs/core/x'
        } from 'kafkajs'
        const m = require('mongoose'), z = await import("zod")
        // import 'mysql'
        const text = "from 'amqplib'"
        """,
        ["react", "ioredis", "zone.js", "node:sqlite", "@nestjs/core", "kafkajs", "mongoose", "zod"],
    ),
    "main.go": (
        """\
        import "fmt"
        import (
        \t"net/http"
        \tr "github.com/redis/go-redis/v9" // cache
        \t_ "github.com/lib/pq"
        )
        var x = []string{
        \t"github.com/gin-gonic/gin",
        }
        """,
        ["github.com/redis/go-redis/v9", "github.com/lib/pq"],
    ),
    "App.kt": (
        """\
        import java.util.List
        import org.apache.kafka.clients.producer.Producer
        import static org.junit.Assert.*;
        """,
        ["org.apache.kafka.clients.producer", "org.junit"],
    ),
    "App.cs": (
        "using StackExchange.Redis;\nusing var x = y;\nusing (var z = q) {}\n",
        ["StackExchange.Redis"],
    ),
    "lib.rs": (
        "use std::fmt;\nuse crate::x;\npub use tokio::net;\nuse redis::{Client};\nextern crate serde;\n",
        ["tokio", "redis", "serde"],
    ),
    "app.rb": ("require 'sidekiq/web'\nrequire_relative 'redis'\n", ["sidekiq"]),
}


@pytest.mark.parametrize("path", IMPORTS)
def test_a_new_import_brings_its_package(path):
    text, expected = IMPORTS[path]
    found = new_file(path, text)
    assert [each.package for each in found] == expected
    assert {each.why for each in found} == {"import"}


# -- the diff itself


def test_only_added_lines_add():
    diff = patch("requirements.txt", "a\nb\nredis\nc\n", "a\nb\nc\n")
    assert added(diff) == []
    assert added(patch("requirements.txt", "redis\n", "")) == []


def test_content_that_looks_like_a_header_is_content():
    new = "++ b/other.py\n@@ -1 +1 @@\ndiff --git\nredis\n"
    diff = patch("requirements.txt", "-- a/x\n", new)
    assert "+++ b/other.py\n" in diff.replace("+++ b/requirements.txt", "")
    assert "--- a/x\n" in diff
    assert named(added(diff)) == [("redis", 4)]


def test_lines_without_an_end_and_windows_line_ends_are_read():
    end = "\\ No newline at end of file\n"
    diff = (
        f"--- a/requirements.txt\n+++ b/requirements.txt\n@@ -1 +1,2 @@\n-flask\n{end}+flask\n+redis\n{end}"
    ).replace("\n", "\r\n")
    assert named(added(diff)) == [("redis", 2)]
    assert named(added(diff, lambda _: "flask\r\nredis")) == [("redis", 2)]


@pytest.mark.parametrize("space", [" ", ""])
def test_an_empty_context_line_may_have_lost_its_space(space):
    diff = f"--- a/requirements.txt\n+++ b/requirements.txt\n@@ -1,2 +1,3 @@\n a\n{space}\n+redis\n"
    assert named(added(diff)) == [("redis", 3)]


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ("--- a/x.py\n+++ b/x.py", "x.py"),
        ("--- i/x.py\n+++ w/x.py", "x.py"),
        ("--- /dev/null\n+++ b/x.py", "x.py"),
        ("--- x.py\n+++ x.py", "x.py"),
        ("--- b/x.py\n+++ b/x.py", "b/x.py"),
        ("--- a/a b/x.py\t\n+++ b/a b/x.py\t", "a b/x.py"),
        ('--- "a/\\354\\272\\220.py"\n+++ "b/\\354\\272\\220.py"', "캐.py"),
        ('--- "a/q\\"\\\\\\tx.py"\n+++ "b/q\\"\\\\\\tx.py"', 'q"\\\tx.py'),
    ],
)
def test_a_path_is_what_the_file_is_called(header, path):
    (found,) = added(f"{header}\n@@ -0,0 +1 @@\n+import redis\n")
    assert found.file == path


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit; git's own settings of the machine are left out."""

    def git(*arguments):
        given = ["-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"]
        environment = {
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "PATH": "/usr/bin:/bin",
        }
        command = ["git", *given, *arguments]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, env=environment).stdout

    git("init", "-q")
    (tmp_path / "kept name.py").write_text("import flask\n" + "x = 1\n" * 30)
    (tmp_path / "requirements.txt").write_text("flask==3\n")
    (tmp_path / "picture.png").write_bytes(bytes(range(256)))
    (tmp_path / "gone.py").write_text("import celery\n")
    git("add", ".")
    git("commit", "-qm", "one")
    return tmp_path, git


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["-U0"],
        ["-M"],
        ["--binary"],
        ["-c", "core.quotePath=false"],
        ["-c", "diff.mnemonicPrefix=true"],
        ["-c", "diff.noprefix=true"],
    ],
    ids=" ".join,
)
def test_what_git_itself_writes_is_read(repository, options):
    folder, git = repository
    (folder / "kept name.py").rename(folder / "캐시 둘.py")
    with (folder / "캐시 둘.py").open("a") as file:
        file.write("import redis\n")
    (folder / "requirements.txt").write_bytes(b"flask==4\r\npymongo")
    (folder / "picture.png").write_bytes(bytes(reversed(range(256))))
    (folder / "gone.py").unlink()
    (folder / "run.sh").write_text("import boto3\n")
    (folder / "run.sh").chmod(0o755)
    git("add", "-A")
    before, after = (options, []) if options[:1] == ["-c"] else ([], options)
    diff = git(*before, "diff", "--cached", "-M", *after).decode()
    for seen in (None, lambda path: (folder / path).read_bytes().decode()):
        found = added(diff, seen)
        assert [(each.file, each.package, each.line) for each in found] == [
            ("requirements.txt", "pymongo", 2),
            ("캐시 둘.py", "redis", 32),
        ]


def test_a_merge_and_a_diff_that_breaks_off_are_no_error():
    merge = "diff --cc requirements.txt\nindex 1,2..3\n--- a/requirements.txt\n+++ b/requirements.txt\n"
    assert added(merge + "@@@ -1,1 -1,1 +1,2 @@@\n  flask\n++redis\n") == []
    whole = patch("requirements.txt", "flask\n", "flask\nredis\n")
    for end in range(len(whole)):
        assert set(named(added(whole[:end]))) <= {("redis", 2), ("red", 2), ("redi", 2), ("re", 2), ("r", 2)}


lines_of_files = st.lists(
    st.sampled_from(
        ["redis", "flask==1", "", "# x", "-- a", "++ b", "@@ -1 +1 @@", "\f", "a\u2028b", "kafka\r"]
    ),
    max_size=12,
)


@unhurried
@given(lines_of_files, lines_of_files, st.integers(0, 3))
def test_reading_a_diff_gives_back_both_files(old, new, context):
    told = list(
        difflib.unified_diff(old, new, "a/requirements.txt", "b/requirements.txt", n=context, lineterm="")
    )
    new = [each.removesuffix("\r") for each in new]
    for change in read_patch("\n".join(told)):
        for stretch in change.after():
            for line in stretch.lines:
                assert new[line.number - 1] == line.text
        (whole,) = change.after("\n".join(new))
        (before,) = change.before("\n".join(new))
        assert [line.text for line in whole.lines] == (new or [""])
        assert [line.text for line in before.lines][: len(old)] == [each.removesuffix("\r") for each in old]
        assert change.added_lines <= set(range(1, len(new) + 1))


HEADER = "diff --git a/{0} b/{0}\n--- a/{0}\n+++ b/{0}\n@@ -1,2 +1,9 @@ {1}\n"
PIECES = (
    r"""+|-| |\|"|'|{|}|[|]|:|,|=|(|#|redis|<dependency>|<artifactId>"""
    "|import |from |require (|dependencies|레"
)
pieces = st.sampled_from(
    [*PIECES.split("|"), "\n", "@@ -1 +1 @@\n", '"""', "\0", "\r", "\ud800", "+++ b/x.py\n"]
)


@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from([*MANIFESTS, *IMPORTS, "x"]), st.lists(pieces, max_size=40).map("".join), st.booleans()
)
def test_any_diff_is_read_without_an_error(path, text, with_whole):
    diff = HEADER.format(path, text.partition("\n")[0]) + text
    for each in added(diff, (lambda _: text) if with_whole else None):
        assert each.line >= 1
        assert each.package
        assert technology_of_package(each.ecosystem, each.package)


@unhurried
@given(st.text())
def test_any_text_is_read_as_a_diff(text):
    assert added(text) == []


@unhurried
@given(st.sampled_from(list(MANIFESTS)), st.lists(st.text(max_size=20), max_size=6), st.booleans())
def test_any_lines_are_read_as_a_manifest(path, texts, from_start):
    lines = tuple(Line(number, text) for number, text in enumerate(texts, start=1 if from_start else 7))
    reader = manifest_reader(path)
    assert reader is not None
    assert {each.line for each in reader(Stretch(lines))} <= {line.number for line in lines}
