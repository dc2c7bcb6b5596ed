"""Is a technology known by every name that engineers give it, and by no other word?"""

import tomllib
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whence.features.alignment.technologies import (
    identity,
    is_known,
    key_of,
    mentions,
    names_in,
    names_of,
    phrases_in,
    technology_of_package,
)

unhurried = settings(deadline=None)  # the first example also reads the tables

TABLE = tomllib.loads(
    files("whence.features.alignment").joinpath("technologies.toml").read_text(encoding="utf-8")
)
GROUPS = [[name.strip() for name in row.split(",")] for rows in TABLE["names"].values() for row in rows]
NAMES = [name for group in GROUPS for name in group]
words = st.text(alphabet="abz19.-_/+# \n'\"@레디스를É", max_size=30)


def test_the_table_knows_the_technologies_that_engineers_name():
    assert len(GROUPS) > 500
    assert {"postgresql", "react", "kubernetes", "github actions"} < {group[0].casefold() for group in GROUPS}


def test_a_name_belongs_to_one_technology():
    keys = [key for group in GROUPS for key in {key_of(name) for name in group}]
    assert len(keys) == len(set(keys)), sorted(key for key in set(keys) if keys.count(key) > 1)


def test_what_packages_bring_and_what_is_an_ordinary_word_has_a_name():
    brought = {technology for packages in TABLE["packages"].values() for technology in packages}
    assert not {name for name in brought if not is_known(name)}
    assert not {
        word for word in TABLE["ordinary"].replace("\n", " ").split(", ") if not is_known(word.strip(", "))
    }


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_every_name_of_a_technology_leads_to_all_of_them(group):
    for name in group:
        assert names_of(name)[0] == name.casefold()
        assert set(names_of(name)) == {each.casefold() for each in group}
        assert identity(name) == identity(group[0])
        assert mentions(name, group[0])
        assert mentions(group[0].upper(), name)
        assert mentions(f"({name})", group[0])


@pytest.mark.parametrize(
    ("typed", "other"),
    [
        ("postgres", "postgresql"),
        ("js", "javascript"),
        ("TS", "typescript"),
        ("K8s", "kubernetes"),
        ("py", "python"),
        ("golang", "go"),
        ("mongo", "mongodb"),
        ("NodeJS", "node.js"),
        ("node js", "node"),
        ("react.js", "react"),
        ("nextjs", "next.js"),
        ("vuejs", "vue"),
        ("tf", "terraform"),
        ("gha", "github actions"),
        ("github-actions", "gha"),
        ("es", "elasticsearch"),
        ("mq", "rabbitmq"),
        ("레디스", "redis"),
    ],
)
def test_a_name_in_any_spelling_counts_as_the_other(typed, other):
    assert other in names_of(typed)
    assert identity(typed) == identity(other)


def test_an_unknown_name_stands_for_itself():
    assert names_of("  Left  Pad ") == ("left pad",)
    assert not is_known("left pad")
    assert identity("left-pad") == identity("Left Pad")


@pytest.mark.parametrize(
    ("text", "technology"),
    [
        ("We use Redis.", "redis"),
        ("Memcached/Redis", "Redis"),
        ("Redis-backed sessions", "Redis"),
        ("Redis7 on the edge", "redis"),
        ("Redis를 쓴다", "Redis"),
        ("캐시는 레디스로 한다", "Redis"),
        ("깃허브 액션을 쓴다", "GitHub Actions"),
        ("Use GitHub Actions for CI", "gha"),
        ("the k8s cluster", "Kubernetes"),
        ("PostgreSQL 16", "postgres"),
        ("Write it in Go", "golang"),
        ("Go services", "Go"),
        ("go, rust or zig", "Go"),
        ("written in go", "Go"),
        ("C", "C"),
        ("C extension modules", "C"),
        ("C/C++ core", "C"),
        ("C/C++ core", "C++"),
        ("C++17 and later", "C++"),
        ("C# on .NET 8", "C#"),
        ("C# on .NET 8", "dotnet"),
        ("Node.js services", "node"),
        ("Vue3 front end", "vue.js"),
        ("ASP.NET Core", "asp.net"),
        ("HTTP/2 everywhere", "http2"),
        ("Exceptions everywhere", "exceptions everywhere"),
        ("styled components", "styled-components"),
        ("a microservice for mail", "microservices"),
        ("the left-pad package", "left pad"),
    ],
)
def test_a_whole_name_is_a_mention(text, technology):
    assert mentions(text, technology)


