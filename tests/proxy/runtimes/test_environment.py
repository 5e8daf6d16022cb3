import json
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.checkout import CheckoutLookup
from proxy.runtimes import ClientEnvironment, project_of, recognise
from proxy.runtimes.environment import place_in, remote_name
from proxy.wire.dialect import RequestView
from tests.proxy.runtimes.views import view

HI = ("user", "Use tabs.")

PLACES = [
    (
        "opencode",
        {"user-agent": "opencode/1"},
        view(
            HI,
            system="Use this tool in your working directory: it is quick.\n<env>\n  Working directory: /srv/a\n"
            "  Workspace root folder: /srv/a\n  Is directory a git repo: yes\n  Today's date: Fri Nov 20 2026\n</env>",
        ),
        ClientEnvironment("/srv/a", None, "2026-11-20"),
    ),
    (
        "Codex",
        {"originator": "codex_exec"},
        view(
            ("developer", "You are Codex."),
            (
                "user",
                "<environment_context>\n  <cwd>/srv/a</cwd>\n  <shell>bash</shell>\n"
                "  <current_date>2026-11-20</current_date>\n  <timezone>Europe/Berlin</timezone>"
                "\n</environment_context>",
            ),
            HI,
            client_metadata={
                "x-codex-turn-metadata": json.dumps(
                    {
                        "workspaces": {
                            "/srv/a": {"associated_remote_urls": {"up": "x", "origin": "git@github.com:acme/demo.git"}},
                            "/srv/other": {"associated_remote_urls": {"origin": "git@github.com:acme/other.git"}},
                        }
                    }
                )
            },
        ),
        ClientEnvironment("/srv/a", "git@github.com:acme/demo.git", "2026-11-20"),
    ),
    (
        "Claude Code",
        {"user-agent": "claude-cli/2"},
        view(
            (
                "user",
                [
                    "<system-reminder>\n# Environment\n - Primary working directory: /srv/a\n - Platform: linux\n"
                    "</system-reminder>",
                    "<system-reminder>\nToday's date is 2026-11-20.\n</system-reminder>",
                    "Use tabs.",
                ],
            ),
        ),
        ClientEnvironment("/srv/a", None, "2026-11-20"),
    ),
    (
        "Qwen Code",
        {"user-agent": "QwenCode/0.24"},
        view(
            (
                "user",
                "<system-reminder>\nThis is the Qwen Code.\nToday's date is Friday, November 20, 2026.\n"
                "I'm currently working in the directory: /srv/a\n</system-reminder>",
            ),
            HI,
        ),
        ClientEnvironment("/srv/a", None, "2026-11-20"),
    ),
    (
        "pi",
        {"user-agent": "pi (linux)"},
        view(("developer", "You are pi.\n\n<cwd>\n/srv/a\n</cwd>"), HI),
        ClientEnvironment("/srv/a"),
    ),
    (
        "Cline",
        {},
        view(
            HI,
            system="You are Cline.\n<env>\n1. Platform: linux\n2. Date: 11/20/2026\n3. IDE: x\n"
            "4. Working Directory: /srv/a\n</env>",
        ),
        ClientEnvironment("/srv/a", None, "2026-11-20"),
    ),
    (
        "OpenClaw",
        {},
        view(
            HI, system="You run running inside OpenClaw.\nYour working directory is: /srv/a\nCurrent date: 2026-11-20"
        ),
        ClientEnvironment("/srv/a", None, "2026-11-20"),
    ),
    ("anyone", {}, view(HI, system="Be brief."), ClientEnvironment()),
    (
        "a person who writes of directories",
        {},
        view(("user", "Working directory: /srv/b"), system=""),
        ClientEnvironment(),
    ),
]


