"""Which room a call means: by id, by name, or by the place where the caller stands."""

import pytest

from whence.core.errors import InvalidParameter, WorkspaceNotFound
from whence.core.ids import workspace_id
from whence.core.memories import DEFAULT, GLOBAL, Workspace
from whence.features.workspaces import EVERYWHERE, NOWHERE, Place, found_workspace, to_search, to_write

HERE = Place(name="shop", identity="github.com/acme/shop", second_name="acme-shop")
THERE = Place(name="shop", identity="github.com/other/shop", second_name="other-shop")


def names(whence):
    return [each.name for each in whence.store.workspaces()]


def put(whence, **fields):
    """Found a workspace just so, past the rules for places."""
    made = {"id": workspace_id(), "identity": None, "created_at": whence.clock.now(), **fields}
    workspace = Workspace(**made)
    with whence.store.writing() as writing:
        writing.found_workspace(workspace)
    return workspace


def test_a_save_without_a_name_founds_the_workspace_of_its_place_and_finds_it_again(wordless):
    first = to_write(wordless, None, HERE)
    assert (first.name, first.identity) == ("shop", HERE.identity)
    assert to_write(wordless, None, HERE) == first
    assert to_write(wordless, None, Place(name="renamed", identity=HERE.identity)) == first
    assert names(wordless) == ["shop"]


def test_a_save_from_nowhere_goes_to_default(wordless):
    assert to_write(wordless, None, NOWHERE).name == DEFAULT
    assert to_write(wordless, DEFAULT, HERE).name == DEFAULT
    assert names(wordless) == [DEFAULT]


def test_a_search_founds_nothing(wordless):
    assert to_search(wordless, None, HERE) == ()
    assert to_search(wordless, GLOBAL, HERE) == ()
    assert to_search(wordless, DEFAULT, HERE) == ()
    assert names(wordless) == []


def test_a_second_project_of_the_same_name_becomes_owner_name_and_a_third_gets_a_number(wordless):
    first, second = to_write(wordless, None, HERE), to_write(wordless, None, THERE)
    third = to_write(
        wordless, None, Place(name="shop", identity="gitlab.com/other/shop", second_name="OTHER-shop")
    )
    fourth = to_write(wordless, None, Place(name="SHOP", identity="local"))
    assert [each.name for each in (first, second, third, fourth)] == [
        "shop",
        "other-shop",
        "OTHER-shop-2",
        "SHOP-2",
    ]
    assert len({each.id for each in (first, second, third, fourth)}) == 4
    assert to_write(wordless, None, THERE) == second


def test_a_repository_called_global_does_not_become_the_workspace_of_everyone(wordless):
    place = Place(name="Global", identity="github.com/acme/global", second_name="acme-global")
    assert to_write(wordless, None, place).name == "acme-global"
    other = Place(name="default", identity="x")
    assert to_write(wordless, None, other).name == "default-2"
    everyone = to_write(wordless, "GLOBAL", NOWHERE)
    assert (everyone.name, everyone.identity) == (GLOBAL, None)


def test_an_id_is_meant_before_a_name(wordless):
    one = put(wordless, name="one")
    tricky = put(wordless, name=one.id)
    assert to_write(wordless, one.id, NOWHERE) == one
    assert to_write(wordless, tricky.id, NOWHERE) == tricky


@pytest.mark.parametrize("named", ["shop", "SHOP", "sHoP"])
def test_names_are_compared_without_case(wordless, named):
    shop = to_write(wordless, None, HERE)
    assert to_write(wordless, named, NOWHERE) == shop
    assert to_search(wordless, named, NOWHERE) == (shop.id,)
    assert found_workspace(wordless, Place(name=named)) == shop
    assert names(wordless) == ["shop"]


def test_an_unknown_name_is_refused_with_near_ones_for_saves_and_searches_alike(wordless):
    put(wordless, name="billing-service")
    put(wordless, name="Frontend")
    for ask in (to_write, to_search):
        with pytest.raises(WorkspaceNotFound, match=r'^Workspace "biling-servise" not found$') as refused:
            ask(wordless, "biling-servise", HERE)
        assert refused.value.did_you_mean == ("billing-service",)
        assert refused.value.code == "INVALID_PARAMETER"
        assert refused.value.hint
        with pytest.raises(WorkspaceNotFound) as refused:
            ask(wordless, "globl", HERE)
        assert refused.value.did_you_mean[0] == GLOBAL
        with pytest.raises(WorkspaceNotFound) as refused:
            ask(wordless, "FRONTED", HERE)
        assert refused.value.did_you_mean[0] == "Frontend"
        with pytest.raises(WorkspaceNotFound) as refused:
            ask(wordless, "zzzzzz", HERE)
        assert refused.value.did_you_mean == ()
    assert names(wordless) == ["billing-service", "Frontend"]  # a typing mistake founds no second memory


@pytest.mark.parametrize("named", ["", " ", "../etc", "'; DROP TABLE workspaces; --", "\0", "x" * 10_000])
def test_a_strange_name_is_unknown_like_any_other(wordless, named):
    for ask in (to_write, to_search):
        with pytest.raises(WorkspaceNotFound):
            ask(wordless, named, HERE)
    assert names(wordless) == []


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\0b", "\ud800"])
def test_a_place_whose_name_cannot_be_kept_is_refused_and_founds_nothing(wordless, name):
    with pytest.raises(InvalidParameter):
        to_write(wordless, None, Place(name=name))
    assert names(wordless) == []


def test_an_archived_workspace_is_read_by_name_and_refuses_saves(wordless):
    old = put(wordless, name="old", archived_at=5)
    assert to_search(wordless, "OLD", NOWHERE) == (old.id,)
    for named, place in (("old", NOWHERE), (old.id, NOWHERE), (None, Place(name="old"))):
        with pytest.raises(InvalidParameter, match='"old" is archived') as refused:
            to_write(wordless, named, place)
        assert "estore" in refused.value.hint
    assert names(wordless) == ["old"]


def test_a_search_covers_its_own_workspace_and_global_once(wordless):
    here, everyone = to_write(wordless, None, HERE), to_write(wordless, GLOBAL, HERE)
    put(wordless, name="elsewhere")
    assert to_search(wordless, None, HERE) == (here.id, everyone.id)
    assert to_search(wordless, GLOBAL, HERE) == (everyone.id,)
    assert to_search(wordless, None, Place(name=GLOBAL)) == (everyone.id,)
    assert to_search(wordless, None, THERE) == (everyone.id,)
    assert to_search(wordless, EVERYWHERE, HERE) is None


def test_everywhere_is_no_place_to_store_in(wordless):
    with pytest.raises(InvalidParameter, match="stored in one workspace"):
        to_write(wordless, EVERYWHERE, HERE)
    assert names(wordless) == []


def test_everywhere_as_the_chosen_place_is_no_name_to_found_either(wordless):
    with pytest.raises(InvalidParameter):
        to_write(wordless, None, Place(name=EVERYWHERE))
    assert names(wordless) == []
