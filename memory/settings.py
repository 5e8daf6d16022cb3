"""Memory's settings: every key, its default and its bounds. ``config/default.yaml`` says the same in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Final, Literal, Self

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from memory.fact import FactKind
from memory.session import Mode


class Section(BaseModel):
    """A group of settings: unknown keys are errors, values do not change.

    What checks values is built for the whole at once, when settings are read: a group that is another one's default is
    therefore made without being checked.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


Share = Annotated[float, Field(ge=0, le=1)]
NumberKind = Literal["cards", "ibans", "national_ids"]


def _word_of_switch(value: Any) -> Any:
    """YAML 1.1 reads a bare ``on`` or ``off`` as a boolean; here they are words."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else value


Switch = Annotated[Mode, BeforeValidator(_word_of_switch)]


def below_folder(value: str) -> str:
    """The name of a file or a folder inside another one.

    Raises:
        ValueError: when it leads out of it.
    """
    path = PurePosixPath(value)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\\" in value or "\0" in value:
        raise ValueError("is no name of something inside the project's folder")
    return str(path)


class ProjectFolder(Section):
    """Where what is approved for a project is written: a folder of this machine, and files inside it."""

    folder: Path | None = None
    conventions: Annotated[str, AfterValidator(below_folder)] = "CONVENTIONS.md"
    skills: tuple[Annotated[str, AfterValidator(below_folder)], ...] = (".claude/skills", ".agents/skills")

    @field_validator("folder")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        if value is None:
            return None
        value = value.expanduser()
        if not value.is_absolute():
            raise ValueError("is no absolute path, as /home/ada/boat or ~/boat")
        return value


class RecallSettings(Section):
    """What is added from memory to the newest message."""

    enabled: bool = True
    tokens: int = Field(600, ge=0, le=100_000)
    segment_share: Share = 0.02
    deadline_ms: int = Field(50, ge=1, le=60_000)
    longest_ms: int = Field(250, ge=1, le=60_000)
    candidates: int = Field(40, ge=1, le=1000)
    points_at_hand: int = Field(400_000, ge=0, le=100_000_000)


class PageSettings(Section):
    """MEMORY.md, which is added to the first human message."""

    enabled: bool = True
    tokens: int = Field(500, ge=0, le=100_000)
    filled_tokens: int = Field(200, ge=0, le=100_000)
    device: str | None = Field(None, max_length=40)


class SkillSettings(Section):
    """Which habits are put forward to a person as skills."""

    sessions: int = Field(5, ge=2, le=10_000)
    times: int = Field(8, ge=2, le=100_000)


class LearningSettings(Section):
    """What is taken from a finished exchange."""

    enabled: bool = True
    assistant: bool = True
    behaviour: bool = True
    skills: SkillSettings = SkillSettings.model_construct()


class JournalSettings(Section):
    """The append-only record in SQLite."""

    synchronous: Literal["normal", "full"] = "normal"
    hold_ms: int = Field(50, ge=0, le=10_000)
    min_free_mib: int = Field(256, ge=0)
    keep_days: int | None = Field(None, ge=1, le=100_000)


class PostgresqlSettings(Section):
    """A PostgreSQL database in place of the journal's file."""

    url: str | None = Field(None, repr=False)
    direct_url: str | None = Field(None, repr=False)
    replicas: bool = False
    unresponsive_ms: int = Field(750, ge=50, le=60_000)


class QdrantSettings(Section):
    """A Qdrant server in place of the embedded index."""

    url: str | None = None
    api_key: str | None = Field(None, repr=False)
    replication: int = Field(1, ge=1, le=16)


class CacheLifetimes(Section):
    """Seconds without a request after which a provider's prompt cache counts as gone."""

    anthropic: int = Field(300, ge=0, le=604_800)
    openai: int = Field(600, ge=0, le=604_800)
    other: int = Field(600, ge=0, le=604_800)