@pytest.mark.parametrize(
    "told",
    [
        "**Working Directory:** /srv/a",
        "- Workspace: `/srv/a`",
        "Current directory: /srv/a",
        "Workspace Path: /srv/a (a git repository)",
        "<working_directory>/srv/a</working_directory>",
        "<workspace>\n/srv/a\n</workspace>",
        'Context: {"cwd": "/srv/a", "shell": "bash"}',
        "cwd=/srv/a",
        "The current working directory is `/srv/a`. Use it.",
        "The current project contains the following root directories:\n\n- `/srv/a`\n",
        "You are currently working in the directory /srv/a and may read all of it.",
        "You are in /srv/a.",
        "Project root: /path/to/your/project, for example.\nProject root: /srv/a",
    ],
)
def test_a_client_nobody_wrote_rules_for_tells_where_it_runs(told: str) -> None:
    assert place_in(f"You are an agent.\nUse absolute paths.\n{told}\nBe brief.").directory == "/srv/a"


def test_a_directory_may_have_spaces_in_its_name() -> None:
    assert place_in("**Working directory:** /srv/my work/a\nOS: linux").directory == "/srv/my work/a"


@pytest.mark.parametrize(
    "told",
    [
        "The working directory: it changes. Write to /srv/a.",
        "Set the project root to {root}/src. project_root: /{root}",
        "You are in charge of /srv/a.",
        "A path like /srv/a is in the workspace.",
        "workspace: /absolute/path/to/it",
        "pwd: /",
    ],
)
def test_what_only_speaks_of_directories_tells_no_place(told: str) -> None:
    assert place_in(told).directory is None


def test_an_environment_block_may_have_any_name() -> None:
    seen = view(("user", "<workspace_context>\nWorkspace: /srv/a\n</workspace_context>"), HI)
    assert recognise({}, seen).place(seen).directory == "/srv/a"


@pytest.mark.parametrize(("headers", "seen", "place"), [pytest.param(*row[1:], id=row[0]) for row in PLACES])
def test_a_runtime_tells_where_it_runs(headers: dict[str, str], seen: RequestView, place: ClientEnvironment) -> None:
    assert recognise(headers, seen).place(seen) == place


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/acme/demo.git",
        "https://user:secret@github.com/acme/demo",
        "https://github.com:443/acme/demo/",
        "git@github.com:acme/demo.git",
        "ssh://git@GitHub.com:22/acme/demo.git",
        "git://github.com/acme/demo.git/",
        " github.com:acme/demo ",
    ],
)
def test_a_remote_has_one_name_however_it_is_written(url: str) -> None:
    assert remote_name(url) == "github.com/acme/demo"


def test_a_project_is_its_remote_else_its_directory() -> None:
    assert project_of(ClientEnvironment("/srv/a", "git@github.com:acme/demo.git")) == "github.com/acme/demo"
    assert project_of(ClientEnvironment("/srv/a")) == "/srv/a"
    assert project_of(ClientEnvironment("/srv/a", "::::")) == "/srv/a"
    assert project_of(ClientEnvironment(None, "/srv/bare.git")) == "/srv/bare"
    assert project_of(ClientEnvironment()) is None


def test_a_path_that_is_too_long_keeps_its_end_and_stays_distinct() -> None:
    one, two = (project_of(ClientEnvironment(f"/{letter}" + "/deep" * 100 + "/end")) for letter in "ab")
    assert one is not None
    assert two is not None
    assert one != two
    assert len(one) <= 200
    assert one.endswith("/deep/end")


@given(st.text(max_size=60))
def test_no_remote_gives_away_a_password(told: str) -> None:
    name = remote_name(f"https://user:sw0rdf1sh@host.example/{told}")
    assert name is None or "sw0rdf1sh" not in name


@given(st.text(max_size=200))
def test_any_text_can_be_asked_for_a_place(text: str) -> None:
    place_in(text)
    place_in(f"Working directory: {text}\nToday's date: {text}")


