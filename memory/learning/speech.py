"""One sentence as the rules see it: plain words, what kind of saying it is, and whether it may be believed.

A question asks, a hypothetical supposes, a report says what somebody else said, a greeting says nothing. None of
them states a fact, so the rules are only asked about the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memory.language.sentences import LIMIT, TextBlock, own_words, sentences

MAX_SENTENCE_CHARS = 700
"""Characters of a sentence that are looked at; a longer one is cut there for the rules, not in the fact."""

_CODE_SPAN = re.compile(r"`{1,3}[^`\n]{1,200}`{1,3}")
_URL = re.compile(r"\b(?:https?|ssh|git)://\S{1,400}")
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”")
_SPACES = re.compile(r"\s{2,}")
# What people say before they say it. One unit is taken off at a time, at most eight.
_FILLER = re.compile(
    r"(?:ok(?:ay)?|yeah|yea|yes|yep|yup|ja|hey(?: there)?|hi(?: there)?|hello|hm{1,9}|well|so|also|and|but|or|great|"
    r"thanks?(?: you| for [\w ]{1,40})?|cool|perfect|nice|good(?: point)?|oh|ah|ehh?|umm?|right|sure|alright|"
    r"anyways?|then|btw|fyi|by the way|speaking of which|on (?:a|another)(?: different)? note|as for me|in fact|"
    r"to be (?:honest|fair|clear)|honestly|personally|basically|overall|in general|generally speaking|for me|"
    r"as a side note|side note|one (?:more|other|last) (?:thing|note)|i (?:think|guess|believe|feel like|mean|"
    r"also mean)(?: that)?|imo|imho|just so you know|you know|as you know|as i said|like i said|in my (?:opinion|"
    r"head|experience|case)|thing is|the thing is|that said|having said that|given that|since|because|first(?:ly)?|"
    r"second(?:ly)?|now|q|lol|please|also wondering|sorry|no worries|lass uns|also gut|na gut|gut|naja|übrigens|"
    r"eigentlich|ehrlich gesagt)(?=[\s,.:;!–—-]|$)[\s,.:;!–—-]{0,4}"
)
_ASKS = re.compile(
    r"(?:what|who|whom|whose|which|when|where|why|how|is|are|was|were|am|do|does|did|have|has|had|can|could|would|"
    r"will|should|shall|may|might|isn't|aren't|wasn't|don't (?:we|you|they|i)|doesn't|didn't|can't|couldn't|won't|"
    r"wouldn't|shouldn't|hasn't|haven't|any(?:one|body| ideas?| suggestions?| thoughts)|what's|who's|where's|how's|"
    r"wondering|was|wer|wie|wo|warum|wann|welche[rsnm]?|kannst|könntest|können|soll(?:en|te)?|hast|gibt es)\b"
    r"(?!-)"
)
# "what i want is", "where possible, use", "should be X": these begin like questions and state.
_STATES = re.compile(
    r"(?:what (?:i|we) (?:want|need|mean|meant|prefer|like|dislike|hate)|how (?:i|we) (?:like|want)|"
    r"when(?:ever)? (?:i|you|we|a|an|the|there|in|using|writing|making|it|adding|creating|committing|doing|working|"
    r"testing|running)\b[^?]{3,200}$|where (?:possible|appropriate)|should (?:be|not|have|also|use)\b|will (?:be|"
    r"use|do|have|send|not)\b|(?:have|has) to\b|do not\b|don't\b(?! (?:we|you|they|i)\b)|do (?:it|this|that|the|"
    r"always|use|keep)\b|is (?:now|called|no longer)\b|had\b(?! (?:we|you|they|i|he|she|it|the))|was\b(?! (?:it|"
    r"this|that|there|the|i|he|she))|might be\b|have (?:a|in|the|one|it|them|all|every|no|each)\b)"
)
_TAG_QUESTION = re.compile(
    r"(?:,|\b)\s?(?:right|yeah|yes|no|correct|hey|or|ok(?:ay)?|isn't it|aren't they|don't we|does it not|"
    r"oder|nicht wahr|what do you think|make sense|sounds? good)\s?[?!]{1,4}\s{0,2}$"
)
_SUPPOSES = re.compile(
    r"\b(?:what if|suppose|supposing|assuming|imagine|let's say|let's assume|hypothetically|say you|if (?:i|we|he|"
    r"she|you|they) (?:were|had|was|could|wanted|needed|did)|(?:would|could|might) have been|in theory|pretend|"
    r"roleplay|role-play|angenommen|stell dir vor|for example, if|e\.g\. if)\b|^(?:you are|act as|you're) (?:an?|"
    r"the)\b"
)
_REPORTS = re.compile(
    r"\b(?:he|she|they|someone|somebody|people|user|users|the (?:docs?|comment|readme|article|error|message|reviewer|"
    r"bot|paper|blog|post|author|customer|client)) (?:say|says|said|states?|stated|claims?|claimed|wrote|writes|"
    r"mentions?|suggests?|suggested|asks?|asked|complains?)\b|^(?:according to|quote:)"
)
_ABOUT_AGENT = re.compile(
    r"^(?:as an ai|as a language model|i'm an ai|i am an ai|i cannot (?:access|browse)|i don't have (?:access|"
    r"personal|feelings|the ability)|i'm (?:sorry|happy|glad|here) (?:to|but)|i apologi[sz]e)\b"
)
# Names that only the work has: code, paths, options, numbers of tickets, and words of the trade.
_TECHNICAL = re.compile(
    r"`|\b[a-z][a-z0-9]{1,40}[A-Z]\w{0,40}|\b\w{1,40}_\w{1,40}|(?<!\S)--\w|\b[\w-]{1,40}/[\w./-]{1,80}\.\w|\w\(\)|"
    r"(?<!\w)#\d{1,6}\b|\b\w{1,60}\.(?:go|py|tsx?|js|rs|java|rb|cpp|json|ya?ml|toml|md|sh|sql|css|html|env|lock)\b|"
    r"\b(?:git|github|gitlab|repos?|repository|branch(?:es)?|rebase|merge|pull request|prs?|ci|lint(?:er|ing)?|"
    r"apis?|endpoints?|config|codebase|json|yaml|toml|refactor\w{0,4}|cli|worktrees?|subagents?|frontend|backend|"
    r"compiler|typescript|javascript|python|rust|golang|css|html|sql|docker\w{0,5}|kubernetes|postgres\w{0,5}|"
    r"sqlite|redis|database|schema|npm|pnpm|yarn|regex|stack trace|unit tests?|integration tests?|e2e|test suite|"
    r"changelog|telemetry|metadata|localhost|cron|backfill|dependenc(?:y|ies)|deprecat\w{1,4}|deploy(?:ment|ments|"
    r"ing|ed|s)?|staging|pipeline|command line|env var\w{0,5}|environment variables?|stdout|stderr)\b",
)
# Words of the trade that life has too (a class, a library, a session): two of them make it work.
_MAYBE_TECHNICAL = re.compile(
    r"\b(?:commits?|committed|tests?|build|function|methods?|class|module|settings?|flags?|hooks?|bugs?|code|"
    r"scripts?|queries|query|server|logs?|tokens?|cache|packages?|sessions?|framework|library|migrations?|files?|"
    r"folders?|directory|release|features?|implement\w{0,8}|commands?|arguments?|parser?|plugins?|prompts?|agents?|"
    r"options?|default|version|issue|string|field|object|array|thread|process|client|host|port|error|warning|type|"
    r"types|variable|constant|column|table|index|key|keys|value)\b"
)


@dataclass(frozen=True)
class SpokenSentence:
    """A sentence with what was found out about it. ``position`` counts the sentences of the message from 0; ``work``
    says that the talk around it is about code."""

    text: str
    marker: str = ""
    position: int = 0
    work: bool = False

    @cached_property
    def plain(self) -> str:
        """Lower case, straight apostrophes, code and quotations blanked, openers taken off."""
        text = self.text[:MAX_SENTENCE_CHARS].replace("’", "'")
        text = _CODE_SPAN.sub("`x`", text)
        text = _URL.sub("`x`", text)
        text = _QUOTED.sub('"x"', text)
        plain = _SPACES.sub(" ", text.lower()).lstrip("*_\"'([-–—• ").replace("*", "").strip()
        for _ in range(8):
            filler = _FILLER.match(plain)
            if not filler or filler.end() == len(plain):
                break
            plain = plain[filler.end() :]
        return plain

    @cached_property
    def words(self) -> frozenset[str]:
        """The distinct words of ``plain``, so that a rule without its cue costs nothing."""
        return frozenset(re.findall(r"[^\W_][\w'-]{0,40}", self.plain))

    @cached_property
    def question(self) -> bool:
        """Whether it asks, with or without a question mark; "X, right?" asks too."""
        plain = self.plain
        if plain.endswith("?") or self.text.rstrip(" .!)\"'”’*_").endswith("?") or self.tag_question:
            return True
        return bool(_ASKS.match(plain)) and not _STATES.match(plain)

    @cached_property
    def tag_question(self) -> bool:
        """Whether it states and asks for assent: "X, right?"."""
        return bool(_TAG_QUESTION.search(self.plain))

    @cached_property
    def hypothetical(self) -> bool:
        """Whether it supposes."""
        return bool(_SUPPOSES.search(self.plain))

    @cached_property
    def reported(self) -> bool:
        """Whether it tells what somebody else said, or is mostly a quotation."""
        return bool(_REPORTS.search(self.plain)) or len(_QUOTED.sub("", self.text[:MAX_SENTENCE_CHARS])) < 0.4 * len(
            self.text[:MAX_SENTENCE_CHARS]
        )

    @cached_property
    def technical(self) -> bool:
        """Whether it is about the work at hand rather than about the person's life."""
        if is_technical(self.text):
            return True
        maybe = len(_MAYBE_TECHNICAL.findall(self.plain))
        return maybe > 1 or (self.work and maybe > 0)

    @cached_property
    def about_agent(self) -> bool:
        """Whether an assistant speaks about itself in it."""
        return bool(_ABOUT_AGENT.match(self.plain))

    @property
    def stated(self) -> bool:
        """Whether it states something that a rule may believe."""
        return not (self.question or self.hypothetical or self.reported or self.about_agent)


def is_technical(text: str) -> bool:
    """Whether a text names what only the work has: code, paths, tickets, words of the trade."""
    return bool(_TECHNICAL.search(text[:MAX_SENTENCE_CHARS]) or _TECHNICAL.search(text[:MAX_SENTENCE_CHARS].lower()))


def spoken_in(text: str, *, work: bool = False) -> tuple[SpokenSentence, ...]:
    """The clauses that the speaker of a message wrote, as :func:`clauses` gives them."""
    return _spoken_in(text[:LIMIT], work)


@lru_cache(maxsize=32)  # the same message is looked at for what it states, asks, corrects and accepts
def _spoken_in(text: str, work: bool) -> tuple[SpokenSentence, ...]:
    return tuple(clauses(own_words(text), work=work))


def clauses(blocks: Iterable[TextBlock], most: int = 120, *, work: bool = False) -> list[SpokenSentence]:
    """The clauses of a message's own words, in order, at most ``most``; ``work`` says that the talk is about code."""
    found: list[SpokenSentence] = []
    for block in blocks:
        for place, sentence in enumerate(sentences(block.text)):
            if len(found) >= most:
                return found
            found.append(SpokenSentence(sentence, block.marker if place == 0 else "", len(found), work))
    return found
