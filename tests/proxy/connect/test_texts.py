"""The editors of configuration texts: they set what they are told and leave every other character alone."""

import contextlib
import json
import tomllib

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from proxy.connect import json_text, toml_text, yaml_text
from proxy.connect.text import NotEditable

URL = "http://127.0.0.1:8484/v1"

JSON = [
    ("", '{\n  "env": {\n    "URL": "x"\n  }\n}\n'),
    ('{\n  "a": 1 // one\n}', '{\n  "a": 1, // one\n  "env": {\n    "URL": "x"\n  }\n}'),
    ("{}", '{\n  "env": {\n    "URL": "x"\n  }\n}'),
    (
        '{\n    // why\n    "a": 1.50, /* b */\n    "env": {\n        "KEY": "k", // mine\n    },\n}\n',
        '{\n    // why\n    "a": 1.50, /* b */\n    "env": {\n        "KEY": "k", // mine\n        "URL": "x"\n'
        "    },\n}\n",
    ),
    ('{"a": 1}', '{"a": 1, "env": {\n  "URL": "x"\n}}'),
    ("{env: {URL: 'old', other: 'it\\'s'}}", "{env: {URL: \"x\", other: 'it\\'s'}}"),
    ('{"env": {"URL": ["a", {"b": "}"}]}}', '{"env": {"URL": "x"}}'),
    ('{\r\n\t"a": 1\r\n}\r\n', '{\r\n\t"a": 1,\r\n\t"env": {\r\n\t  "URL": "x"\r\n\t}\r\n}\r\n'),
    ('\ufeff{"env": {"URL": 1}}', '\ufeff{"env": {"URL": "x"}}'),
    (
        '{"URL": "other", "env": {"a": {}}, "z": "é\\u00e9"}',
        '{"URL": "other", "env": {"a": {}, "URL": "x"}, "z": "é\\u00e9"}',
    ),
]


