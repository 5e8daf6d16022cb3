"""Markdown, web pages and tables."""

from memory.tiers.pages import markdown, read, table, title, web_page
from memory.tiers.shape import Hint

GUIDE = "\n".join(
    f"## Step {number}: install_part_{number}\n\nRun `make part{number}` first. It needs tool_{number}.\n\n"
    + "There is nothing more to say and so it goes on for a while.\n" * 8
    for number in range(12)
)


def test_headings_of_markdown_are_kept() -> None:
    made = markdown("# The guide\n\nWhat it is for.\n\n" + GUIDE, Hint(), 1600)
    assert made is not None
    assert made.startswith("# The guide")
    assert sum(f"## Step {number}" in made for number in range(12)) >= 8
    assert len(made) <= 1600


def test_a_fence_in_markdown_is_no_heading() -> None:
    text = "# One\n\n```sh\n# a comment\n```\n" * 3 + "filler text of the page\n" * 20
    assert markdown(text, Hint(path="a.md"), 300) is not None
    assert title(text) == "One"


def test_a_web_page_is_read_without_its_markup() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>Retry policy</title><style>p { color: red }</style></head><body>"
        "<script>var secret = '<p>no</p>';</script><h2>Back&shy;off &amp; jitter</h2><p>Wait <b>200 ms</b> first.</p>"
        "<ul><li><a href='/docs/limits.html'>Limits</a></li></ul><table><tr><td>code</td><td>429</td></tr></table>"
    )
    text = read(page)
    assert "# Retry policy" in text
    assert "jitter" in text
    assert "Wait 200 ms first." in text
    assert "- Limits (/docs/limits.html)" in text
    assert "| code | 429" in text
    assert "secret" not in text
    assert "color" not in text
    made = web_page(page + "<p>And more of it, as pages have.</p>" * 40, Hint(), 400)
    assert made is not None
    assert "Retry policy" in made
    assert len(made) <= 400


def test_a_broken_page_costs_one_pass() -> None:
    assert read("<script" * 100_000 + "<" * 100_000) is not None


def test_a_table_has_its_header_first_rows_and_count() -> None:
    rows = ["id,name,city,sum", *(f"{number},customer_{number},Berlin,{number * 3}.50" for number in range(200))]
    made = table("\n".join(rows), Hint(), 400)
    assert made is not None
    assert made.startswith("[table of 201 rows]\nid,name,city,sum\n0,customer_0,Berlin,0.50")
    assert table("no, table\nat all\nhere, really, no\nnone", Hint(), 400) is None
