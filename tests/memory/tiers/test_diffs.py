"""Overviews of changes: files with counts, hunks, and what was defined."""

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.diffs import diff
from memory.tiers.shape import Hint

GIT = """diff --git a/src/store.py b/src/store.py
index 123..456 100644
--- a/src/store.py
+++ b/src/store.py
@@ -10,6 +10,9 @@ class Store:
 context line here
-def old_name(key):
+def new_name(key, deep):
+    first_added = compute(key)
+    second_added = compute(deep)
 more context
diff --git a/src/other.py b/src/other.py
deleted file mode 100644
--- a/src/other.py
+++ /dev/null
@@ -1,2 +0,0 @@
-gone_one = 1
-gone_two = 2
"""
PATCH = """*** Begin Patch
*** Update File: lib/a.ts
@@ export class Reader
-  const before = read(path)
+  const afterwards = readWhole(path)
*** Add File: lib/b.ts
+export function fresh(name: string) {
+  return name
+}
*** End Patch
"""


def test_files_have_their_counts_and_definitions_stand_verbatim() -> None:
    short = diff(GIT, Hint(), 400)
    assert short is not None and len(short) <= 400
    assert "src/store.py" in short and "(+3 -1)" in short and "(+0 -2)" in short
    assert "+def new_name(key, deep):" in short and "-def old_name(key):" in short
    assert "@@ -10,6 +10,9 @@ class Store:" in short


def test_an_envelope_of_apply_patch_is_a_change() -> None:
    short = diff(PATCH, Hint(), 400)
    assert short is not None
    assert "*** Update File: lib/a.ts (+1 -1)" in short and "*** Add File: lib/b.ts (+3 -0)" in short
    assert "+export function fresh(name: string) {" in short


def test_many_files_keep_their_names_in_little_room() -> None:
    text = "".join(GIT.replace("store", f"store{n}").replace("other", f"other{n}") for n in range(20))
    short = diff(text, Hint(), 1600)
    assert short is not None and len(short) <= 1600
    assert all(f"src/store{n}.py" in short for n in range(20))


def test_prose_and_lists_are_no_changes() -> None:
    assert diff("- one\n- two\n+ three\n" * 20, Hint(), 400) is None
    assert diff("---\ntitle: a\n---\n" * 20, Hint(), 400) is None


@given(st.text(max_size=300), st.integers(0, 400))
def test_whatever_comes_in_out_comes_none_or_a_text_within_the_limit(text: str, limit: int) -> None:
    for given_text in (text, GIT + text, PATCH.replace("\n", "\r\n") + text, text + GIT):
        short = diff(given_text, Hint(), limit)
        assert short is None or len(short) <= limit