def repository(folder: Path, remote: str | None = "git@github.com:acme/demo.git") -> Path:
    (folder / ".git").mkdir(parents=True)
    config = "[core]\n\tbare = false\n"
    if remote:
        config += (
            f'[remote "fork"]\n\turl = x:y\n[remote "origin"]\n\turl = {remote}\n\tfetch = +refs\n[branch "main"]\n'
        )
    (folder / ".git" / "config").write_text(config)
    return folder


def test_a_sub_folder_belongs_to_the_checkout_above_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "demo")
    (root / "src").mkdir()
    place = CheckoutLookup().locate(ClientEnvironment(str(root / "src"), date="2026-11-20"))
    assert (place.directory, place.date, project_of(place)) == (str(root), "2026-11-20", "github.com/acme/demo")


def test_a_worktree_is_in_the_project_of_its_repository(tmp_path: Path) -> None:
    root = repository(tmp_path / "demo", remote=None)
    own = root / ".git" / "worktrees" / "w"
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / ".git").write_text(f"gitdir: {own}\n")
    assert CheckoutLookup().locate(ClientEnvironment(str(tmp_path / "w"))).directory == str(root)


def test_dotfiles_in_the_home_folder_do_not_join_its_projects(tmp_path: Path) -> None:
    home = repository(tmp_path / "home")
    (home / "a").mkdir()
    checkouts = CheckoutLookup(home=home)
    assert project_of(checkouts.locate(ClientEnvironment(str(home / "a")))) == str(home / "a")
    assert project_of(checkouts.locate(ClientEnvironment(str(home)))) == "github.com/acme/demo"


@pytest.mark.parametrize("directory", ["/nowhere/at/all", "relative/path", "C:\\work", "/" + "x" * 5000, "/a\0b"])
def test_a_directory_that_is_not_on_this_machine_stays_as_it_was_told(directory: str) -> None:
    assert CheckoutLookup().locate(ClientEnvironment(directory, "git@h:o/r")) == ClientEnvironment(
        directory, "git@h:o/r"
    )
    assert CheckoutLookup().locate(ClientEnvironment()) == ClientEnvironment()


def test_a_project_keeps_its_name_when_it_comes_under_git_and_gets_a_remote(tmp_path: Path) -> None:
    names, root = tmp_path / "projects.json", tmp_path / "demo"
    root.mkdir()
    first = project_of(CheckoutLookup(names).locate(ClientEnvironment(str(root))))
    assert first == str(root)
    repository(root)
    again = CheckoutLookup(names)
    assert project_of(again.locate(ClientEnvironment(str(root)))) == first
    assert project_of(again.locate(ClientEnvironment(str(root), "git@github.com:acme/demo.git"))) == first
    names.write_text(json.dumps({str(root): "my work"}))
    assert project_of(CheckoutLookup(names).locate(ClientEnvironment(str(root)))) == "my work"


@pytest.mark.parametrize("content", [b"", b"[]", b'{"/a": 1}', b"\xff"])
def test_a_file_of_names_that_cannot_be_read_is_no_obstacle(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "names.json").write_bytes(content)
    for file in (tmp_path / "names.json", tmp_path / "no" / "such" / "folder.json"):
        assert project_of(CheckoutLookup(file).locate(ClientEnvironment(str(tmp_path)))) == str(tmp_path)


def test_the_table_of_folders_stays_small(tmp_path: Path) -> None:
    root = repository(tmp_path / "demo")
    checkouts = CheckoutLookup(most=2)
    checkouts.locate(ClientEnvironment(str(root)))
    (root / ".git" / "config").write_text("")
    assert checkouts.locate(ClientEnvironment(str(root))).remote == "git@github.com:acme/demo.git"
    for other in "abc":
        checkouts.locate(ClientEnvironment(f"/{other}"))
    assert checkouts.locate(ClientEnvironment(str(root))).remote is None


def test_days_that_are_none_cost_no_endless_time() -> None:
    text = "".join(f"\nDate: {'A' * 1190}{turn}" for turn in range(150))
    began = process_time()
    assert place_in(text).date is None
    assert process_time() - began < 1
