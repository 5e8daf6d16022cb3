from hypothesis import given
from hypothesis import strategies as st

from memory.language.sentences import BlockShape, blocks, sentences


def test_a_full_stop_inside_a_name_or_number_ends_nothing() -> None:
    assert sentences("Use v1.2.3 of config.yaml, e.g. the new one. It is 3.5 times faster.") == [
        "Use v1.2.3 of config.yaml, e.g. the new one.",
        "It is 3.5 times faster.",
    ]


def test_a_sentence_may_begin_in_lower_case() -> None:
    assert sentences("looks good. ship it! why not?") == ["looks good.", "ship it!", "why not?"]


def test_initials_and_titles_end_nothing() -> None:
    assert sentences("Dr. Rao met J. Smith. They talked.") == ["Dr. Rao met J. Smith.", "They talked."]


def test_a_line_break_ends_a_sentence() -> None:
    assert sentences("first thing\nsecond thing") == ["first thing", "second thing"]


def test_scripts_without_spaces_are_cut_at_their_own_marks() -> None:
    assert sentences("我喜欢茶。我不喝咖啡！") == ["我喜欢茶。", "我不喝咖啡！"]


def test_a_message_falls_into_blocks_of_one_shape() -> None:
    text = "Hello\n\n# Title\n1. one\n2. two\n   goes on\n\n> cited\n\n```py\nx = 1\n\ny = 2\n```\n| a | b |\nbye"
    assert [(block.shape, block.text, block.marker) for block in blocks(text)] == [
        (BlockShape.PROSE, "Hello", ""),
        (BlockShape.HEADING, "Title", ""),
        (BlockShape.ITEM, "one", "1"),
        (BlockShape.ITEM, "two\ngoes on", "2"),
        (BlockShape.QUOTE, "cited", ""),
        (BlockShape.CODE, "x = 1\n\ny = 2", "py"),
        (BlockShape.TABLE, "| a | b |", ""),
        (BlockShape.PROSE, "bye", ""),
    ]


def test_a_fence_that_never_closes_is_code_to_the_end() -> None:
    assert [block.shape for block in blocks("see\n```\nx\n\ny")] == [BlockShape.PROSE, BlockShape.CODE]


def test_a_wrapped_line_runs_on_and_a_short_one_does_not() -> None:
    long = "this line was wrapped by an editor because it was too long for it"
    assert blocks(f"{long}\nand goes on here")[0].text == f"{long} and goes on here"
    assert blocks("short\nand more")[0].text == "short\nand more"


@given(st.text(max_size=400))
def test_sentences_are_pieces_of_the_text_in_order(text: str) -> None:
    at = 0
    for sentence in sentences(text):
        at = text.index(sentence, at) + len(sentence)


@given(st.text(alphabet="a1 .>-#`|\n~*", max_size=200))
def test_blocks_invent_no_text(text: str) -> None:
    for block in blocks(text):
        for word in block.text.split():
            assert word in text


def test_a_number_before_a_month_ends_no_sentence() -> None:
    assert sentences("Bis zum 3. März fährt keine Fähre. Danach wieder.") == [
        "Bis zum 3. März fährt keine Fähre.",
        "Danach wieder.",
    ]
    for two in ("We counted 3. Maya counted 4.", "The port is 8080. May we change it?", "The answer is 12. May I?"):
        assert len(sentences(two)) == 2