@pytest.mark.parametrize(("before", "after"), JSON)
def test_a_value_is_set_in_json_and_the_rest_stays(before: str, after: str) -> None:
    assert json_text.set_values(before, {("env", "URL"): "x"}) == after
    assert json_text.set_values(after, {("env", "URL"): "x"}) == after


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"a" 1}', '{"a": }', '{"env": 3}', '{"a": "x', "{} {}", "/* x", '{"a":1 "b":2}', "x"]
)
def test_what_is_no_json_object_is_left_to_the_user(text: str) -> None:
    with pytest.raises(NotEditable):
        json_text.set_values(text, {("env", "URL"): "x"})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=4), _JSON, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_any_json_object_keeps_its_other_values(data: dict[str, object], indent: int | str | None) -> None:
    data.pop("env", None)
    changed = json_text.set_values(json.dumps(data, indent=indent), {("env", "a", "URL"): URL, ("env", "b"): 1})
    assert json.loads(changed) == {**data, "env": {"a": {"URL": URL}, "b": 1}}


@given(st.text(alphabet="{}[]:,\"'\\/* \nab1", max_size=40))
def test_any_text_is_changed_or_refused(text: str) -> None:
    with contextlib.suppress(NotEditable):
        json_text.set_values(text, {("env", "URL"): "x"})


TABLE = {("model_provider",): "palimpsest", ("model_providers", "palimpsest"): {"base_url": URL, "auth": True}}

TOML = [
    ("", f'model_provider = "palimpsest"\n\n[model_providers.palimpsest]\nbase_url = "{URL}"\nauth = true\n'),
    (
        '# mine\nmodel = "m"\n\n[tools]\nx = 1 # one\n',
        '# mine\nmodel = "m"\nmodel_provider = "palimpsest"\n\n[tools]\nx = 1 # one\n\n'
        f'[model_providers.palimpsest]\nbase_url = "{URL}"\nauth = true\n',
    ),
    (
        'model_provider = "other"\n[model_providers.palimpsest] # ours\nbase_url = "old"\n\n# theirs\n[z]\n',
        f'model_provider = "palimpsest"\n[model_providers.palimpsest]\nbase_url = "{URL}"\nauth = true\n'
        "\n# theirs\n[z]\n",
    ),
    (
        "[a]\r\nb = 1",
        'model_provider = "palimpsest"\r\n\r\n[a]\r\nb = 1\r\n\r\n[model_providers.palimpsest]\r\n'
        f'base_url = "{URL}"\r\nauth = true\r\n',
    ),
    (
        "[model_providers.palimpsest]\nbase_url = 'x'\n[model_providers.palimpsest.http_headers]\na = 'b'\n",
        f'model_provider = "palimpsest"\n\n[model_providers.palimpsest]\nbase_url = "{URL}"\nauth = true\n'
        "[model_providers.palimpsest.http_headers]\na = 'b'\n",
    ),
]


@pytest.mark.parametrize(("before", "after"), TOML)
def test_keys_and_tables_are_set_in_toml_and_the_rest_stays(before: str, after: str) -> None:
    assert toml_text.set_values(before, TABLE) == after
    assert toml_text.set_values(after, TABLE) == after
    assert tomllib.loads(after)["model_provider"] == "palimpsest"


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("a = 1\n\nmodel_providers = { x = { base_url = 'x' } }\n", 3, "an inline table there: make it [model_prov"),
        ("[model_providers]\npalimpsest = {}\n", 2, "`model_providers.palimpsest` is an inline table"),
        ("[model_providers]\n\npalimpsest.base_url = 'x'\n", 3, "a dotted key"),
        ('a = 1\n"model_provider" = "x"\n', 2, "unusual"),
        ("model_providers = 5\n", 1, "no table"),
        ("[[model_providers]]\na = 1\n", 1, "a list of tables"),
        ("[model_providers . 'palimpsest']\na = 1\n", 1, "the header"),
        ('text = """\nmodel_provider = "x"\n"""\n', 0, "with certainty"),
    ],
)
def test_what_keeps_a_toml_text_from_being_changed_is_told_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(NotEditable) as told:
        toml_text.set_values(text, TABLE)
    assert told.value.line == line and why in str(told.value)


@pytest.mark.parametrize(
    "text",
    [
        "model_providers = { palimpsest = { base_url = 'x' } }\n",
        "[model_providers]\npalimpsest.base_url = 'x'\n",
        '"model_provider" = "x"\n',
        'text = """\nmodel_provider = "x"\n"""\n',
        "not toml",
    ],
)
def test_a_toml_text_that_cannot_be_changed_line_by_line_is_left_to_the_user(text: str) -> None:
    with pytest.raises(NotEditable):
        toml_text.set_values(text, TABLE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", f'openai-api-base: "{URL}"\n'),
        (
            "# mine\nmodel: x  # why\nread:\n  - a\n",
            f'# mine\nmodel: x  # why\nread:\n  - a\nopenai-api-base: "{URL}"\n',
        ),
        ("openai-api-base: http://old # why\nmodel: x", f'openai-api-base: "{URL}"\nmodel: x'),
        ("model: x", f'model: x\nopenai-api-base: "{URL}"\n'),
        ("# openai-api-base: x\r\n", f'# openai-api-base: x\r\nopenai-api-base: "{URL}"\r\n'),
    ],
)
def test_a_key_is_set_in_yaml_and_the_rest_stays(before: str, after: str) -> None:
    assert yaml_text.set_values(before, {("openai-api-base",): URL}) == after
    assert yaml.safe_load(after)["openai-api-base"] == URL


@pytest.mark.parametrize("text", ["- a\n", "a: [\n", "openai-api-base:\n  - a\n", "{a: 1}\n"])
def test_a_yaml_text_that_cannot_be_changed_line_by_line_is_left_to_the_user(text: str) -> None:
    with pytest.raises(NotEditable):
        yaml_text.set_values(text, {("openai-api-base",): URL})
