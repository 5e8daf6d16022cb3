"""Which files a glob of `never_read` names."""

from __future__ import annotations

import pytest

from memory.unread_files import LONGEST, MOST, NO_FILES, below, checked_globs


@pytest.mark.parametrize(
    ("glob", "matching", "other"),
    [
        (".env", ["/b/.env", "/b/api/.env", ".env", "api/.env", "/b/.ENV", "/b/x/../.env"], ["/b/.envrc", "/c/.env"]),
        ("*.pem", ["/b/a.pem", "/b/x/a.pem", "./a.pem"], ["/b/a.pem.txt", "/b/pem"]),
        ("secrets/", ["/b/secrets", "/b/secrets/a/b", "/b/x/secrets/a", "secrets"], ["/b/secretsa", "/b/nosecrets/a"]),
        ("/secrets", ["/b/secrets/a", "secrets/a", "../secrets/a"], ["/b/x/secrets/a", "/secrets"]),
        ("conf/*.yml", ["/b/conf/a.yml", "conf/a.yml"], ["/b/conf/x/a.yml", "/b/x/conf/a.yml", "/b/a.yml"]),
        ("conf/**", ["/b/conf/a.yml", "/b/conf/x/a.yml", "/b/conf"], ["/b/conference"]),
        ("**/key?.txt", ["/b/key1.txt", "/b/x/y/keya.txt"], ["/b/key.txt", "/b/key12.txt"]),
        ("a/**/z", ["/b/a/z", "/b/a/x/y/z"], ["/b/a/xz"]),
        ("id_[rd]sa", ["/b/id_rsa", "/b/x/id_dsa"], ["/b/id_xsa"]),
        ("id_[!r]sa", ["/b/id_dsa"], ["/b/id_rsa", "/b/id_/sa"]),
        ("odd[", ["/b/odd["], ["/b/odd"]),
        (
            "customers/**/*.csv",
            ["list.csv", "acme/list.csv", "../list.csv", "/b/customers/x/l.csv"],
            ["/b/l.csv", "a.txt"],
        ),
        ("conf/*", ["conf", "/b/conf/a", "conf/a"], ["a", "/b/a", "make"]),
        ("one/two.txt", ["two.txt", "one/two.txt"], ["src/two.txt", "/b/two.txt", "/b/src/one/two.txt"]),
        ("*", ["/b/a", "a"], ["/c/a"]),
        ("gr\u00fcn.txt", ["/b/gru\u0308n.txt", "GRU\u0308N.txt"], ["/b/grun.txt"]),
        (".env", ["//b/.env", "///b/.env", "file:///b/%2Eenv", " .env\n"], ["/b/" + "x" * 5000 + "/.env"]),
        ("a+b (1).txt", ["/b/a+b (1).txt"], ["/b/aab 1.txt"]),
    ],
)
def test_a_glob_names_files_as_a_gitignore_does(glob: str, matching: list[str], other: list[str]) -> None:
    unread = below("/b", checked_globs([glob]))
    assert [path for path in matching if not unread.matches(path)] == []
    assert [path for path in other if unread.matches(path)] == []


def test_files_of_windows_are_named_with_slashes() -> None:
    unread = below("C:\\boat", ["secrets/*.txt"])
    assert unread.matches("C:\\boat\\secrets\\a.txt") and not unread.matches("D:\\boat\\secrets\\a.txt")


def test_what_several_folders_say_counts_together() -> None:
    unread = below("/b", [".env"]) | below("/b/api", ["key"]) | NO_FILES
    assert unread.matches("/b/.env") and unread.matches("/b/api/key") and not unread.matches("/b/key")
    assert not NO_FILES and not NO_FILES.matches("/b/.env")


def test_a_glob_takes_no_time_to_speak_of() -> None:
    unread = below("/b", ["*a*a*a*a*a*a*a*b"])
    assert not unread.matches("/b/" + "a" * 200)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (".env", "a list"),
        ([".env"] * (MOST + 1), "at most"),
        ([3], "characters"),
        ([""], "characters"),
        (["/"], "characters"),
        (["x" * (LONGEST + 1)], "characters"),
        (["a\nb"], "characters"),
        (["!.env"], "takes nothing back"),
        (["../other/.env"], "no glob has .."),
    ],
)
def test_what_is_no_list_of_globs_is_told(value: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        checked_globs(value)
