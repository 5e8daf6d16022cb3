"""Candidates on the page: shown with what they would write, approved as shown, put in other words, taken back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from proxy.web.review import WEIGHED
from tests.proxy.api.asking import Asking
from tests.proxy.drafts import draft
from tests.proxy.web.browsing import Browser
from tests.proxy.web.contradicting import contradict
from tests.running import Running

TEXT = "Always squash before a merge"


async def put_forward(ask: Asking, text: str = TEXT, project: str = "loom") -> str:
    held = await ask("POST", f"api/remember?project={project}", {"text": text}, status=201)
    told = await ask("POST", f"api/facts/{held['id']}/promote", {"to": "project"}, status=201)
    return str(told["candidate"]["id"])


@dataclass(frozen=True)
class Rules:
    """The file of the project's rules."""

    file: Path

    @property
    def text(self) -> str:
        """What stands in it; nothing where it is not there."""
        return self.file.read_text() if self.file.exists() else ""

    def write(self, text: str) -> None:
        """Somebody else changes it."""
        self.file.write_text(text)


@pytest.fixture
def rules(tmp_path: Path) -> Rules:
    return Rules(tmp_path / "checkout" / "CONVENTIONS.md")


async def test_approved_as_it_was_shown_and_taken_back(ask: Asking, browser: Browser, rules: Rules) -> None:
    id = await put_forward(ask)
    page = await browser.get("review")
    assert TEXT in page.text and 'data-key="a"' in page.raw
    would = await browser.get(f"review/{id}/approve")
    assert f"+- {TEXT}" in would.text and str(rules.file) in would.text and not rules.text
    page = await browser.submit(would, "approve")
    assert f"Approved: {TEXT}" in page.text and f"- {TEXT}" in rules.text
    assert "Nothing waits for you" in page.text
    would = await browser.submit(page, "undo")
    assert "Take this back?" in would.text and f"-- {TEXT}" in would.text and TEXT in rules.text
    page = await browser.submit(would, "undo")
    assert "Taken back" in page.text and TEXT not in rules.text
    assert page.form("defer"), "it waits again"


async def test_in_other_words(ask: Asking, browser: Browser, rules: Rules) -> None:
    id = await put_forward(ask)
    form = await browser.get(f"review/{id}/edit")
    would = await browser.submit(form, "approve", text="Squash before merging")
    assert "+- Squash before merging" in would.text and not rules.text
    await browser.submit(would, "approve")
    assert "- Squash before merging" in rules.text


async def test_only_what_was_shown_is_written(ask: Asking, browser: Browser, rules: Rules) -> None:
    id = await put_forward(ask)
    would = await browser.get(f"review/{id}/approve")
    rules.write("# Mine\n")
    assert "changed" in (await browser.submit(would, "approve", 409)).text
    assert rules.text == "# Mine\n"


async def test_rejected_deferred_and_back(ask: Asking, browser: Browser) -> None:
    id = await put_forward(ask)
    page = await browser.submit(await browser.get(f"review/{id}"), "reject", why="only for now")
    assert "Rejected" in page.text and "only for now" in page.text
    page = await browser.submit(page, "undo")
    assert "Waits again" in page.text
    page = await browser.submit(page, "defer")
    assert "Deferred" in page.text and "Nothing waits" in page.text
    assert (await ask("GET", f"api/candidates/{id}"))["state"] == "deferred"


async def test_a_contradiction_is_settled_by_a_confirmation(ask: Asking, browser: Browser, proxy: Running) -> None:
    await contradict(ask, proxy)
    page = await browser.get("review")
    assert "Contradictions" in page.text and "vault" in page.text and "drawer" in page.text
    assert "1 contradiction" in (await browser.get("")).text
    assert 'data-key="1"' in page.raw and 'data-key="2"' in page.raw
    assert "No candidate waits" in page.text and "Nothing waits" not in page.text
    after = await browser.submit(page, "confirm")
    assert "Confirmed" in after.text and "Review" in after.text and "Contradictions" not in after.text


async def test_of_a_rule_and_its_exception_it_is_told_that_both_may_hold(
    ask: Asking, browser: Browser, proxy: Running
) -> None:
    rule, exception = "The release manager is Priya.", "The docs release manager is Tomas."
    await contradict(ask, proxy, (rule, exception))
    page = await browser.get("review")
    assert "confirming one ends neither" in page.text and "Wrong …" in page.text
    after = await browser.submit(page, "confirm")
    assert rule in after.text and exception in after.text