@pytest.mark.parametrize(
    ("text", "technology"),
    [
        ("Google Cloud", "Go"),
        ("MongoDB", "Go"),
        ("Go with Redis", "Go"),
        ("let it go", "Go"),
        ("an ordinary flask of water", "Flask"),
        ("React Native app", "React"),
        ("Spring Boot", "Spring"),
        ("GitHub Actions", "GitHub"),
        ("PostgreSQL", "SQL"),
        ("SQL Server", "SQL"),
        ("JavaScript", "Java"),
        ("자바스크립트", "Java"),
        ("Java", "JavaScript"),
        ("C++", "C"),
        ("C#", "C"),
        ("Objective-C", "C"),
        ("ASP.NET", ".NET"),
        ("example.net", ".NET"),
        ("redis-py", "Redis"),
        ("go-redis", "Redis"),
        ("redis_cache", "Redis"),
        ("ioredis", "Redis"),
        ("rediscover", "Redis"),
        ("ES6 modules", "Elasticsearch"),
        ("preact", "React"),
        ("a three node cluster", "Node.js"),
        ("left. pad", "left pad"),
        ("", "Redis"),
        ("Redis", ""),
    ],
)
def test_a_part_of_another_name_is_no_mention(text, technology):
    assert not mentions(text, technology)


@unhurried
@given(words, words)
def test_any_text_can_be_asked_for_any_name(text, technology):
    assert isinstance(mentions(text, technology), bool)
    assert names_in(text) <= {identity(name) for name in NAMES}
    assert all(isinstance(key, str) for key in phrases_in(text))


@unhurried
@given(
    st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){0,2}", fullmatch=True), st.sampled_from([", ", ". ", " (", "\n"])
)
def test_a_name_that_stands_alone_is_a_mention_wherever_it_stands(name, gap):
    assert mentions(name, name)
    assert mentions(f"one{gap}{name}{gap}two", name)


@unhurried
@given(st.sampled_from(NAMES), st.from_regex(r"[a-z]{3,6}", fullmatch=True))
def test_a_name_inside_of_a_longer_word_is_no_mention(name, rest):
    glued = f"{rest}{name}" if name[0].isascii() and name[0].isalnum() else rest
    if not is_known(glued) and " " not in name:
        assert identity(name) not in names_in(glued)


@pytest.mark.parametrize(
    ("ecosystem", "package", "technology"),
    [
        ("pypi", "psycopg", "postgresql"),
        ("pypi", "psycopg2_binary", "postgresql"),
        ("pypi", "asyncpg", "postgresql"),
        ("pypi", "PyMongo", "mongodb"),
        ("pypi", "Django", "django"),
        ("pypi", "django-redis", "redis"),
        ("pypi", "kafka-python", "kafka"),
        ("pypi", "boto3", "aws"),
        ("pypi", "google.cloud.storage", "gcp"),
        ("pypi", "sqlite3", "sqlite"),
        ("npm", "pg", "postgresql"),
        ("npm", "ioredis", "redis"),
        ("npm", "mongoose", "mongodb"),
        ("npm", "@nestjs/core", "nestjs"),
        ("npm", "@angular/core", "angular"),
        ("npm", "react-dom", "react"),
        ("npm", "react-native", "react native"),
        ("npm", "@aws-sdk/client-s3", "aws"),
        ("npm", "@prisma/client", "prisma"),
        ("npm", "@sentry/node", "sentry"),
        ("npm", "node:sqlite", "sqlite"),
        ("cargo", "tokio", "tokio"),
        ("cargo", "tokio_postgres", "postgresql"),
        ("go", "github.com/gin-gonic/gin", "gin"),
        ("go", "github.com/redis/go-redis/v9", "redis"),
        ("go", "github.com/lib/pq", "postgresql"),
        ("maven", "org.springframework.boot:spring-boot-starter-web", "spring boot"),
        ("maven", "org.springframework.boot:spring-boot-starter-data-redis", "redis"),
        ("maven", "org.apache.kafka.clients.producer", "kafka"),
        ("nuget", "StackExchange.Redis", "redis"),
        ("nuget", "Npgsql.EntityFrameworkCore.PostgreSQL", "entity framework"),
        ("rubygems", "pg", "postgresql"),
        ("composer", "laravel/framework", "laravel"),
        ("docker", "redis:7-alpine", "redis"),
        ("docker", "docker.io/library/postgres:16@sha256:00", "postgresql"),
        ("docker", "localhost:5000/bitnami/redis", "redis"),
        ("docker", "golang", "go"),
    ],
)
def test_a_package_brings_its_technology(ecosystem, package, technology):
    assert technology in technology_of_package(ecosystem, package)


@pytest.mark.parametrize(
    ("ecosystem", "package", "technology"),
    [
        ("npm", "@sentry/node", "node"),
        ("npm", "@types/node", "node"),
        ("npm", "preact", "react"),
        ("pypi", "kafka-python", "python"),
        ("go", "github.com/json-iterator/go", "go"),
        ("pypi", "springboard", "spring"),
    ],
)
def test_a_package_brings_nothing_that_its_name_only_touches(ecosystem, package, technology):
    assert identity(technology) not in map(identity, technology_of_package(ecosystem, package))


@unhurried
@given(st.sampled_from(list(TABLE["packages"])), st.text(max_size=20))
def test_any_package_brings_at_most_names(ecosystem, package):
    assert all(technology_of_package(ecosystem, package))
