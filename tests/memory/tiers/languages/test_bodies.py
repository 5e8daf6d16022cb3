"""What an outline does not look into is left out before it is parsed, and every row stays where it is."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.tiers import code
from memory.tiers.languages import without_bodies
from memory.tiers.shape import Hint

PYTHON = '''class Store(Base):
    """Keeps rows."""

    least = 3

    def load(self, key: str, *, limit: int = 3) -> list[Row]:
        # how it is done
        rows = self.read("""
select a
  from b""", key)

        return [row for row in rows if row]

    @property
    async def size(
        self,
    ) -> int:  # in rows
        return len(self)

    def short(self): return 1

def outside(
    a, b=(1, 2)):
    def inside():
        return 2
    return inside

VALUE = 4
'''

TYPESCRIPT = """export class Store extends Base {
  private rows: Row[] = [];

  load(key: string, limit = 3): Row[] {
    if (key) {
      return [];
    }
    return this.rows.filter((row) => {
      return row.key === key;
    });
  }

  get size() { return 1; }
}

export async function outside(
  a: string,
): Promise<void> {
  await a;
}

export const table = {
  a: (x) => {
    return 1;
  },
};

if (a) {
  function within() {
    return 1;
  }
}
"""

C = """#include <stdio.h>

static int
load(const char *key, int limit)
{
    int rows = 0;
#ifdef DEBUG
    printf("%d", rows);
#endif
again:
    if (limit) {
        goto again;
    }
    return rows;
}

struct store {
    int rows;
};
"""


def test_the_bodies_of_routines_are_left_out() -> None:
    left = without_bodies("python", PYTHON)
    assert "select a" not in left and "return" not in left.replace("return 1", "")
    assert [word for word in ("least = 3", "class Store(Base):", "VALUE = 4", "short") if word not in left] == []
    left = without_bodies("typescript", TYPESCRIPT)
    assert "this.rows" not in left and "await" not in left
    assert "private rows" in left and "function within() {" in left
    left = without_bodies("c", C)
    assert "printf" not in left and "goto" not in left and "int rows;\n};" in left


@pytest.mark.parametrize(("language", "text"), [("python", PYTHON), ("typescript", TYPESCRIPT), ("c", C)])
def test_an_outline_is_the_same_without_them(language: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hint = Hint(path={"python": "a.py", "typescript": "a.ts", "c": "a.c"}[language])
    outlines = []
    for rows in (10**9, 0):
        monkeypatch.setattr(code, "_MANY_ROWS", rows)
        outlines.append(code.code(text, hint, 1200))
    assert outlines[0] == outlines[1] and outlines[0]


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "def f(a\n    return 1\n"),
        ("python", "def f():\n"),
        ("python", "def f():\nx = 1\n"),
        ("python", 'def f():\n    x = """\n  never closed\ny = 1\n'),
        ("go", "func f() {\nreturn 1\n}\n"),
        ("go", "func f() {\n\treturn 1\n"),
        ("ruby", "def f(a)\n  a\nend\n"),
    ],
)
def test_what_is_not_laid_out_so_is_left_as_it_is(language: str, text: str) -> None:
    assert without_bodies(language, text) == text


@given(
    st.lists(
        st.sampled_from(
            [
                *("def f(a):", "  def g(", "    a):", "    return 1", "  x = 1 # (", '"""', "class A:", "", "  ", "#"),
                *("f() {", "  g(a) {", "  }", "}", "{", "    a;", "class B {", "#if x", "l:", "if (a) {", "\t}"),
            ]
        )
    ),
    st.sampled_from(["python", "c", "typescript"]),
)
def test_every_row_stays_where_it_is(rows: list[str], language: str) -> None:
    text = "\n".join(rows)
    assert without_bodies(language, text).count("\n") == text.count("\n")


def test_a_long_line_of_blanks_is_looked_through_in_time_with_its_length() -> None:
    began, text = process_time(), "a;\n" + " " * 40_000 + "b\n"
    assert without_bodies("javascript", text) == text
    assert process_time() - began < 1
