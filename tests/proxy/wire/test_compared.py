from proxy.wire.validation import newly_broken


def test_what_the_client_broke_is_not_held_against_the_edit_wherever_it_moved() -> None:
    assert newly_broken(["Message 40 has no content."], ["Message 12 has no content."]) == []


def test_what_is_broken_once_more_than_before_is_named() -> None:
    before = ["Part 2 of item 3 has no type."]
    assert newly_broken(before, ["Part 1 of item 2 has no type.", "Part 2 of item 2 has no type."]) == [
        "Part 2 of item 2 has no type."
    ]


def test_ids_are_told_apart() -> None:
    assert newly_broken(["The call 'a 1' has no output."], ["The call 'a 2' has no output."]) == [
        "The call 'a 2' has no output."
    ]
