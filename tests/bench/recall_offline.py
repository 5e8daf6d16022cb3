"""How well page and recall do on the evaluation's development half, without a proxy: seconds instead of minutes.

    EVAL_HOME=DIR python -m tests.bench.recall_offline [--tokens 600] [--page 400] [--candidates 40] [--users 8]
                                                       [--embedder NAME] [--told 60]
                                                       [--seeking X --ordering Y --cosine W …]

Every session is learned from exchange by exchange as the worker does it (reconciling left out), every question is
asked of the same functions that the server calls, and the harness's own measures are applied to the text that would
be added. The index is a matrix in memory; there is no deadline. With the flags one weight or floor can be changed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from memory.context.diversity import DIVERSITY
from memory.context.lexical import FLOOR
from memory.context.pack import tokens_of
from memory.context.rank import WEIGHTS
from memory.models.embedder_choice import load
from memory.ports import Embedder
from tests.bench.offline_store import BEGAN, Rules, Store, Turn, copied, play

TOPICS = 20
"""Preferences of one of PrefEval's people: one of each topic."""


def mean(values: Iterable[float]) -> float:
    """The mean, 0 of nothing."""
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


class Bench:
    """The sets of the evaluation."""

    def __init__(self, home: Path, embedder: Embedder) -> None:
        sys.path.insert(0, str(home / "harness"))
        self.lib: Any = importlib.import_module("lib")
        self.driver: Any = importlib.import_module("run_memory")
        self.data = home / "data"
        self.embedder = embedder

    def load(self, name: str) -> list[Any]:
        """A set of the development half."""
        return list(self.lib.load(str(self.data / name)))

    def conversations(self, name: str) -> Iterator[tuple[Any, Store]]:
        """The conversations of a memory set, each with what was learned from it."""
        for conversation in self.load(f"membench/dev/{name}.jsonl.gz"):
            store, at = Store(self.embedder), BEGAN
            for session in conversation["sessions"]:
                requests = self.driver.session_requests(conversation, session, "ab", "system")
                at = play(store, requests, session["id"], at)
            yield conversation, store

    def locomo(self, rules: Rules) -> None:
        """Evidence found, by category; then false recall of the first probes, on the same stores."""
        found: dict[str, list[float]] = defaultdict(list)
        sizes: list[int] = []
        stores: list[Store] = []
        for conversation, store in self.conversations("locomo"):
            stores.append(store)
            for question in conversation["questions"]:
                units = self.driver.evidence_units(conversation, question)
                if not units or question["category"] == "adversarial":
                    continue
                text = "".join(store.added(question["question"], rules))
                hay = self.lib.Hay(text)
                hit = mean(float(hay.hit(exact, 2) or hay.hit(exact + soft, 0.7)) for _, exact, soft in units)
                found[question["category"]].append(hit)
                sizes.append(tokens_of(text))
        everything = mean(hit for hits in found.values() for hit in hits)
        print(f"locomo ev_soft {everything:.3f} at {mean(sizes):.0f} tokens", end="  ")
        print("  ".join(f"{name} {mean(hits):.3f}" for name, hits in sorted(found.items())))
        self.false_recall(stores[:3], rules)

    def false_recall(self, stores: Sequence[Store], rules: Rules) -> None:
        """How often an unrelated message recalls something; each probe is learned from, too."""
        turns = [x["messages"][-1]["content"] for x in self.load("extract/coding_labelled_set.dev.jsonl.gz") if x["label"] == "N"]  # fmt: skip  # noqa: E501
        probes = [text for text in turns if 4 <= len(text.split()) <= 200]
        shares = []
        for part in (probes[:60], probes[60:120]):
            bad = 0
            for store in stores:
                copy = copied(store)
                for number, text in enumerate(part):
                    bad += bool(copy.recall(text, rules, rules.tokens, frozenset()))
                    copy.learn([{"role": "user", "content": text}], "OK.", f"probe {number}", BEGAN, [0])
            shares.append(bad / (len(part) * len(stores)))
        print(f"false recall, first 60 probes {shares[0]:.3f}, next 60 {shares[1]:.3f}")

    def bfcl(self, rules: Rules) -> None:
        """Answers found."""
        hits, sizes = [], []
        for conversation, store in self.conversations("bfcl_memory"):
            for question in conversation["questions"]:
                text = "".join(store.added(question["question"], rules))
                hits.append(float(any(self.lib.Hay(text).exact(answer) for answer in question["answers"])))
                sizes.append(tokens_of(text))
        print(f"bfcl ans_exact {mean(hits):.3f} at {mean(sizes):.0f} tokens")

    def preferences(self, form: str, rules: Rules, users: int, topics: int = TOPICS) -> None:
        """Stated preferences found by questions that share few words with them. With more than :data:`TOPICS` told of
        one person, what several of the set's people told is theirs."""
        by_topic: dict[str, list[Any]] = defaultdict(list)
        for item in self.load("membench/dev/prefeval.jsonl.gz"):
            by_topic[item["topic"]].append(item)
        distractors = [each["messages"] for each in self.load("transcripts/dev/tau-bench.jsonl.gz")]
        chance = random.Random(3)
        hits, alone, sizes = [], [], []
        people = [list(each)[:TOPICS] for each in zip(*by_topic.values(), strict=False)]
        of_one = topics // TOPICS
        for first in range(0, len(people) - of_one + 1, of_one)[:users]:
            items = [item for each in people[first : first + of_one] for item in each]
            sessions = [self._stated(item, form)[0] for item in items]
            for messages in chance.sample(distractors, 12):
                sessions.insert(chance.randrange(len(sessions) + 1), _plain(messages)[:12])
            store, at = Store(self.embedder), BEGAN
            for place, talk in enumerate(sessions):
                requests = [(talk[:n], talk[n]) for n in range(1, len(talk), 2) if talk[n]["role"] == "assistant"]
                at = play(store, requests, f"s{place}", at)
            for item in items:
                gold = self._stated(item, form)[1]
                framed, recalled = store.added(item["question"], rules)
                hits.append(float(self.lib.Hay(framed + recalled).hit(gold, 0.7)))
                alone.append(float(self.lib.Hay(framed).hit(gold, 0.7)))
                sizes.append(tokens_of(framed + recalled))
        shares = f"hit {mean(hits):.3f} (page alone {mean(alone):.3f})"
        print(f"prefeval {form}, {topics} told: {shares} at {mean(sizes):.0f} tokens")

    def _stated(self, item: Any, form: str) -> tuple[list[Turn], list[str]]:
        """The conversation in which a preference shows, and what counts as found."""
        if form == "explicit":
            return [_turn("user", item["preference"]), _turn("assistant", "Understood.")], [item["preference"]]
        if form == "choice":
            talk = item["choice_conversation"]
            return talk, [talk[2]["content"], item["preference"]]
        talk = item["persona_conversation"]
        key = set(self.lib.content(item["persona_preference"]))
        said = [s for turn in talk if turn["role"] == "user" for s in self.lib.sentences(turn["content"])]
        return talk, [max(said, key=lambda s: len(key & set(self.lib.content(s)))), item["preference"]]


