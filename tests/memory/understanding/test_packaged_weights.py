from memory.understanding.packaged_weights import clear_caches, encoder, relations

OLDER, NEWER = "The exporter writes its files at noon.", "The exporter writes its files at midnight now!"


def test_a_pair_is_read_once_whatever_stands_at_its_ends() -> None:
    clear_caches()
    [read] = relations([(OLDER, NEWER)])
    assert read == encoder().relations([(OLDER, NEWER)])[0]
    assert relations([(OLDER.rstrip("."), f"{NEWER.rstrip('!')}!")])[0] is read


def test_nothing_is_at_hand_of_what_was_forgotten() -> None:
    [read] = relations([(OLDER, NEWER)])
    clear_caches()
    assert relations([(OLDER, NEWER)])[0] is not read
