"""Names by folder, finds by file: what survives and what is counted."""

import json
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.listings import is_listing, is_search, listing, searches
from memory.tiers.shape import Hint, hint_of

LS = hint_of("Bash", '{"command": "ls -la src"}')
FIND = hint_of("Bash", '{"command": "find . -name *.py"}')
GREP = hint_of("Grep", '{"pattern": "limit", "output_mode": "content"}')


def test_a_long_listing_keeps_names_and_sizes() -> None:
    rows = [f"-rw-r--r--  1 me staff {100 + n} Jan  1 12:00 module_{n}.py" for n in range(40)]
    rows.append("drwxr-xr-x  2 me staff 4096 Jan  1 12:00 folder")
    short = listing("total 8\n" + "\n".join(rows), LS, 500)
    assert short is not None and len(short) <= 500
    assert "(41)" in short and "module_0.py 100" in short


def test_paths_stay_whole_and_the_rest_is_counted() -> None:
    paths = [f"src/package_{n % 5}/module_{n}.py" for n in range(100)]
    short = listing("\n".join(paths), FIND, 600)
    assert short is not None and len(short) <= 600
    assert short.startswith("100 paths") and "src/package_0/ (20)" in short
    assert sum(path in short.split("\n") for path in paths) > 5


def test_a_tree_is_read_with_its_folders() -> None:
    text = "\n".join(
        [
            "src/",
            "\u251c\u2500\u2500 one",
            *[f"\u2502   \u251c\u2500\u2500 f{n}.py" for n in range(12)],
            "\u2514\u2500\u2500 end.py",
        ]
    )
    short = listing(text, hint_of("tree", "{}"), 400)
    assert short is not None and "src/one" in short and "f3.py" in short


def test_a_json_array_of_names_is_a_listing() -> None:
    short = listing(json.dumps([f"name_{n}.txt" for n in range(30)]), hint_of("list_dir", "{}"), 200)
    assert short is not None and "name_0.txt" in short


def test_prose_is_no_listing() -> None:
    assert listing("This is a sentence about files.\n" * 30, LS, 500) is None


def test_finds_stay_verbatim_with_file_and_number() -> None:
    rows = [f"src/file_{n % 4}.py:{n}:    value_{n} = limit_of(account_{n})" for n in range(80)]
    short = searches("\n".join(rows), GREP, 900)
    assert short is not None and len(short) <= 900
    assert "80 finds in 4 files" in short
    flat = {" ".join(row.split()) for row in rows}
    assert sum(line in flat for line in short.split("\n")) > 8
    assert all(f"src/file_{n}.py" in short for n in range(4))


def test_finds_under_headings_and_of_one_file_are_finds() -> None:
    headed = "src/a.py\n12:def first_one\n40:def second_one\n\nsrc/b.py\n3:def third_one\n"
    assert "12:def first_one" in (searches(headed, GREP, 400) or "")
    single = hint_of("Grep", '{"pattern": "x", "path": "src/a.py"}')
    assert "60:\tgradient_cells = 1".replace("\t", " ") in (
        searches("60:\tgradient_cells = 1\n61:\tother = 2\n", single, 400) or ""
    )


def test_files_with_matches_stay_whole_paths() -> None:
    text = "Found 30 files\n" + "\n".join(f"lib/deep/er/file_{n}.ts" for n in range(30))
    short = searches(text, GREP, 300)
    assert short is not None and "lib/deep/er/ (30)" in short and len(short) <= 300


def test_other_text_is_no_search() -> None:
    assert searches("nothing here looks\nlike a find\n" * 20, Hint(), 400) is None


@given(st.text(max_size=500), st.sampled_from([LS, FIND, GREP, Hint(), hint_of("tree", "{}")]), st.integers(0, 400))
def test_whatever_comes_in_out_comes_none_or_a_text_within_the_limit(text: str, hint: Hint, limit: int) -> None:
    for given_text in (text, text.replace(" ", "\n"), "\n".join(f"a/{n}.py:{n}:{text}" for n in range(9))):
        for make in (listing, searches):
            short = make(given_text, hint, limit)
            assert short is None or len(short) <= limit


def test_endless_lines_cost_no_endless_time() -> None:
    for line in ("a" * 300_000, "| " * 150_000, "a:" * 150_000, "a/" * 150_000, "- " * 150_000):
        for hint in (LS, GREP, Hint()):
            listing(line, hint, 6000)
            searches(line, hint, 6000)


def test_whether_a_command_of_line_ends_looks_for_something_is_told_at_once() -> None:
    began = process_time()
    for blank in ("\n", " \n", ";\n"):
        hint = Hint(tool="bash", command=blank * 1000)
        assert not is_search(hint) and not is_listing(hint)
    assert is_search(Hint(tool="bash", command="cd a;\n \n grep -rn b")) and is_listing(
        Hint(tool="bash", command="\n ls")
    )
    assert process_time() - began < 1
