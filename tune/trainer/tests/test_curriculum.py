"""The curriculum gives every task its turn, and rest to those that teach nothing."""

from __future__ import annotations

from homeground_tune.policy.session import Session, Turn
from homeground_tune.rollouts.curriculum import Curriculum

TASKS = ["a", "b", "c", "d"]


def test_every_task_has_its_turn_in_an_order_that_the_seed_fixes():
    first, second, other = (Curriculum(TASKS, seed=seed, per_step=2, rests=True) for seed in (1, 1, 2))
    taken = [first.next() for _ in range(4)]
    assert [sorted(taken[0] + taken[1]), sorted(taken[2] + taken[3])] == [TASKS, TASKS]
    assert [second.next() for _ in range(4)] == taken
    assert [other.next() for _ in range(4)] != taken


def test_a_task_whose_rollouts_were_alike_rests_longer_each_time_and_comes_back():
    curriculum = Curriculum(TASKS, seed=0, per_step=1, rests=True)
    turns: list[int] = []
    for turn in range(60):
        (task,) = curriculum.next()
        if task == "a":
            turns.append(turn)
        curriculum.note(task, [1.0, 1.0, None] if task == "a" else [1.0, 0.0])
    gaps = [later - sooner for sooner, later in zip(turns, turns[1:], strict=False)]
    assert len(turns) >= 4 and gaps[0] < gaps[1] < gaps[2]
    assert curriculum.pass_rates == {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.5}


def test_one_that_differs_again_is_played_again_and_no_score_says_nothing():
    curriculum = Curriculum(["a"], seed=0, per_step=1, rests=True)
    curriculum.note("a", [0.0, 0.0])
    curriculum.note("a", [None, None, 1.0])
    assert curriculum.alike == {"a": 1}
    curriculum.note("a", [0.0, 1.0])
    assert curriculum.alike == {"a": 0}
    assert curriculum.next() == ["a"], "nothing else is there to play"


def test_it_goes_on_where_it_was_saved(tmp_path):
    curriculum = Curriculum(TASKS, seed=5, per_step=3, rests=True)
    for _ in range(3):
        for task in curriculum.next():
            curriculum.note(task, [0.0, 0.0])
    curriculum.save(tmp_path / "curriculum.json")
    restored = Curriculum(TASKS, seed=5, per_step=3, rests=True)
    restored.load(tmp_path / "curriculum.json")
    assert [restored.next() for _ in range(5)] == [curriculum.next() for _ in range(5)]


def test_turns_of_a_sub_agent_in_between_leave_the_main_conversation_whole():
    session = Session()
    for prompt, completion in ([1, 2], [3]), ([9], [8]), ([1, 2, 3, 4], [5]), ([9, 8, 7], [6]):
        session.take(Turn(prompt, completion, [0.0] * len(completion)), 1)
    assert [(row.ids, row.mask) for row in session.rows()] == [([1, 2, 3, 4, 5], [1, 0, 1]), ([9, 8, 7, 6], [1, 0, 1])]