async def test_only_the_candidates_with_the_most_evidence_are_read(
    ask: Asking, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.web.review.WAITING", 2)
    monkeypatch.setattr("proxy.web.review.DECIDED", 1)
    words = ("squash", "rebase", "sign", "tag", "lint")
    first, second, *_ = [await put_forward(ask, f"Always {word} before a merge") for word in words]
    for id in (first, second):
        await ask("POST", f"api/candidates/{id}/reject", {})
    page = await browser.get("review")
    assert "1 more waits behind these" in page.text
    decided = page.text.partition("Decided")[2]
    assert "rebase" in decided and "squash" not in decided


async def test_both_sides_are_shown_with_what_was_said_and_what_would_end(browser: Browser, proxy: Running) -> None:
    for number, text in enumerate(
        ("We always run the slow tests before a release.", "We never run the slow tests before a release.")
    ):
        await proxy.chat(text, session=f"s{number}")
        await proxy.learned()
    page = await browser.get("review")
    rivals = page.text.partition("Contradictions")[2]
    assert rivals.count("said by you") == 2 and rivals.count("If it holds:") == 2 and rivals.count("ends") == 2
    assert len([link for link in page.links if "/sessions/" in link]) == 2, "where each was said"
    assert page.raw.count('<li class="minus">') == 2


async def test_a_draft_is_shown_with_what_it_would_change(
    ask: Asking, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.web.review.WEIGHED", 2)
    old = await ask("POST", "api/remember?project=loom", {"text": "The loom listens on port 4400"}, status=201)
    records = [draft(old["owner"], "The loom listens on port 5500"), draft(old["owner"], "The porch is green")]
    for record in records:
        await ask("POST", "api/import/records?project=loom", record)
    page = await browser.get("review")
    told = {each["id"]: (await ask("GET", f"api/facts/{each['id']}/confirm"))["changes"] for each in records}
    [(held, other), (alone,)] = told.values()
    assert (held["memory"]["id"], held["becomes"]) == (records[0]["id"], "held") and alone["becomes"] == "held"
    assert (other["memory"]["id"], other["becomes"]) == (old["id"], "contradicted")
    drafts = page.text.partition("Drafts")[2]
    assert (
        "If it holds: · The loom listens on port 4400 stays, and contradicts it" in drafts
        and "nothing else changes" in drafts
    )
    assert {each["id"] for each in (await ask("GET", "api/drafts"))["drafts"]} == set(told), "nothing was changed"


async def test_behind_the_first_drafts_what_they_would_change_stands_on_a_page_of_its_own(
    ask: Asking, browser: Browser
) -> None:
    old = await ask("POST", "api/remember?project=loom", {"text": "The loom listens on port 4400"}, status=201)
    records = [draft(old["owner"], f"The loom listens on port {5500 + number}") for number in range(WEIGHED + 1)]
    for record in records:
        await ask("POST", "api/import/records?project=loom", record)
    page = await browser.get("review")
    assert page.text.count("stays, and contradicts it") == WEIGHED
    [link] = [link for link in page.links if link.endswith("/holds")]
    one = await browser.get(link.removeprefix("/palimpsest/"))
    assert "The loom listens on port 4400 stays, and contradicts it" in one.text
    id = link.split("/")[-2]
    after = await browser.submit(one, f"drafts/{id}/confirm")
    assert "Confirmed" in after.text and "Review" in after.text


async def test_what_holds_no_more_is_not_offered_and_leads_to_what_followed_it(ask: Asking, browser: Browser) -> None:
    ids = [(await ask("POST", "api/remember?project=loom", {"text": "The loom has port 4400"}, status=201))["id"]]
    for text in ("The loom has port 5500", "The loom has port 6600"):
        ids.append((await ask("POST", f"api/facts/{ids[-1]}/update", {"text": text}))["id"])
    page = await browser.get(f"memory/{ids[0]}/holds")
    assert "It holds no more. What followed it: The loom has port 6600" in page.text
    assert f"/palimpsest/memory/{ids[-1]}" in page.links
    assert "nothing else changes" not in page.text and "/confirm" not in page.raw
    await ask("POST", f"api/facts/{ids[-1]}/refute", {})
    alone = await browser.get(f"memory/{ids[-1]}/holds")
    assert "It holds no more, and nothing took its place." in alone.text and "/confirm" not in alone.raw


async def test_nobody_elses_candidate_is_there(ask: Asking, browser: Browser) -> None:
    held = await ask("POST", "api/remember?user=bob&project=loom", {"text": TEXT}, status=201)
    told = await ask("POST", f"api/facts/{held['id']}/promote?user=bob", {"to": "project"}, status=201)
    id = told["candidate"]["id"]
    assert TEXT not in (await browser.get("review")).text
    fields = {"form": (await browser.get("memory")).form("memory").fields["form"]}
    for action in ("approve", "reject", "defer", "undo"):
        await browser.post(f"/palimpsest/review/{id}/{action}", fields, 404)
    for path in ("", "/approve", "/edit", "/undo"):
        await browser.get(f"review/{id}{path}", 404)
