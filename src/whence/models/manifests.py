"""What the two built-in models are, and what their similarities mean."""

from whence.core.ports import Manifest

# SICK and MSR train: random .77 (2% over .85), outdated/new from .857, same median .95, best F1 .91 (.88 MSR
# alone). Floor: the 0.5 percentile of LoCoMo dev gold is .535; .55 costs no recall@10. Linked: of the links
# that it makes among 320 sentences of evals/data/pairs_dev.jsonl, .91 join a pair (.855 at .85, .963 at .89).
ENGLISH = Manifest(
    id="snowflake-arctic-embed-s-int8",
    dimensions=384,
    max_tokens=512,
    query_prefix="Represent this sentence for searching relevant passages: ",
    weight=3.0,
    unrelated=0.76,
    paraphrase=0.95,
    related=0.85,
    linked=0.86,
    duplicate=0.91,
    question_floor=0.55,
)

# kor_pair and KorSTS train: random .07-.14 (1-3% over .40), outdated/new from .405, same median .73-.78, best
# F1 .535, flat to .58. Floor: .14 costs .0016 of KorQuAD dev recall@10 and drops 87% of random paragraphs.
MULTILINGUAL = Manifest(
    id="use-multilingual-v3-6bit",
    dimensions=512,
    max_tokens=512,
    query_prefix="",
    weight=1.0,
    unrelated=0.10,
    paraphrase=0.75,
    related=0.40,
    linked=0.52,
    duplicate=0.55,
    question_floor=0.14,
)
