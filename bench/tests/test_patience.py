"""A long step says what it does and how long it has been."""

from __future__ import annotations

import threading

from nsb.measure.patience import patience


def test_a_step_that_takes_long_says_so_until_it_ends() -> None:
    said: list[str] = []
    twice = threading.Event()

    def hear(sentence: str) -> None:
        said.append(sentence)
        if len(said) == 2:
            twice.set()

    with patience(lambda: "go: go build", hear, every_s=0.01):
        assert twice.wait(10)
    count = len(said)
    assert said[0].startswith("go: go build: 0:00 so far")
    assert len(said) == count


def test_a_short_step_says_nothing() -> None:
    said: list[str] = []
    with patience(lambda: "short", said.append):
        pass
    assert said == []
