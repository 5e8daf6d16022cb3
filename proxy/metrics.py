"""What is counted at the edge, for ``/palimpsest/metrics``. No label ever holds a name that a person chose."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

REQUESTS = Counter("palimpsest_requests_total", "Requests to a model", ["dialect", "kind", "status"])
PASSED = Counter("palimpsest_passed_total", "Requests that were passed through unread", ["method"])
ADDED_BYTES = Counter("palimpsest_added_bytes_total", "Bytes added to requests")
SHED_BYTES = Counter("palimpsest_shed_bytes_total", "Bytes by which requests were made shorter")
RECALLED = Counter("palimpsest_recalled_total", "Memories added to requests")
INVALID = Counter("palimpsest_invalid_total", "Edits not sent because they would have broken the dialect's rules")
OVERFLOWS = Counter("palimpsest_overflows_total", "Requests that were refused for their length", ["answer"])
HISTORIES_ASKED_FOR = Counter(
    "palimpsest_histories_asked_for_total", "Frames answered by asking for the whole history, to shorten it"
)
HIDDEN_ROUNDS = Counter("palimpsest_hidden_rounds_total", "Rounds of replies in which the model asked memory")
CUT = Counter("palimpsest_cut_total", "Replies that ended without their terminator")
LATE_COMMITS = Counter("palimpsest_late_commits_total", "Replies let go before the journal had them")
CROWDED = Counter("palimpsest_crowded_total", "Connections that came when there were too many")
LIMITED = Counter("palimpsest_limited_total", "Requests refused because their caller had asked for too much", ["what"])
LATE_HEADS = Counter("palimpsest_late_heads_total", "Connections closed because the head of a request never came")
LOOP_FAULTS = Counter("palimpsest_loop_faults_total", "What the event loop reported", ["kind"])
PREPARE_SECONDS = Histogram(
    "palimpsest_prepare_seconds",
    "Time from a request's last byte to its sending",
    buckets=(0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5),
)
