import random

import pytest

from eval.compare import changed_conditions, compare, gate, mcnemar, verdict
from eval.folder import Scored
from eval.metrics import Share
from eval.runs import ALL, GOLD_REMOVED
from rag.errors import InputError


def scored(number: int, right: bool, **more: float) -> Scored:
    """An answered, answerable question."""
    figures = {"right": Share(right, 1), "over": Share(0, 1)} | {k: Share(v, 1) for k, v in more.items()}
    return Scored(
        f"q{number}", "lookup" if number % 2 else "numeric", f"Question {number}?", "answered", figures
    )


def absent(number: int, refused: bool, kind: str = "absent_far") -> Scored:
    status = "not_found" if refused else "answered"
    return Scored(f"a{number}", kind, f"Absent {number}?", status, {"refok": Share(refused, 1)})


def run(right: int, of: int = 100, refused: int = 20) -> list[Scored]:
    """The first `right` of some questions right, and the first `refused` of 20 unanswerable ones refused."""
    return [scored(i, i < right) for i in range(of)] + [absent(i, i < refused) for i in range(20)]


def test_mcnemar_is_a_fair_coin_over_the_questions_that_flipped() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(0, 5) == pytest.approx(0.0625)  # 2 x (1/2)^5
    assert mcnemar(1, 7) == pytest.approx(0.0703125)  # 2 x (1 + 8) / 2^8
    assert mcnemar(7, 1) == mcnemar(1, 7)


def test_a_clear_gain() -> None:
    found = compare(run(50), run(65))
    one = found.find(ALL, "right")
    assert one is not None and (one.a, one.b, one.interval.n) == (0.5, 0.65, 100)
    assert one.interval.value == pytest.approx(0.15)
    # normal, paired: sqrt((15 - 15^2 / 100) / 100^2) = 0.0357, times 1.96 = 0.07
    assert one.interval.low == pytest.approx(0.08, abs=0.02) and one.interval.high == pytest.approx(
        0.22, abs=0.02
    )
    assert one.p == pytest.approx(2 / 2**15)  # 15 flipped, all one way
    assert one.beyond_noise() and one.is_better
    assert (found.common, found.left_out, len(found.flips)) == (120, 0, 15)


def test_the_verdict_names_gains_losses_and_what_is_unchanged() -> None:
    assert verdict(compare(run(50), run(65))) == (
        "B is better on right answers by 8 to 22 points; no difference beyond noise in "
        "refusals of unanswerable questions and refusals of answerable questions."
    )
    mixed = verdict(compare(run(50, refused=20), run(65, refused=8)))
    assert (
        "better on right answers by" in mixed and "; worse on refusals of unanswerable questions by" in mixed
    )
    assert verdict(compare(run(50), run(50))).startswith("No difference beyond noise in right answers, ")
    assert verdict(compare(run(65), run(50))).startswith("B is worse on right answers by ")
    assert "no figure" in verdict(compare([scored(1, True)], [Scored("q1", "lookup", "?", "", {})]))


def test_more_wrong_refusals_are_worse() -> None:
    before = [scored(i, True) for i in range(60)]
    after = [scored(i, i >= 20, over=i < 20) for i in range(60)]
    one = compare(before, after).find(ALL, "over")
    assert one is not None and one.b == pytest.approx(1 / 3)  # 20 of 60
    assert one.beyond_noise() and not one.is_better
    assert "worse on right answers by" in verdict(compare(before, after))


def test_kinds_are_compared_by_themselves_and_copies_apart() -> None:
    a = [*run(50), *(absent(100 + i, True, GOLD_REMOVED) for i in range(30))]
    b = [*run(50), *(absent(100 + i, i < 10, GOLD_REMOVED) for i in range(30))]
    found = compare(a, b)
    kinds = list(dict.fromkeys(d.kind for d in found.differences))
    assert kinds == ["numeric", "lookup", "absent_far", ALL, GOLD_REMOVED]
    removed, marked = found.find(GOLD_REMOVED, "refok"), found.find(ALL, "refok")
    assert removed is not None and removed.b == pytest.approx(1 / 3) and removed.beyond_noise()
    assert marked is not None and marked.interval.n == 20 and not marked.beyond_noise()