def _turn(role: str, text: str) -> Turn:
    return {"role": role, "content": text}


def _plain(messages: Sequence[Any]) -> list[Turn]:
    """The human and assistant turns of a transcript, taking turns."""
    talk: list[Turn] = []
    for each in messages:
        text = each.get("content")
        fits = each["role"] == ("assistant" if talk and talk[-1]["role"] == "user" else "user")
        if isinstance(text, str) and text.strip() and fits:
            talk.append(_turn(each["role"], text))
    return talk


def main() -> None:
    """Read the flags and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="static", help="static, or minilm, which is fetched to ~/.palimpsest")
    parser.add_argument("--told", type=int, default=TOPICS, help="preferences that a simulated user of PrefEval tells")
    parser.add_argument("--users", type=int, default=8, help="simulated users of PrefEval")
    for name in ("tokens", "page", "candidates"):
        parser.add_argument(f"--{name}", type=int, default=getattr(Rules(), name))
    groups: dict[str, Any] = {"weights": WEIGHTS, "floor": FLOOR, "diversity": DIVERSITY}
    for defaults in groups.values():
        for each in fields(defaults):
            parser.add_argument(f"--{each.name}", type=float, default=getattr(defaults, each.name))
    flags = vars(parser.parse_args())
    rules = Rules(
        flags["tokens"],
        flags["page"],
        flags["candidates"],
        **{
            name: replace(
                defaults, **{f.name: type(getattr(defaults, f.name))(flags[f.name]) for f in fields(defaults)}
            )
            for name, defaults in groups.items()
        },
    )
    home = os.environ.get("EVAL_HOME")
    if not home:
        sys.exit("set EVAL_HOME to the folder that holds the evaluation's harness and data")
    models = Path(os.environ.get("PALIMPSEST_HOME", Path.home() / ".palimpsest")) / "models"
    bench = Bench(Path(home), load(flags["embedder"], models))
    bench.locomo(rules)
    bench.bfcl(rules)
    for form in ("explicit", "choice", "persona"):
        bench.preferences(form, rules, flags["users"], flags["told"])


if __name__ == "__main__":
    main()
