"""Is the list of tools, as clients see it, what it was? UPDATE_GOLDEN=1 writes it anew."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from mcp.client import Client

from whence.config import Settings
from whence.core.errors import InvalidParameter
from whence.features.workspaces import NOWHERE
from whence.server.mcp import Door
from whence.server.opening import Opening
from whence.surfaces.families import FAMILIES, all_tools, chosen, find_tool
from whence.surfaces.tool import flat

GOLDEN = Path(__file__).parent / "golden"


def listed(names, tmp_path, families="all"):
    """Return what tools/list gives to a client of these families."""
    settings = Settings(home=tmp_path, store="sqlite:///:memory:", tools=families, tool_names=names)
    door = Door(settings, Opening(settings, keeps_models=False), NOWHERE)

    async def asking():
        async with Client(door.server) as client:
            return await client.list_tools()

    with start_blocking_portal() as portal:
        told = portal.call(asking)
    return [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in told.tools]


@pytest.mark.promise("001-001", "001-003", "001-004")
@pytest.mark.parametrize("names", ["flat", "slash"])
@pytest.mark.parametrize("family", [each.name for each in FAMILIES])
def test_the_list_is_the_one_that_was_last_agreed_on(family, names, tmp_path):
    golden = GOLDEN / f"{family}_{names}.json"
    told = json.dumps(listed(names, tmp_path, family), indent=2, ensure_ascii=False) + "\n"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(told, encoding="utf-8")
    assert golden.read_text(encoding="utf-8") == told, "if this is meant, run it with UPDATE_GOLDEN=1"


def test_every_golden_file_is_of_a_family_that_exists():
    names = {f"{family.name}_{names}.json" for family in FAMILIES for names in ("flat", "slash")}
    assert {each.name for each in GOLDEN.iterdir()} == names


def test_all_families_together_list_every_tool_once_in_the_families_order(tmp_path):
    told = [each["name"] for each in listed("flat", tmp_path)]
    assert told == list(dict.fromkeys(flat(tool.name) for family in FAMILIES for tool in family.tools))


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: flat(tool.name))
def test_a_tool_is_found_by_every_spelling_of_its_name_and_by_no_other(tool):
    for separator in "/._":
        assert find_tool(re.sub("[/._]", separator, tool.name)) is tool
    assert find_tool(tool.name.upper()) is None
    assert find_tool(f"{tool.name} ") is None


def test_a_listed_name_is_one_that_every_client_takes_and_no_two_are_alike():
    names = [flat(tool.name) for tool in all_tools()]
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,39}", each) for each in names)
    assert len(set(names)) == len(names)


def test_families_are_chosen_by_name_once_each_and_an_unknown_one_is_refused():
    assert (
        chosen("facts")
        == chosen(" facts , facts ")
        == tuple(each for each in FAMILIES if each.name == "facts")
    )
    assert chosen("all") == FAMILIES
    for wrong in ("fact", "", " , ", "facts,nonsense"):
        with pytest.raises(InvalidParameter) as refused:
            chosen(wrong)
        assert "facts" in refused.value.hint
