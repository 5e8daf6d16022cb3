# ruff: noqa: E501
"""Outlines of program text: what survives, with which numbers, and that nothing comes out wrong whatever goes in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.code import code
from memory.tiers.shape import Hint, budget_of, hint_of

SOURCES = {
    "a.py": ("import os\nLIMIT = 3\n\n\nclass Store:\n    def read(self, key):\n        return os\n\n\ndef top(a, b):\n    pass\n",
             ["import os", "LIMIT = 3", "class Store:", "def read(self, key):", "def top(a, b):"]),
    "a.js": ("import x from 'y';\nexport const LIMIT = 3;\nclass Store {\n  read(key) {\n    return 1;\n  }\n}\nfunction top() {\n}\n",
             ["import x from 'y';", "export const LIMIT = 3;", "class Store {", "read(key) {", "function top() {"]),
    "a.ts": ("export interface Store {\n  read(key: string): void;\n}\nexport type Id = string;\nexport async function top() {\n}\n",
             ["export interface Store {", "read(key: string): void;", "export type Id = string;", "async function top() {"]),
    "a.tsx": ("export const App = () => {\n  return <div />;\n};\nfunction Row(props: Props) {\n  return <b>1</b>;\n}\n",
              ["export const App = () => {", "function Row(props: Props) {"]),
    "a.go": ("package a\n\nimport (\n\t\"fmt\"\n)\n\ntype Store struct {\n\tpath string\n}\n\nfunc (s *Store) Read(key string) error {\n\treturn nil\n}\n",
             ["package a", '"fmt"', "type Store struct {", "path string", "func (s *Store) Read(key string) error {"]),
    "a.rs": ("use std::fmt;\npub struct Store {\n    path: u8,\n}\nimpl Store {\n    pub fn read(&self) -> u8 {\n        1\n    }\n}\n",
             ["use std::fmt;", "pub struct Store {", "path: u8,", "impl Store {", "pub fn read(&self) -> u8 {"]),
    "A.java": ("import a.b;\npublic class Store {\n    private int path;\n    public int read(String key) {\n        return 1;\n    }\n}\n",
               ["import a.b;", "public class Store {", "private int path;", "public int read(String key) {"]),
    "a.c": ("#include <a.h>\n#define LIMIT 3\nstruct store {\n  int path;\n};\nint read_key(char *key)\n{\n  return 1;\n}\n",
            ["#include <a.h>", "#define LIMIT 3", "struct store {", "int read_key(char *key)"]),
    "a.cpp": ("namespace n {\nclass Store : Base {\n  int path;\n  void read(int key) {\n  }\n};\n}\ntemplate <class T>\nT top(T a) {\n  return a;\n}\n",
              ["namespace n {", "class Store : Base {", "int path;", "void read(int key) {", "T top(T a) {"]),
    "a.cs": ("using System;\nnamespace N\n{\n  public class Store\n  {\n    public int Read(int key)\n    {\n      return 1;\n    }\n  }\n}\n",
             ["using System;", "public class Store", "public int Read(int key)"]),
    "a.rb": ("require 'x'\nmodule M\n  class Store < Base\n    def read(key)\n      1\n    end\n  end\nend\n",
             ["require 'x'", "module M", "class Store < Base", "def read(key)"]),
    "a.php": ("<?php\nuse A\\B;\nclass Store {\n  public function read($key) {\n    return 1;\n  }\n}\nfunction top() {\n}\n",
              ["use A\\B;", "class Store {", "public function read($key) {", "function top() {"]),
    "a.sh": ("LIMIT=3\nread_key() {\n  echo 1\n}\n", ["LIMIT=3", "read_key() {"]),
    "a.kt": ("import a.b\nclass Store {\n  fun read(key: Int): Int {\n    return 1\n  }\n}\n", ["class Store {", "fun read(key: Int): Int {"]),
    "a.swift": ("import A\nclass Store {\n  func read(key: Int) -> Int {\n    return 1\n  }\n}\n", ["class Store {", "func read(key: Int) -> Int {"]),
    "a.lua": ("local M = {}\nfunction M.read(key)\n  return 1\nend\nreturn M\n", ["local M = {}", "function M.read(key)"]),
    "a.ps1": ("function Get-Store {\n  param($Key)\n  1\n}\n", ["function Get-Store {"]),
    "a.sql": ("CREATE TABLE store (\n  path text\n);\nCREATE INDEX i ON store (path);\n", ["CREATE TABLE store (", "CREATE INDEX i ON store (path);"]),
    "a.ex": ("defmodule Store do\n  def read(key) do\n    1\n  end\nend\n", ["defmodule Store do", "def read(key) do"]),
}  # fmt: skip


def read_of(path: str, **more: object) -> Hint:
    return hint_of("Read", json.dumps({"file_path": path, **more}))


def numbered(text: str, mark: str = "\u2192", start: int = 1) -> str:
    return "\n".join(f"{number:6}{mark}{line}" for number, line in enumerate(text.split("\n"), start))


def long_python(functions: int) -> str:
    parts = ["import os", "import sys", "", "LIMIT = 3", ""]
    for number in range(functions):
        parts += [
            f"def function_number_{number}(first: int, second: str = 'x') -> dict[str, int]:",
            f'    """What number {number} is for."""',
            *(f"    value_{number}_{row} = compute(first, {row})" for row in range(12)),
            f"    return {{second: value_{number}_0}}",
            "",
        ]
    return "\n".join(parts)


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_imports_and_constants_stand_verbatim_in_every_language(path: str) -> None:
    text, wanted = SOURCES[path]
    outline = code(text, read_of(path), 2000)
    assert outline is not None
    for line in wanted:
        assert line in outline


def test_bodies_go_before_signatures_do() -> None:
    text = long_python(40)
    outline = code(text, read_of("a.py"), budget_of(text))
    assert outline is not None and len(outline) <= budget_of(text)
    for number in range(40):
        assert f"function_number_{number}(" in outline or f"function_number_{number}\n" in outline + "\n"
    assert sum("-> dict" in line for line in outline.split("\n")) > outline.count("compute(")


def test_where_signatures_do_not_fit_names_do() -> None:
    text = long_python(60)
    outline = code(text, read_of("a.py"), 2500)
    assert outline is not None and len(outline) <= 2500
    assert [f"function_number_{number}" in outline for number in range(60)] == [True] * 60


def test_no_identifier_is_cut() -> None:
    text = long_python(60)
    known = {word for line in text.split("\n") for word in line.replace("(", " ").replace(":", " ").split()}
    for limit in range(60, 600, 37):
        outline = code(text, read_of("a.py"), limit) or ""
        assert len(outline) <= limit
        for word in outline.replace("(", " ").replace(":", " ").split():
            assert word in known or word.isdigit() or word == "\u2026"


@pytest.mark.parametrize("mark", ["\u2192", "\t", ": ", "| "])
def test_the_numbers_of_a_file_tool_are_not_parsed_and_stay(mark: str) -> None:
    text = numbered(long_python(6), mark, start=200)
    outline = code(text, read_of("a.py", offset=200), budget_of(text))
    assert outline is not None
    row = next(line for line in text.split("\n") if "def function_number_3(" in line)
    assert " ".join(row.split()) in " ".join(outline.split())


def test_a_file_without_numbers_gets_its_own() -> None:
    outline = code("\n\nclass Store:\n    pass\n", read_of("a.py"), 500)
    assert outline is not None and "3: class Store:" in outline


def test_a_part_of_a_file_without_numbers_gets_none() -> None:
    outline = code("\n\nclass Store:\n    pass\n", read_of("a.py", offset=100), 500)
    assert outline is not None and "3:" not in outline


def test_a_part_that_begins_and_ends_in_the_middle_has_an_outline() -> None:
    text = SOURCES["a.go"][0]
    outline = code("\t\treturn err\n\t}\n}\n" + text[text.index("type") : -8], read_of("a.go"), 1000)
    assert outline is not None and "func (s *Store) Read(key string) error {" in outline


def test_what_a_tool_says_around_a_file_is_no_code() -> None:
    text = numbered(long_python(8)) + "\n\n<system-reminder>\ndef misleading(): never\n</system-reminder>"
    outline = code(text, read_of("a.py"), budget_of(text))
    assert outline is not None and "misleading" not in outline


def test_a_signature_over_several_lines_stays_whole() -> None:
    text = "class A:\n    def long(\n        self,\n        first: int,\n    ) -> None:\n        body()\n"
    outline = code(text, read_of("a.py"), 1000)
    assert outline is not None and "first: int," in outline and ") -> None:" in outline


def test_the_language_is_known_by_the_command_a_shebang_or_its_sayings() -> None:
    shown = hint_of("exec", json.dumps({"cmd": "sed -n '1,80p' src/store.go"}))
    assert code(SOURCES["a.go"][0], shown, 1000)
    assert code("#!/usr/bin/env python3\nLIMIT = 3\n", Hint(), 1000)
    assert code(SOURCES["a.rs"][0], Hint(), 1000)


def test_prose_failures_and_other_kinds_of_files_are_not_code() -> None:
    prose = "Import the class and define a function. Return early.\n" * 30
    assert code(prose, Hint(), 1000) is None
    assert code(prose, read_of("notes.md"), 1000) is None
    assert code(SOURCES["a.py"][0], hint_of("Read", '{"path": "a.py"}', failed=True), 1000) is None


@pytest.mark.parametrize("line", ["(", "{[", "}", '"', "class A:", "def f(", "\ud800", "x" * 3000, "\x00"])
def test_large_garbage_is_bounded(line: str) -> None:
    for path in ("a.py", "a.go"):
        outline = code(f"{line}\n" * (12_000 // len(line)), read_of(path), 6000)
        assert outline is None or len(outline) <= 6000


def test_five_megabytes_are_read_up_to_a_bound() -> None:
    outline = code("def f(a):\n    return 1\n" * 220_000, read_of("a.py"), 6000)
    assert outline is not None and len(outline) <= 6000


@given(st.text(max_size=400), st.sampled_from(sorted(SOURCES)), st.integers(0, 500))
def test_whatever_comes_in_out_comes_none_or_a_text_within_the_limit(text: str, path: str, limit: int) -> None:
    for given_text in (text, SOURCES[path][0].replace("\n", "\r\n") + text, numbered(text)):
        outline = code(given_text, read_of(path), limit)
        assert outline is None or (0 < len(outline) <= limit)
        assert outline == code(given_text, read_of(path), limit)
        (outline or "").encode()