class SheddingSettings(Section):
    """When the older parts of a long session give way to shorter tiers. Shares are of the usable window."""

    enabled: bool = True
    trim: Share = 0.60
    fold: Share = 0.75
    rotate: Share = 0.85
    target: Share = 0.45
    reserve: int = Field(4000, ge=0, le=1_000_000)
    paging_tokens: int = Field(300, ge=0, le=100_000)
    cache_ttl: CacheLifetimes = CacheLifetimes.model_construct()

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        steps = {"target": self.target, "trim": self.trim, "fold": self.fold, "rotate": self.rotate}
        for (lower, low), (higher, high) in pairwise(steps.items()):
            if low >= high:
                raise ValueError(
                    f"{lower} ({low:g}) must be below {higher} ({high:g}): target < trim < fold < rotate, "
                    "so that each step sheds more than the one before and ends well below where it began"
                )
        return self


class ToolsSettings(Section):
    """Memory's tools in the conversation."""

    offer: bool = False
    tokens: int = Field(1500, ge=100, le=100_000)
    rounds: int = Field(8, ge=1, le=64)


class ResearchSettings(Section):
    """What sub-agents found out, and when it is used again."""

    enabled: bool = True
    tokens: int = Field(3000, ge=0, le=200_000)
    likeness: Share = 0.65
    unsure: Literal["whole", "line", "nothing"] = "whole"
    answer: Share | None = None
    days: int = Field(180, ge=1, le=36_500)
    deadline_ms: int = Field(150, ge=1, le=60_000)
    folders: tuple[str, ...] = ()


class CheckoutSettings(Section):
    """What is learnt in a checkout knows its branch and what it cites. ``folders``: only checkouts below one of these
    are looked at; all of the person's own where there are none. ``conventions``: its own files teach what they say of
    how it is worked on. ``wait_ms``: how long a request has for marking what it shows."""

    enabled: bool = True
    conventions: bool = True
    wait_ms: float = Field(2.0, ge=0, le=60_000)
    folders: tuple[str, ...] = ()


class GistSettings(Section):
    """What a night takes together as knowledge."""

    alike: Share = 0.72
    facts: int = Field(3, ge=2, le=1000)
    sessions: int = Field(2, ge=1, le=1000)
    corrections: int = Field(2, ge=2, le=1000)
    projects: int = Field(2, ge=2, le=1000)


class CandidateSettings(Section):
    """What a night puts forward to a person."""

    facts: int = Field(5, ge=2, le=10_000)
    sessions: int = Field(3, ge=1, le=10_000)
    again: float = Field(2.0, ge=1, le=1000)


class NightSettings(Section):
    """When memory is consolidated, and how."""

    enabled: bool = True
    schedule: str = "30 3 * * *"
    buffer: int = Field(5000, ge=100, le=10_000_000)
    floor: Share = 0.02
    draft_days: int = Field(30, ge=0, le=100_000)
    summaries: bool = True
    preview_days: int = Field(180, ge=0, le=100_000)
    courtesies: bool = True
    gist: GistSettings = GistSettings.model_construct()
    candidates: CandidateSettings = CandidateSettings.model_construct()

    @field_validator("schedule")
    @classmethod
    def _is_cron(cls, text: str) -> str:
        try:
            CronSim(text, datetime(2000, 1, 1))
        except CronSimError as error:
            raise ValueError(
                f"{error}: a cron expression has five fields, minute, hour, day, month, weekday, as in '30 3 * * *'"
            ) from None
        return text


class ModelSettings(Section):
    """A model that does some of the background work better than rules do. ``name`` is litellm's."""

    name: str | None = Field(None, pattern=r"^[\w.-]+/\S+$")
    url: str | None = Field(None, pattern=r"^https?://\S+$")
    key_from: str | None = Field(None, pattern=r"^[A-Za-z_]\w*$")
    daily_tokens: int = Field(200_000, ge=0, le=1_000_000_000)
    gist: bool = True
    curation: bool = True
    overviews: bool = False


class MeasureSettings(Section):
    """How memory is measured on a person's own work."""

    holdout: float = Field(0.0, ge=0, le=0.5)


REQUESTS: Final = "requests_a_day"
RECALL_TOKENS: Final = "recall_tokens_a_day"
"""The quotas of a day, by their settings' names."""


