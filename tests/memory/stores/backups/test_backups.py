"""A journal before an upgrade, after a downgrade, and damaged."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.ports import Lesson
from memory.stores.backups import upgrading
from memory.stores.backups.backup import NoBackup, backups_in, read_list
from memory.stores.backups.restoring import put_back
from memory.stores.backups.salvaging import NothingLeft, salvage
from memory.stores.backups.upgrading import MAX_UPGRADE_BACKUPS, UPGRADE, faults_of
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.journal import SqliteJournal
from memory.stores.migrations import MIGRATIONS, migrate
from tests.memory.stores.derived_facts import assistant, exchange, fact, redact, user

PAGE = 4096


def at_step(path: Path, steps: int) -> None:
    """A journal as a version with so many migrations left it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        migrate(connection, MIGRATIONS[:steps])


async def filled(home: Path, exchanges: int = 300) -> Path:
    """A journal with exchanges and what they taught, closed."""
    journal = SqliteJournal(home / "journal.db", redact)
    for number in range(exchanges):
        messages = [user(f"Question {number}: {os.urandom(400).hex()}")]
        await journal.commit(exchange(f"e{number}", [*messages, assistant("Well."), user(f"And {number}?")]))
        await journal.learn(Lesson(number + 1, (fact(f"fact {number}", source=messages[0].digest),)))
    await journal.close()
    return home / "journal.db"


async def test_before_a_migration_the_journal_is_kept_as_it_was(tmp_path: Path) -> None:
    at_step(tmp_path / "journal.db", len(MIGRATIONS) - 1)
    await SqliteJournal(tmp_path / "journal.db", redact).close()
    [(folder, told)] = backups_in(tmp_path / "backups")
    assert (told.migrations, told.reason) == (len(MIGRATIONS) - 1, UPGRADE) and folder.name.startswith("upgrade-")
    # A journal that needs none, and one that is new, are not copied.
    await SqliteJournal(tmp_path / "journal.db", redact).close()
    await SqliteJournal(tmp_path / "new" / "journal.db", redact).close()
    assert len(backups_in(tmp_path / "backups")) == 1 and not (tmp_path / "new" / "backups").exists()
    # And it can be gone back to.
    put_back(folder, tmp_path, datetime.now(UTC))
    with closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) - 1,)


async def test_only_the_last_upgrades_are_kept(tmp_path: Path) -> None:
    for _ in range(MAX_UPGRADE_BACKUPS + 2):
        (tmp_path / "journal.db").unlink(missing_ok=True)
        at_step(tmp_path / "journal.db", 3)
        await SqliteJournal(tmp_path / "journal.db", redact).close()
    assert len(backups_in(tmp_path / "backups")) == MAX_UPGRADE_BACKUPS


async def test_where_it_cannot_be_kept_nothing_is_changed(tmp_path: Path) -> None:
    at_step(tmp_path / "journal.db", 5)
    (tmp_path / "backups").write_text("in the way")
    with pytest.raises(StoreFault, match="could not be copied before it is upgraded"):
        SqliteJournal(tmp_path / "journal.db", redact)
    with closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (5,)


async def test_an_older_version_says_what_it_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_step(tmp_path / "journal.db", len(MIGRATIONS) - 1)
    await SqliteJournal(tmp_path / "journal.db", redact).close()
    [(kept, _)] = backups_in(tmp_path / "backups")
    monkeypatch.setattr(upgrading, "MIGRATIONS", MIGRATIONS[:-1])
    with pytest.raises(StoreFault) as refused:
        SqliteJournal(tmp_path / "journal.db", redact)
    assert "belongs to a newer version" in str(refused.value) and f"palimpsest restore {kept}" in str(refused.value)
    assert "install version 0" in str(refused.value)


async def test_a_backup_of_a_newer_version_is_not_put_back(tmp_path: Path) -> None:
    at_step(tmp_path / "journal.db", 5)
    await SqliteJournal(tmp_path / "journal.db", redact).close()
    [(kept, told)] = backups_in(tmp_path / "backups")
    listed = (kept / "backup.json").read_text().replace(f'"migrations": {told.migrations}', '"migrations": 4000')
    (kept / "backup.json").write_text(listed)
    with pytest.raises(NoBackup, match="4000 migrations"):
        put_back(kept, tmp_path, datetime.now(UTC))


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd"])
def test_a_list_that_leads_out_of_its_folder_is_none(name: str, tmp_path: Path) -> None:
    at_step(tmp_path / "journal.db", 5)
    asyncio.run(SqliteJournal(tmp_path / "journal.db", redact).close())
    [(kept, _)] = backups_in(tmp_path / "backups")
    other = f'"{name}": {{"size": 1, "sha256": ""}}, "journal.db": {{'
    listed = (kept / "backup.json").read_text().replace('"journal.db": {', other)
    (kept / "backup.json").write_text(listed)
    with pytest.raises(NoBackup, match="names files that no backup has"):
        read_list(kept)


async def test_a_damaged_journal_names_the_commands(tmp_path: Path) -> None:
    journal = await filled(tmp_path, 20)
    damage(journal, range(1, 40))
    told = faults_of(journal)
    assert told
    journal.write_bytes(b"no database at all, " * 500)
    with pytest.raises(StoreFault, match="palimpsest restore --salvage") as refused:
        SqliteJournal(journal, redact)
    assert refused.value.fault is StoreFaultKind.CORRUPT
    with pytest.raises(NothingLeft):
        salvage(journal, tmp_path / "new.db")


def damage(journal: Path, pages: range) -> None:
    """Overwrite some pages of a file."""
    with journal.open("r+b") as stream:
        for page in pages:
            stream.seek(page * PAGE)
            stream.write(b"\xff" * PAGE)


async def test_of_a_damaged_journal_what_can_be_read_is_salvaged(tmp_path: Path) -> None:
    journal = await filled(tmp_path)
    pages = journal.stat().st_size // PAGE
    middle = pages // 2
    damage(journal, range(middle, middle + 6))
    assert faults_of(journal)
    new = tmp_path / "new.db"
    told = salvage(journal, new)
    assert told.damaged
    assert faults_of(new) == []
    again = SqliteJournal(new, redact)
    counts = await again.counts()
    await again.close()
    assert counts.facts > 200 and counts.messages > 400


async def test_what_is_whole_is_salvaged_whole(tmp_path: Path) -> None:
    journal = await filled(tmp_path, 30)
    told = salvage(journal, tmp_path / "new.db")
    assert not told.damaged and not told.loose
    assert (told.rows["exchanges"], told.rows["facts"]) == (30, 30)
    before, after = rows_of(journal, tmp_path / "new.db")
    assert before == after


def rows_of(*journals: Path) -> list[list[tuple[object, ...]]]:
    """What stands in some journals."""
    found = []
    for journal in journals:
        with closing(sqlite3.connect(journal)) as connection:
            tables = ("meta", "sessions", "messages", "exchanges", "facts", "passages", "seen", "uses")
            rows = [row for table in tables for row in connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2")]
            found.append([row for row in rows if row[0] != "migrated_by"])
    return found
