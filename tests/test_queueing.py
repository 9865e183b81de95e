"""The fair queue before the model (pitfalls C43, C51)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from rag import queueing
from rag.queueing import Turnstile

WAIT_S = 5.0


def eventually(condition: Callable[[], bool]) -> bool:
    until = time.monotonic() + WAIT_S
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    return condition()


class Asker(threading.Thread):
    """Waits for its turn, then holds it until told to go."""

    def __init__(self, turnstile: Turnstile, log: list[str], name: str) -> None:
        super().__init__(daemon=True, name=name)
        self.turnstile, self.log = turnstile, log
        self.places: list[int] = []
        self.cancel, self.go = threading.Event(), threading.Event()
        self.start()

    def run(self) -> None:
        with self.turnstile.enter(self.cancel) as ticket:
            for place in ticket:
                if self.places[-1:] != [place]:
                    self.places.append(place)
            if not ticket.admitted:
                self.log.append(f"{self.name} left")
                return
            self.log.append(f"{self.name} in")
            self.go.wait(WAIT_S)
            self.log.append(f"{self.name} out")


def queue_of(turnstile: Turnstile, log: list[str], names: str) -> list[Asker]:
    """Askers that arrived in this order; the first one has the turn."""
    askers = [Asker(turnstile, log, names[0])]
    assert eventually(lambda: bool(log))
    for name in names[1:]:
        askers.append(Asker(turnstile, log, name))
        assert eventually(lambda: bool(askers[-1].places))
    return askers


def test_an_empty_turnstile_admits_at_once_without_a_place() -> None:
    with Turnstile().enter() as ticket:
        assert list(ticket) == []
        assert ticket.admitted


def test_turns_go_by_order_of_arrival_and_everybody_sees_their_place() -> None:
    log: list[str] = []
    askers = queue_of(Turnstile(), log, "abc")
    for n, asker in enumerate(askers):
        asker.go.set()
        asker.join(WAIT_S)
        if n < 2:
            assert eventually(lambda n=n: log[-1] == f"{'abc'[n + 1]} in")
        if n == 0:  # before the next one goes: the last must have had the time to see it move up
            assert eventually(lambda: askers[2].places == [2, 1])
    assert log == ["a in", "a out", "b in", "b out", "c in", "c out"]
    assert [asker.places for asker in askers] == [[], [1], [2, 1]]


def test_a_cancelled_asker_leaves_and_the_others_move_up() -> None:
    log: list[str] = []
    first, second, third = queue_of(Turnstile(), log, "abc")
    second.cancel.set()
    second.join(WAIT_S)
    assert log == ["a in", "b left"]
    assert eventually(lambda: third.places == [2, 1])
    first.go.set()
    assert eventually(lambda: log[-1] == "c in")
    third.go.set()


def test_cancel_does_not_end_a_turn() -> None:
    cancel = threading.Event()
    with Turnstile().enter(cancel) as ticket:
        cancel.set()
        assert ticket.admitted


def stream(turnstile: Turnstile) -> Iterator[str]:
    """As the assistant uses it: the turn spans the whole stream."""
    with turnstile.enter() as ticket:
        for place in ticket:
            yield f"place {place}"
        yield "first"
        yield "second"


def is_free(turnstile: Turnstile) -> bool:
    with turnstile.enter() as ticket:
        return ticket.admitted


def test_the_turn_is_held_between_two_pieces_and_given_up_on_close() -> None:
    turnstile = Turnstile()
    reader = stream(turnstile)
    assert next(reader) == "first"
    assert not is_free(turnstile)
    reader.close()  # type: ignore[attr-defined]
    assert is_free(turnstile)


def test_a_reader_that_closes_while_it_waits_gives_its_place_up() -> None:
    turnstile = Turnstile()
    holder, waiting = stream(turnstile), stream(turnstile)
    next(holder)
    assert next(waiting) == "place 1"
    waiting.close()  # type: ignore[attr-defined]
    holder.close()  # type: ignore[attr-defined]
    assert is_free(turnstile)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_reader_that_dies_gives_the_turn_up() -> None:
    turnstile = Turnstile()

    def dies() -> None:
        for _ in stream(turnstile):
            raise RuntimeError("the reader dies")

    thread = threading.Thread(target=dies)
    thread.start()
    thread.join(WAIT_S)
    assert is_free(turnstile)


def test_a_failing_holder_gives_the_turn_up() -> None:
    turnstile = Turnstile()
    try:
        with turnstile.enter():
            raise RuntimeError("the model failed")
    except RuntimeError:
        pass
    assert is_free(turnstile)


def test_closing_twice_is_harmless() -> None:
    turnstile = Turnstile()
    ticket = turnstile.enter()
    ticket.close()
    ticket.close()
    assert not ticket.admitted
    assert is_free(turnstile)


def test_a_waiting_reader_gets_control_back_regularly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queueing, "HEARTBEAT_S", 0.05)
    turnstile = Turnstile()
    with turnstile.enter():
        places = iter(turnstile.enter())
        started = time.monotonic()
        assert [next(places), next(places)] == [1, 1]
        assert 0.05 <= time.monotonic() - started < WAIT_S


def test_many_askers_never_overlap() -> None:
    turnstile, inside, most = Turnstile(), 0, 0

    def ask() -> None:
        nonlocal inside, most
        with turnstile.enter() as ticket:
            for _ in ticket:
                pass
            inside += 1
            most = max(most, inside)
            time.sleep(0.001)
            inside -= 1

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert most == 1
    assert is_free(turnstile)
