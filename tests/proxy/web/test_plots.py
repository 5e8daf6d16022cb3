"""Plots: values to SVG that says in words what it shows, and never a text as markup."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from memory.context.budget import Worth
from memory.ports import ModelTotals
from proxy.api.savings import Row
from proxy.web.plots.balance import balance, daily
from proxy.web.plots.day import DayRequest, timeline
from proxy.web.plots.names import graph
from proxy.web.plots.receipt import receipt
from proxy.web.plots.strength import strength
from proxy.web.plots.svg import element
from proxy.web.plots.window import WindowUse, strip, usage

NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def parsed(plot: str) -> ElementTree.Element:
    """It is well-formed, and has a title."""
    root = ElementTree.fromstring(plot)
    assert root.tag == "svg" and root.attrib["role"] == "img" and root[0].tag == "title" and root[0].text
    assert "style" not in plot and "script" not in plot
    return root


def test_a_curve_has_a_past_and_a_future() -> None:
    times = [NOW - timedelta(days=100) + timedelta(days=10) * step for step in range(47)]
    root = parsed(strength(times, [1 / (step + 1) for step in range(47)], [NOW - timedelta(days=50)], NOW))
    past, future = (each.attrib["d"] for each in root.iter("path") if "line" in each.attrib["class"])
    assert past.count("L") == 10 and future.count("L") == 36
    assert root[0].text == "Strength 1.00 when it was made, 0.09 now, 0.02 in a year; used 1 time"
    assert len(list(root.iter("circle"))) == 1


def test_a_curve_of_what_was_made_this_moment() -> None:
    root = parsed(strength([NOW, NOW], [0.0, 0.0], [], NOW))
    assert root[0].text and root[0].text.endswith("not used yet")


@pytest.mark.parametrize(
    ("tokens", "window", "told", "full"),
    [(50, 100, "50%", False), (90, 100, "90%", True), (300, 100, "100%", True), (5, 0, "0%", False)],
)
def test_a_bar_is_as_long_as_the_window_is_full(tokens: int, window: int, told: str, full: bool) -> None:
    root = parsed(usage(tokens, window))
    assert root[0].text == f"{told} of the window"
    assert ("full" in list(root.iter("rect"))[1].attrib["class"]) is full


def test_a_strip_marks_sheds_rotations_and_recalls() -> None:
    uses = [WindowUse(NOW, 1000 * step, 1000 * step, 8000) for step in range(1, 6)]
    uses += [WindowUse(NOW, 3000, 6000, 8000, "fold"), WindowUse(NOW, 2000, 7000, 8000, "rotate", 2)]
    root = parsed(strip(uses))
    marks = [each.attrib["class"] for each in root.iter("path") if "shed" in each.attrib["class"]]
    assert marks == ["shed fold", "shed rotate"] and len(list(root.iter("circle"))) == 1
    assert root[0].text and "shed 2 times, 1 of them by a new segment" in root[0].text
    assert [each for each in root.iter("line") if each.attrib["class"] == "limit"]


def test_a_strip_has_a_layer_for_each_source_and_tells_them_in_words() -> None:
    first = {"system": 100, "tools": 0, "page": 0, "recall": 0, "results": 300, "talk": 600}
    then = first | {"recall": 50, "results": 0}
    uses = [WindowUse(NOW, 900, 900, 2000)]
    uses += [WindowUse(NOW, sum(each.values()), 1200, 2000, sources=each) for each in (first, then)]
    root = parsed(strip(uses))
    layers = [each for each in root.iter("path") if each.attrib["class"].startswith("source ")]
    assert [each.attrib["class"] for each in layers] == [
        f"source {name}" for name in ("talk", "results", "recall", "system")
    ], "what reaches highest is drawn first, and nothing for what no request had"
    (untold,) = (each for each in root.iter("path") if each.attrib["class"] == "untold")
    assert untold.attrib["d"].endswith("Z") and untold.attrib["d"].count("V") == 3, "900, 1000, 750, and the axis"
    (told,) = root.iter("desc")
    assert told.text == "Of the last request: system 100, tools 0, page 0, recall 50, results 0, talk 600 tokens."
    assert "not told apart" in next(parsed(strip(uses[:1])).iter("desc")).text  # type: ignore[operator]


def test_a_strip_of_one_request_far_below_a_large_window() -> None:
    root = parsed(strip([WindowUse(NOW, 10, 10, 200_000)]))
    assert not [each for each in root.iter("line") if each.attrib["class"] == "limit"], "it would lie far above"


def test_sums_are_bars_to_both_sides() -> None:
    told = ModelTotals("cheap", True, True, 3, 0, 10, 1, 500, 0, 900, 800, 1, 0)
    rows = [
        Row("cheap").plus(told, Worth(0.5, 0.1, 0.0)),
        Row("<b>dear</b>").plus(told, Worth(0.0, 0.1, 0.1)),
        Row("unknown"),
    ]
    root = parsed(balance(rows))
    assert [each.attrib["class"] for each in root.iter("rect")] == ["gain", "loss"]
    assert "<b>dear</b>" in [each.text for each in root.iter("text")], "a name is a text"
    assert (rows[0].requests, rows[0].shorter, rows[0].cached, rows[0].priced) == (3, 500, 800, 3)


def test_each_day_is_a_bar_up_or_down_and_one_without_a_price_is_none() -> None:
    told = ModelTotals("m", True, True, 3, 0, 10, 1, 500, 0, 900, 800, 1, 0)
    rows = [Row("2026-03-02").plus(told, Worth(0.5, 0.1, 0.0)), Row("2026-03-03").plus(told, Worth(0.0, 0.1, 0.1))]
    root = parsed(daily(["2026-03-01", "2026-03-02", "2026-03-03"], [*rows, Row("2026-03-01")]))
    up, down = root.iter("rect")
    assert (up.attrib["class"], down.attrib["class"]) == ("gain", "loss")
    assert float(up.attrib["y"]) + float(up.attrib["height"]) == float(down.attrib["y"]), "both stand on the axis"
    assert root[0].text == "Estimated net sum by day: 2026-03-02: $0.4000; 2026-03-03: -$0.2000"


def test_what_is_put_into_an_element_is_escaped() -> None:
    made = element("text", "<i>&", class_='a"b', x=1.25, none=None)
    assert made == '<text class="a&#34;b" x="1.2">&lt;i&gt;&amp;</text>'


def test_a_day_has_each_request_at_its_time() -> None:
    midnight = NOW.replace(hour=0)
    requests = [
        DayRequest(midnight + timedelta(hours=6), 0, 0),
        DayRequest(midnight + timedelta(hours=9), 300, 2),
        DayRequest(midnight + timedelta(hours=11), 120, 0, shed=True),
    ]
    root = parsed(timeline(requests, midnight, NOW))
    stems = [each.attrib for each in root.iter("line") if each.attrib["class"] == "line"]
    assert [each["x1"] for each in stems] == ["260.5", "309.5"] and float(stems[0]["y2"]) < float(stems[1]["y2"])
    [dot] = root.iter("circle")
    assert dot[0].text == "09:00: 2 memories recalled, 300 tokens added"
    assert root[0].text and root[0].text.startswith("3 requests between 06:00 and 11:00; tokens were added to 2")
    assert len([each for each in root.iter("path") if each.attrib["class"] == "shed"]) == 1


def test_a_day_without_requests_is_a_day() -> None:
    assert parsed(timeline([], NOW.replace(hour=0), NOW))[0].text is not None


def test_a_receipt_has_bars_by_score_divided_by_their_parts() -> None:
    shown = [("We use <b>pnpm</b> & no npm.", 0.8, {"cosine": 0.6, "coverage": 0.2}), ("A", 0.4, {})]
    root = parsed(receipt(shown))
    bars = [float(each.attrib["width"]) for each in root.iter("rect")]
    assert bars[0] == pytest.approx(3 * bars[1]) and bars[0] + bars[1] == pytest.approx(2 * bars[2])
    assert "We use <b>pnpm</b> & no npm." in [each.text for each in root.iter("text")]


def test_a_graph_has_a_hundred_names_at_most_and_each_has_a_place_of_its_own() -> None:
    beside = {f"name {number}": 200 - number for number in range(150)}
    root = parsed(graph("petra <b> & co", beside, [("name 0", "name 1", 3), ("name 0", "name 149", 1)]))
    dots = [(each.attrib["cx"], each.attrib["cy"]) for each in root.iter("circle")]
    assert len(dots) == 100 and len(set(dots)) == 100
    assert len([each for each in root.iter("line") if each.attrib["class"] == "tie"]) == 1
    assert parsed(graph("alone", {}, []))[0].text == "alone stands beside no name"
