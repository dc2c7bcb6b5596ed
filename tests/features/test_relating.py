"""Is a relationship word understood where it can be, and kept as it was written wherever it cannot?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from whence.core.links import examples
from whence.core.memories import Draft, Tie
from whence.core.ports import Manifest
from whence.features.relating import link_type_of
from whence.features.workspaces import Place, found_workspace
from whence.models.manifests import ENGLISH, MULTILINGUAL

if TYPE_CHECKING:
    from whence.core.ports import Vector


@dataclass
class WordModel:
    """A model that knows some words: which example each is like, and how much."""

    likeness: dict[str, tuple[int, float]]  # a word -> the number of the example, the likeness
    manifest: Manifest
    asked: list[str] = field(default_factory=list)

    def embed_passage(self, text: str) -> Vector:
        self.asked.append(text)
        known = [word.replace("_", " ") for word in examples()]
        vector = np.zeros(len(known) + 1, np.float32)
        number, share = self.likeness.get(text, (known.index(text) if text in known else len(known), 1.0))
        vector[number] = share
        vector[-1] += np.sqrt(1 - share**2)
        return vector

    embed_query = embed_passage

    def passages(self, text: str) -> list[str]:
        return [text]

    def count_tokens(self, text: str) -> int:
        return len(text.split())


@pytest.fixture
def model(request):
    """A model that separates words from .75 on."""
    known = [word.replace("_", " ") for word in examples()]
    likeness = {
        "carries out": (known.index("executes"), 0.8),
        "takes the place of": (known.index("replaces"), 0.75),
        "is fond of": (known.index("implements"), 0.74),
    }
    return WordModel(likeness, replace(ENGLISH, id=request.node.name, relates=0.75))


@pytest.mark.promise("000-062", "000-102")
@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("refines", "evolution"),
        ("replaces", "evolution"),
        ("implements", "implementation"),
        ("outcome_of", "implementation"),
        ("motivated_by", "association"),
        ("depends_on", "association"),
        ("follows", "temporal"),
        ("Builds on", "evolution"),
        ("BUILDS-ON", "evolution"),
    ],
)
def test_a_word_of_the_table_has_its_type_with_or_without_a_model(word, kind, model):
    assert link_type_of(word) == link_type_of(word, model) == kind
    assert model.asked == []


@pytest.mark.promise("000-062", "000-102")
def test_a_synonym_has_the_type_of_its_nearest_example_from_the_models_threshold_on(model):
    assert link_type_of("carries_out", model) == "implementation"
    assert link_type_of("takes the place of", model) == "evolution"


@pytest.mark.promise("000-063", "000-102")
def test_a_word_that_is_near_to_none_is_an_association(model):
    assert link_type_of("is_fond_of", model) == "association"
    assert link_type_of("frobnicates", model) == "association"
    assert link_type_of("frobnicates") == "association"


def test_a_model_reads_the_examples_once(model):
    link_type_of("carries_out", model)
    first = len(model.asked)
    assert first == len(examples()) + 1
    link_type_of("frobnicates", model)
    assert len(model.asked) == first + 1


@pytest.mark.promise("000-062")
def test_the_models_that_come_with_it_cannot_tell_and_are_not_asked(models):
    assert ENGLISH.relates is MULTILINGUAL.relates is None
    for each in (models.latin, models.multilingual):
        assert link_type_of("carries_out", each) == "association"


@pytest.mark.promise("000-063", "000-064", "000-102")
@pytest.mark.parametrize("word", ["Motivated By", "frobnicates", "carries out", "근거가 된다"])
def test_the_callers_word_is_kept_as_it_was_written(wordless, word):
    place = found_workspace(wordless, Place(name="project")).id
    old, new = (wordless.remember(Draft(content="a plain fact"), workspace=place).memory for _ in range(2))
    link = wordless.link(new.id, Tie(to_id=old.id, relationship=word))
    stored = wordless.store.graph().links(new.id)
    assert [each.metadata["original_relationship"] for each in (link, *stored)] == [word, word]
    assert link.link_type == "association"
