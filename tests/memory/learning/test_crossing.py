"""What a sub-agent found about code may leave its project, and what is guarded or about people may not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.learning.crossing import LARGEST, may_cross
from memory.learning.research import in_confidence
from memory.research import Research

AT = datetime(2026, 3, 4, tzinfo=UTC)


def research(report: str, question: str = "How are releases cut?", title: str = "Releases") -> Research:
    return Research("r1", "p:acme/loom", "u:acme/ada", question, AT, AT, description=title, reports=(report,))


@pytest.mark.parametrize(
    "report",
    [
        "Releases are cut from `main` by release.yml, with actions/checkout@v4.1 and lodash@4.17.21.",
        "Clone it with git@github.com:acme/loom.git; commits of noreply@github.com are squashed.",
        "The hash has 64 bits: a birthday attack takes 2^32 tries. Logs say 12:00:00 +0200 2026-11-28 10.",
        "- the tokeniser keeps 30_000 words\n- `Parser.next` returns None at the end\n\n```\n+1 line\n```",
        "The session is healthy, its token budget is 4096, and its cache key is the user's id.",
        "The `change` event is fired twice: once by React 18.2.0, and once more when the field is left.",
        "Event was fired late, after the timer had fired at 10:04:59 on 2026-03-04.",
        "Telemetry is disabled by default; `--verbose` enables diagnostics on stderr.",
        "The server listens on ports 8080, 8443 and 5432, and proxies 10.0.12.34:9000 to 127.0.0.1.",
        "A `std::vector<int>` is copied; std::move saves 12.5 % of the time.",
        "Rate limits guard against abuse: 100 requests a minute, then 429 with Retry-After: 30.",
        "The token savings are 41 %, measured over 1,024 runs of 3.5 s.",
        "A follower voted for the candidate of term 7; the leader has a lease of 150-300 ms.",
        "The file is non-binary, its mode is 0644, and its alphabet is 0123456789abcdef.",
        "Dumped at 0x00007f3a: 01 02 03 04 05 06 07 08 ff; the digest is 9f86d081884c7d659a2feaa0c55ad015.",
        "Migration 20260304120000 adds an index; the commit is 011c3488, the id 550e8400-e29b-41d4-a716-446655440000",
        "There is technical debt in billing/retry.py: the orientation of the matrix is prescribed twice.",
        "Version 10.15.7 was released on 04.11.2026, 1.2.0-rc.1 on 2025-09-30; builds cost 40 dollars a month.",
        "Bobbin makes 5 requests a second and gets 200 OK; Kafka was chosen for its log.",
    ],
)
def test_what_is_about_code_may_cross(report: str) -> None:
    assert may_cross(research(report))


@pytest.mark.parametrize(
    "report",
    [
        "The password is hunter2hunter2.",
        "Between us: strictly confidential, the product is sold.",
        "Ask Rosa, she cuts them.",
        "Rosa's birthday is a holiday there.",
        "The contact is rosa.meier@mail.acme.example.",
        "Call +49 170 1234567 before a release.",
        "My name is Rosa and I live in Lisbon.",
        "Anna Schmidt has cancer.",
        "Maria is pregnant",
        "Peter earns 90,000 euros a year.",
        "Peter makes 90k a year.",
        "Peter was fired for drinking.",
        "Anna was recently diagnosed with it.",
        "Anna voted for the Greens.",
        "Anna is severely disabled.",
        "Anna has AIDS.",
        "Call Peter at 0170 1234567.",
        "Call Peter at 01701234567.",
        "Call Peter at (030) 1234-5678, or 0171/1234567.",
        "Reach Anna under 06 12 34 56 78.",
        "Reach Anna under 555-123-4567.",
        "Reach Anna under (555) 123-4567.",
        "Reach Anna under 0049 170 1234567.",
        "Anna, phone: 123 4567",
        "Frau Müller ist schwanger.",
        "Sein Gehalt ist 60.000 Euro",
        "Dr. Weber decides on it.",
        "IBAN DE89370400440532013000",
        "Paid to DE89 3704 0044 0532 0130 00.",
        "x" * LARGEST,
    ],
)
def test_what_is_guarded_or_about_people_or_too_long_may_not(report: str) -> None:
    assert not may_cross(research(report))
    code = "Releases are cut from `main`."
    assert may_cross(research(code))
    assert not may_cross(research(f"{code}\n" * 300 + report)), "however late it stands"
    assert not may_cross(research(code, question=report)) and not may_cross(research(code, title=report))


def test_a_research_that_says_late_what_is_confidential_stays_with_its_person() -> None:
    late = research(f"{'Releases are cut from `main` by a script. ' * 150}Strictly confidential: it is sold.")
    assert in_confidence(late).owner == "u:acme/ada"
    assert in_confidence(research("Releases are cut from `main`.")).owner == "p:acme/loom"
