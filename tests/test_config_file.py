"""config/default.yaml says the same as the code: every key, its default, and a line of meaning."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

from docs.generate.settings import comments
from proxy.settings import Credential, Project, Settings, UpstreamRoute, load

FILE = Path(__file__).parent.parent / "config" / "default.yaml"


def leaves(model: BaseModel, at: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from leaves(value, f"{at}{name}.")
        else:
            yield f"{at}{name}", value


def test_every_setting_stands_in_the_file_and_nothing_else_does() -> None:
    assert set(comments()) == {key for key, _ in leaves(Settings())}


def test_each_has_a_line_of_meaning() -> None:
    assert [key for key, comment in comments().items() if len(comment) < 20] == []


def test_the_defaults_are_those_of_the_code() -> None:
    loaded = load(FILE)
    assert loaded.settings == Settings()


def test_each_written_value_has_the_type_it_is_read_as() -> None:
    """What stands there is the value itself and not something that is turned into it."""
    written = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    for key, value in leaves(Settings()):
        said: Any = written
        for step in key.split("."):
            said = said[step]
        if key == "home":
            assert Path(said).expanduser() == value
        else:
            expected = list(value) if isinstance(value, tuple) else value
            assert said == expected and (said is None or isinstance(said, bool) == isinstance(expected, bool)), key


@pytest.mark.parametrize(
    ("section", "model"), [("credentials", Credential), ("projects", Project), ("routes", UpstreamRoute)]
)
def test_what_a_list_takes_is_shown_in_an_example(section: str, model: type[BaseModel]) -> None:
    text = FILE.read_text(encoding="utf-8").split(f"\n{section}:")[0] if section != "routes" else FILE.read_text()
    assert [name for name in model.model_fields if not re.search(rf"#\s+(?:- )?{name}: ", text)] == []


def test_the_examples_are_settings_that_load(tmp_path: Path) -> None:
    """The commented examples, without their marks, are taken as they stand."""
    text = FILE.read_text(encoding="utf-8")
    example = re.compile(r"(?:^ *#   .*\n)+ *(?P<key>routes|credentials|projects): .*\n", re.MULTILINE)
    for match in example.finditer(text):
        lines = [line.strip().removeprefix("#") for line in match[0].splitlines()[:-1]]
        section = f"{match['key']}:\n" + "\n".join(lines) + "\n"
        if match["key"] == "routes":
            section = "upstream:\n" + "".join(f"  {line}\n" for line in section.splitlines())
        file = tmp_path / "example.yaml"
        file.write_text(section)
        assert dict(load(file).sources) != {}
    assert len(example.findall(text)) == 3
