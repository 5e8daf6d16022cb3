"""A deadline that follows what the machine can do."""

from __future__ import annotations

import pytest

from memory.services.deadline import LAST, LEAST, LONGEST, Deadline, ServiceTime, recall_time


def test_until_something_was_measured_there_is_as_much_time_as_there_ever_is() -> None:
    assert ServiceTime(0.05, 0.25).deadline == 0.25


def test_on_a_quiet_machine_the_deadline_is_the_least() -> None:
    times = ServiceTime(0.05, 0.25)
    times.took(0.01)
    assert times.deadline == 0.05


def test_on_a_busy_machine_it_is_twice_the_longest_that_is_seen_there() -> None:
    times = ServiceTime(0.05, 0.25)
    for seconds in (0.01, 0.06, 0.09, 0.02):
        times.took(seconds)
    assert times.deadline == pytest.approx(0.18)


def test_it_comes_down_again_when_the_machine_is_quiet() -> None:
    times = ServiceTime(0.05, 0.25)
    for seconds in (0.2, *[0.01] * LAST):
        times.took(seconds)
    assert times.deadline == 0.05


def test_what_was_given_up_has_twice_the_time_and_never_more_than_the_most() -> None:
    times = ServiceTime(0.05, 0.25)
    times.took(0.001)
    told = []
    for _ in range(4):
        times.took(times.deadline)
        told.append(times.deadline)
    assert told == pytest.approx([0.1, 0.2, 0.25, 0.25])


def test_a_least_above_the_most_stands() -> None:
    assert ServiceTime(10.0, 0.25).deadline == 10.0


@pytest.mark.parametrize(
    ("longest", "waited", "left"),
    [(0.25, 0.0, 0.2), (0.25, 0.1, 0.15), (0.25, 0.24, 0.05), (0.1, 0.0, 0.1), (0.1, 0.03, 0.07), (0.1, 9.0, 0.05)],
)
def test_what_was_waited_in_a_queue_is_taken_off_what_recall_may_take(
    longest: float, waited: float, left: float
) -> None:
    times = ServiceTime(0.05, 0.25)
    times.took(0.1)
    assert recall_time(longest, times, waited) == pytest.approx(left)


@pytest.mark.parametrize(
    ("took", "longest", "waited", "setting"),
    [
        (None, 0.25, 0.0, LONGEST),  # nothing was measured yet
        (0.2, 0.25, 0.0, LONGEST),  # it was seen to take more than it may
        (0.06, 0.1, 0.0, LONGEST),  # of a tool's result
        (0.1, 0.25, 0.1, LONGEST),  # what is left of it after a queue
        (0.1, 0.25, 0.3, LONGEST),  # the queue took all of it
        (0.01, 0.25, 0.0, LEAST),
        (0.05, 0.25, 0.0, LEAST),  # twice what it takes lies between the two: the least raises that too
        (0.1, 0.25, 0.24, LEAST),  # after a queue it has the time that it always has
    ],
)
def test_the_time_is_bounded_by_the_setting_that_has_to_be_raised_for_more(
    took: float | None, longest: float, waited: float, setting: str
) -> None:
    times = ServiceTime(0.05, 0.25)
    if took is not None:
        times.took(took)
    assert recall_time(longest, times, waited).setting == setting


def test_a_least_above_the_most_is_what_bounds() -> None:
    assert recall_time(10.0, ServiceTime(10.0, 0.25), 0.0).setting == LEAST


def test_what_is_left_of_a_bounded_time_is_bounded_by_the_same() -> None:
    left = Deadline(recall_time(0.25, ServiceTime(0.05, 0.25), 0.0)).left
    assert left.setting == LONGEST
    assert not Deadline(1.0).left.setting