def test_flipped_questions_say_what_became_of_them() -> None:
    a = [scored(1, True), scored(2, False), absent(1, True), absent(2, False)]
    lost = Scored("q1", "lookup", "Question 1?", "not_found", {"right": Share(0, 1), "over": Share(1, 1)})
    b = [
        lost,
        scored(2, True),
        absent(1, False),
        Scored("a2", "absent_far", "?", "error", {"refok": Share(0, 1)}),
    ]
    flips = [(f.id, f.improved, f.a, f.b) for f in compare(a, b).flips]
    assert flips == [
        ("q1", False, "right", "refused"),
        ("q2", True, "wrong", "right"),
        ("a1", False, "refused", "answered"),
    ]
    failed = Scored("q2", "numeric", "?", "error", {"right": Share(0, 1)})
    assert compare([scored(2, True)], [failed]).flips[0].b == "error"


def test_only_common_questions_count() -> None:
    found = compare(run(50), [scored(i, True) for i in range(10)] + [scored(500, True)])
    assert (found.common, found.left_out) == (10, 111)  # 110 more in A, 1 more in B
    with pytest.raises(InputError, match="no question in common"):
        compare([scored(1, True)], [scored(2, True)])


# --- the gate ---


def test_equal_runs_and_better_runs_pass() -> None:
    assert gate(run(50), run(50)) == []
    assert gate(run(50), run(90)) == []


def test_a_drop_within_noise_passes() -> None:
    assert gate(run(50), run(46)) == []  # 4 flipped: a coin does that once in eight times


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (run(30), "right answers: 50.0 before, 30.0 now"),
        (run(50, refused=6), "refusals of unanswerable questions: 100.0 before, 30.0 now"),
    ],
)
def test_a_drop_beyond_noise_stops(after: list[Scored], said: str) -> None:
    (drop,) = gate(run(50), after)
    assert drop.startswith(said) and drop.endswith(" points worse)")


def test_refusing_everything_does_not_pass_as_careful() -> None:
    before = [scored(i, True) for i in range(40)] + [absent(i, False) for i in range(20)]
    after = [scored(i, False, over=1) for i in range(40)] + [absent(i, True) for i in range(20)]
    assert [drop.split(":")[0] for drop in gate(before, after)] == [
        "right answers",
        "refusals of answerable questions",
    ]


def test_worse_citations_stop() -> None:
    before = [scored(i, True, ingold=1) for i in range(80)]
    after = [scored(i, True, ingold=0.5 if i < 40 else 1) for i in range(80)]
    (drop,) = gate(before, after)
    assert drop.startswith("citations of gold papers: 100.0 before, 75.0 now")  # (40 x 0.5 + 40) / 80


def test_worse_retrieval_stops() -> None:
    def row(i: int, ndcg: float) -> Scored:
        return Scored(f"q{i}", "query", "?", "", {"fused nDCG@10": Share(ndcg, 1)})

    rng = random.Random(3)
    before = [row(i, rng.uniform(0.5, 0.9)) for i in range(50)]
    after = [row(i, one.figures["fused nDCG@10"].hits - 0.05) for i, one in enumerate(before)]
    assert [drop.split(":")[0] for drop in gate(before, after)] == ["nDCG@10 of retrieval"]
    assert gate(after, before) == []


def test_noise_seldom_stops_the_gate() -> None:
    def noisy(rng: random.Random) -> list[Scored]:
        answerable = [scored(i, rng.random() < 0.6, ingold=rng.random(), exact=1) for i in range(60)]
        return answerable + [absent(i, rng.random() < 0.7) for i in range(20)]

    rng = random.Random(11)
    stopped = sum(bool(gate(noisy(rng), noisy(rng))) for _ in range(60))
    assert stopped <= 6  # at most 5 % of 60 are due, 3; more than 6 would have a chance of 3 %


# --- what the runs were made with ---


def test_conditions_that_differ_are_named() -> None:
    a = {"fingerprint": {"llm": "small", "papers": 4}, "code": "c1", "started": "1", "machine": {"cores": 2}}
    b = {"fingerprint": {"llm": "large", "papers": 4}, "code": "c1", "started": "2", "machine": {"cores": 4}}
    assert changed_conditions(a, b) == ["fingerprint.llm: small → large", "machine.cores: 2 → 4"]
    assert changed_conditions(a, a | {"started": "9"}) == []
