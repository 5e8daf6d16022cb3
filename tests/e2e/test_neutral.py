"""A recording has nothing of the machine, the day and the run, and all that a proxy goes by."""

from __future__ import annotations

from datetime import date

from tests.e2e.neutral import CUT, Neutral, prose

TODAY = date(2027, 3, 4)
RUN = "/builds/x.y/.e2e/runs/codex-recorded"


def _neutral() -> Neutral:
    return Neutral({f"{RUN}/one": "/srv/gate", RUN: "/srv", "6.18.44-vm": "6.1.0"}, TODAY)


def test_paths_go_also_where_a_client_made_a_name_of_one() -> None:
    told = _neutral().text(
        f"cwd {RUN}/one/a.py, notes in -builds-x-y--e2e-runs-codex-recorded-one/memory on 6.18.44-vm"
    )
    assert told == "cwd /srv/gate/a.py, notes in -srv-gate/memory on 6.1.0"


def test_the_day_goes_in_every_form_and_other_days_stay() -> None:
    told = _neutral().text(
        "2027-03-04, Thursday, March 4, 2027, 3/4/2027, Thu 2027-03-04, anthropic-version 2023-06-01"
    )
    assert told == "2026-11-20, Friday, November 20, 2026, 11/20/2026, Fri 2026-11-20, anthropic-version 2023-06-01"


def test_an_id_is_the_same_wherever_it_stands_and_another_is_another() -> None:
    one, other = "67d63ba5-4357-4fcd-8d44-db2813ff4d69", "01a21cf2-7a55-73a1-80fb-29281ceda4be"
    neutral = _neutral()
    first, again, second = (neutral.text(f"msg_{each}") for each in (one, one, other))
    assert first == again != second and one not in first and len(first) == len(f"msg_{one}")


def test_moments_stay_apart() -> None:
    neutral = _neutral()
    told = [neutral.text(f"[2027-03-04 {at} UTC]") for at in ("12:14", "12:14", "12:15")]
    assert told[0] == told[1] != told[2] and "12:1" not in "".join(told)


def test_of_prose_stays_how_its_lines_begin_and_every_tag() -> None:
    line = " ".join(f"word{number}" for number in range(30))
    told = prose(f"<reminder>\n{line}\n{line}</reminder>\nfield | {line}")
    assert told.split("\n")[1].endswith(f"word11 {CUT}") and told.split("\n")[2].endswith(f"{CUT}</reminder>")
    assert told.split("\n")[3] == f"field | {line}"


def test_of_a_long_text_the_lines_stay_that_name_a_place() -> None:
    told = prose(
        "\n".join([*("a line" for _ in range(50)), "cwd: /srv/gate", "</env>", *("a line" for _ in range(50))])
    )
    assert "cwd: /srv/gate\n</env>" in told and len(told.split("\n")) < 30


def test_what_was_said_is_never_cut_and_the_shape_stays() -> None:
    said = " ".join(f"said{number}" for number in range(40))
    body = {"messages": [{"role": "user", "content": said}], "tools": [{"name": "read", "description": said}], "n": 1e3}
    told = _neutral().body(body, ("said0",))
    assert told == {**body, "tools": [{"name": "read", "description": CUT}]} and list(told) == list(body)
