"""Words, stems and the stop list."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.language.words import STOP, parts, stem, stems, tokens, words


def test_identifiers_are_kept_whole_and_in_parts() -> None:
    assert words("getUserName") == ["getusername", "get", "user", "name"]
    assert words("get_user_name") == ["get_user_name", "get", "user", "name"]
    assert words("os.path.join") == ["os.path.join", "os", "path", "join"]
    assert words("std::vector") == ["std::vector", "std", "vector"]
    assert words("HTTPServer") == ["httpserver", "http", "server"]
    assert words("memory/models/distil.py") == ["memory", "models", "distil.py", "distil", "py"]


def test_a_name_written_three_ways_shares_its_parts() -> None:
    shared = set(words("parseConfigFile")) & set(words("parse_config_file")) & set(words("parse config file"))
    assert shared == {"parse", "config", "file"}


def test_prose_is_cut_at_hyphens_and_possessives() -> None:
    assert words("Caroline's well-known sister.") == ["caroline", "well", "known", "sister"]
    assert words("Caroline’s") == ["caroline"]
    assert words("don't") == words("don’t") == ["don't"]


def test_numbers_are_kept() -> None:
    assert words("3.11.7 and 1,000 or 12,345,678") == ["3.11.7", "and", "1000", "or", "12345678"]
    assert words("on 2023-05-08") == ["on", "2023-05-08"]
    assert words("utf-8") == ["utf-8", "utf", "8"]


def test_a_full_stop_is_no_part_of_a_word() -> None:
    assert words("It works. Really.") == ["it", "works", "really"]


def test_compatibility_characters_are_folded() -> None:
    assert words("ﬁne ＡＢＣ") == ["fine", "abc"]


def test_scripts_without_spaces_give_characters_and_pairs() -> None:
    assert words("東京都") == ["東", "京", "都", "東京", "京都"]
    assert words("東") == ["東"]
    assert words("ok東京") == ["ok", "東", "京", "東京"]


def test_inflections_of_a_word_have_one_stem() -> None:
    for family in (
        "run running runs ran",
        "use using used uses",
        "add adding added adds",
        "make making made makes",
        "deploy deploys deployed deploying",
        "decide decided deciding decides",
        "city cities",
        "church churches",
        "class classes",
        "child children",
        "write wrote written writing",
        "generate generator generated",
        "configure configured configuring configures",
        "migration migrations",
    ):
        assert len({stem(word) for word in family.split()}) == 1, family


def test_words_of_different_topics_keep_their_stems() -> None:
    for left, right in (("general", "generate"), ("universe", "university"), ("news", "new"), ("policy", "police")):
        assert stem(left) != stem(right)


def test_what_is_not_plain_english_is_its_own_stem() -> None:
    for word in ("utf-8", "3.11.7", "東京", "café", "os.path", "it", ""):
        assert stem(word) == word


def test_a_question_leaves_its_topic_only() -> None:
    assert stems("What did Caroline say about the painting?") == ["carolin", "paint"]
    assert stems("When will I be there?") == []


def test_the_stop_list_holds_the_question_words() -> None:
    assert {"who", "whom", "what", "which", "when", "where", "why", "how"} <= STOP


@settings(deadline=None)
@given(st.text())
def test_any_text_gives_lower_case_words_without_spaces(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(c.isspace() for c in word)
        assert word == word.lower()


@settings(deadline=None)
@given(st.text())
def test_words_are_the_parts_of_the_tokens(text: str) -> None:
    assert words(text) == [word for token in tokens(text) for word in parts(token)]


@settings(deadline=None)
@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", max_size=30))
def test_a_stem_is_never_empty_and_never_much_longer(word: str) -> None:
    stemmed = stem(word)
    assert bool(stemmed) == bool(word)
    assert len(stemmed) <= len(word) + 1 or stemmed in {"person", "child", "leav", "buy", "forget", "become"}


@settings(deadline=None)
@given(st.text(), st.text())
def test_stems_of_two_lines_are_the_stems_of_each(left: str, right: str) -> None:
    assert stems(f"{left}\n{right}") == stems(left) + stems(right)