class Quota(Section):
    """How many memories may be learnt, how many requests sent and how many tokens recalled in a day; None for any
    number, of one person for what holds for each."""

    memories: int | None = Field(None, ge=1)
    requests_a_day: int | None = Field(None, ge=1)
    recall_tokens_a_day: int | None = Field(None, ge=1)


class QuotaSettings(Quota):
    """The quotas of an organisation, of each of its people, and of some of them by their names."""

    memories_per_user: int | None = Field(None, ge=1)
    requests_a_day_per_user: int | None = Field(None, ge=1)
    recall_tokens_a_day_per_user: int | None = Field(None, ge=1)
    users: Mapping[str, Quota] = Field(default_factory=dict)


PASSAGE: Final = "passage"
"""What a passage is called where memories are told apart by their kind."""


def memory_kind(value: str) -> str:
    """A kind of memories.

    Raises:
        ValueError: when there is none of that name.
    """
    if value != PASSAGE and value not in set(FactKind):
        raise ValueError(f"is no kind of memories: {', '.join((PASSAGE, *FactKind))}")
    return value


MemoryKind = Annotated[str, AfterValidator(memory_kind)]


class KeepingSettings(Section):
    """After how many days a person's exchanges leave the journal, and memories are deleted, or those of a kind; None
    for what stands above it: the organisation's, then ``memory.journal.keep_days``, then for ever."""

    keep_days: int | None = Field(None, ge=1, le=100_000)
    keep_memories_days: int | None = Field(None, ge=1, le=100_000)
    keep_kinds_days: Mapping[MemoryKind, Annotated[int, Field(ge=1, le=100_000)]] = Field(default_factory=dict)


class PolicySettings(KeepingSettings):
    """What an organisation decides for its people. ``upstreams``: None for any. ``share_research``: whether what
    sub-agents found in a project is offered in its other projects, all but the ``private_projects``."""

    personal: bool = True
    restricted: bool = True
    redact: tuple[NumberKind, ...] = ()
    upstreams: tuple[Annotated[str, Field(pattern=r"^(?:https?://[^\s?#@]+|[\w.-]+/[^\s/]\S*)$")], ...] | None = None
    share_research: bool = False
    private_projects: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = ()
    users: Mapping[str, KeepingSettings] = Field(default_factory=dict)


class MemorySettings(Section):
    """Everything that memory can be told."""

    mode: Switch = Mode.ON
    embedder: str = "static"
    default_window: int = Field(200_000, ge=1000)
    windows: Mapping[str, Annotated[int, Field(ge=1000)]] = Field(default_factory=dict)
    redact: tuple[NumberKind, ...] = ()
    recall: RecallSettings = RecallSettings.model_construct()
    page: PageSettings = PageSettings.model_construct()
    learning: LearningSettings = LearningSettings.model_construct()
    shedding: SheddingSettings = SheddingSettings.model_construct()
    tools: ToolsSettings = ToolsSettings.model_construct()
    research: ResearchSettings = ResearchSettings.model_construct()
    checkouts: CheckoutSettings = CheckoutSettings.model_construct()
    night: NightSettings = NightSettings.model_construct()
    model: ModelSettings = ModelSettings.model_construct()
    quotas: Mapping[str, QuotaSettings] = Field(default_factory=dict)
    policies: Mapping[str, PolicySettings] = Field(default_factory=dict)
    measure: MeasureSettings = MeasureSettings.model_construct()
    journal: JournalSettings = JournalSettings.model_construct()
    postgresql: PostgresqlSettings = PostgresqlSettings.model_construct()
    qdrant: QdrantSettings = QdrantSettings.model_construct()

    @model_validator(mode="after")
    def _replicas_can_share(self) -> Self:
        """What replicas cannot do correctly is refused."""
        if not self.postgresql.replicas:
            return self
        if self.postgresql.url is None:
            raise ValueError("postgresql.replicas needs postgresql.url: replicas share that database")
        if self.tools.offer:
            raise ValueError("postgresql.replicas and tools.offer: what a reply hides is known to one replica only")
        return self
