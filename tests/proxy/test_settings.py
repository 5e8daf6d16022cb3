"""Settings: where each value comes from, and every fault told at once."""

from pathlib import Path

import pytest

from proxy.cli.options import loaded as loaded_in
from proxy.setting_sources import SettingsError, choose_for_home, data_folder
from proxy.settings import load


def test_defaults_need_no_file() -> None:
    loaded = load()
    assert loaded.settings.server.host == "127.0.0.1"
    assert loaded.settings.server.port == 8484
    assert {source for _, _, source in loaded.rows()} == {"default"}


def test_each_source_stands_over_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("server: {port: 1000, host: localhost}\nmemory: {recall: {tokens: 10}}\n")
    loaded = load(file, {"PALIMPSEST__SERVER__PORT": "2000", "PALIMPSEST_HOME": str(tmp_path)}, {"server.port": 3000})
    assert loaded.settings.server.port == 3000
    assert loaded.settings.server.host == "localhost"
    assert loaded.settings.memory.recall.tokens == 10
    assert loaded.settings.home == tmp_path
    sources = {key: source for key, _, source in loaded.rows()}
    assert sources["server.port"] == "option --port"
    assert sources["home"] == "PALIMPSEST_HOME"
    assert sources["memory.recall.tokens"] == str(file)
    assert sources["memory.page.tokens"] == "default"


def test_the_short_upstream_variable_replaces_both_providers() -> None:
    settings = load(environment={"PALIMPSEST_UPSTREAM": "http://127.0.0.1:9/v1/"}).settings
    assert settings.upstream.url == "http://127.0.0.1:9/v1"


def test_all_faults_are_told_at_once_with_key_value_and_source(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("server: {port: 99999}\nmemry: 1\nmemory: {mode: sometimes}\nupstream: {openai: 'ftp://x'}\n")
    with pytest.raises(SettingsError) as caught:
        load(file)
    told = "\n".join(caught.value.faults)
    assert len(caught.value.faults) == 4
    assert "server.port is 99999" in told and "65535" in told and str(file) in told
    assert "memry" in told and "no such setting" in told
    assert "memory.mode is 'sometimes'" in told and "read-only" in told
    assert "upstream.openai is 'ftp://x'" in told


def test_a_value_where_keys_belong_is_told_in_words() -> None:
    with pytest.raises(SettingsError, match=r"memory is 5.*keys with values are expected below it"):
        load(options={"memory": 5})


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "\x00"])
def test_a_file_that_is_no_settings_is_told_by_its_name(tmp_path: Path, text: str) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text(text)
    with pytest.raises(SettingsError, match=r"broken\.yaml"):
        load(file)


def test_a_key_that_stands_twice_is_told_with_both_lines(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("memory: {mode: off}\nserver:\n  port: 1\n  port: 2\nmemory:\n  page: {tokens: 1}\n")
    with pytest.raises(SettingsError) as caught:
        load(file)
    told = "\n".join(caught.value.faults)
    assert "memory stands twice, in lines 1 and 5" in told and "port stands twice, in lines 3 and 4" in told
    file.write_text("projects: {a: {memory: off}, b: {memory: off}}\ncredentials: []\n")
    assert load(file).settings.projects.keys() == {"a", "b"}


def test_a_missing_file_is_told() -> None:
    with pytest.raises(SettingsError, match="no such file"):
        load(Path("/nowhere/at/all.yaml"))


def test_a_folder_or_a_broken_link_in_the_files_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").mkdir()
    with pytest.raises(SettingsError, match=r"config\.yaml: it is a folder, where a file"):
        loaded_in(home=tmp_path)
    (tmp_path / "config.yaml").rmdir()
    (tmp_path / "config.yaml").symlink_to(tmp_path / "gone.yaml")
    with pytest.raises(SettingsError, match=r"config\.yaml: there is no such file \(it is a link"):
        loaded_in(home=tmp_path)


def test_a_public_address_needs_a_key() -> None:
    with pytest.raises(SettingsError, match="credentials"):
        load(options={"server.host": "0.0.0.0"})
    entry = {"key": "long enough", "user": "ada"}
    assert load(options={"server.host": "0.0.0.0", "credentials": [entry]}).settings.credentials[0].user == "ada"


def test_a_key_is_never_shown() -> None:
    entry = {"key": "a-very-secret-key", "user": "ada"}
    url = "postgresql://ada:a-third-one@db/palimpsest"
    options = {"credentials": [entry], "memory.qdrant.api_key": "another-secret", "memory.postgresql.url": url}
    loaded = load(options=options)
    shown = repr(list(loaded.rows())) + repr(loaded.settings)
    assert "a-very-secret-key" not in shown
    assert "another-secret" not in shown
    assert "a-third-one" not in shown


@pytest.mark.parametrize("key", ["memory.postgresql", "memory.postgresql.url.name", "postgresql"])
def test_the_address_of_a_database_is_not_shown_either_where_it_is_put_wrongly(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(options={key: "postgresql://ada:a-secret@db/palimpsest"})
    assert "a-secret" not in str(caught.value)


def test_a_value_under_a_value_is_a_fault() -> None:
    with pytest.raises(SettingsError, match="single value"):
        load(environment={"PALIMPSEST__USER": "ada", "PALIMPSEST__USER__NAME": "x"})


def test_the_default_home_is_in_the_persons_own_folder() -> None:
    assert load().settings.home == Path.home() / ".palimpsest"


def test_a_projects_name_may_have_dots(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("projects: {github.com/acme/site: {memory: 'off'}}\n")
    loaded = load(file)
    assert loaded.settings.projects["github.com/acme/site"].memory == "off"
    assert {key: source for key, _, source in loaded.rows()}["projects"] == str(file)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PALIMPSEST_MEMORY_MODE", "PALIMPSEST__MEMORY__MODE"),
        ("PALIMPSEST_MEMORY__MODE", "PALIMPSEST__MEMORY__MODE"),
        ("PALIMPSEST_MEMMODE", "PALIMPSEST__MEMORY__MODE"),
        ("PALIMPSEST_MODE", "PALIMPSEST__MEMORY__MODE"),
        ("palimpsest_memory__mode", "PALIMPSEST__MEMORY__MODE"),
        ("palimpsest__memory__mode", "PALIMPSEST__MEMORY__MODE"),
        ("Palimpsest_Home", "PALIMPSEST_HOME"),
        ("PALIMPSEST_HOEM", "PALIMPSEST_HOME"),
        ("PALIMPSEST_UPSTREAMS", "PALIMPSEST_UPSTREAM"),
        ("PALIMPSEST_UPSTREAM__OPENAI", "PALIMPSEST__UPSTREAM__OPENAI"),
        ("PALIMPSEST_SERVER_PORT", "PALIMPSEST__SERVER__PORT"),
        ("PALIMPSEST_ORG", "PALIMPSEST__ORG"),
        ("PALIMPSEST_LATER", ""),
    ],
)
def test_a_variable_that_begins_as_ours_and_is_none_is_a_fault_with_the_nearest_there_is(name: str, meant: str) -> None:
    with pytest.raises(SettingsError) as fault:
        load(environment={name: "8484", "PALIMPSEST__NOT": "1", "PALIMPSEST_USER": "ada"})
    told, other = fault.value.faults
    assert told.startswith(f"{name}: there is no such variable") and "there is no such setting" in other
    assert (f"is {meant} meant?" in told) if meant else ("meant" not in told and "PALIMPSEST__MEMORY__MODE" in told)


def test_a_key_that_there_is_not_is_told_with_the_nearest_in_the_form_of_its_source(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("memory: {modee: off}\n")
    with pytest.raises(SettingsError, match=r"no such setting \(is memory.mode meant\?\)"):
        load(file)
    with pytest.raises(SettingsError, match=r"no such setting \(is PALIMPSEST__SERVER__PORT meant\?\)"):
        load(environment={"PALIMPSEST__SERVER__PROT": "1"})


def test_what_a_cluster_a_container_and_our_tests_set_is_no_slip() -> None:
    load(
        environment={
            "PALIMPSEST_PORT": "tcp://10.0.0.7:8484",
            "PALIMPSEST_SERVICE_HOST": "10.0.0.7",
            "PALIMPSEST_SERVICE_PORT_HTTP": "8484",
            "PALIMPSEST_PORT_8484_TCP_PORT": "8484",
            "PALIMPSEST_SERVER_PORT": "tcp://10.0.0.7:8484",
            "PALIMPSEST_SERVER_PORT_8484_TCP_ADDR": "10.0.0.7",
            "PALIMPSEST_KEY": "k",
            "PALIMPSEST_USER": "ada",
            "PALIMPSEST_CONFIG": "/etc/palimpsest.yaml",
            "PALIMPSEST_TEST_MINILM": "/models",
        }
    )


def test_a_folder_is_not_looked_for_past_a_variable_that_is_no_one(tmp_path: Path) -> None:
    assert data_folder(None, {"PALIMPSEST_HOME": str(tmp_path)}, None) == tmp_path
    assert data_folder(None, {"PALIMPSEST_HOEM": str(tmp_path)}, None) is None


@pytest.mark.parametrize("said", ["off", "'off'", "false"])
def test_off_is_a_word_however_yaml_reads_it(tmp_path: Path, said: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"memory: {{mode: {said}}}\nprojects: {{a: {{memory: {said}}}}}\n")
    loaded = load(file, {"PALIMPSEST__MEMORY__MODE": said})
    assert loaded.settings.memory.mode == loaded.settings.projects["a"].memory == "off"


def test_the_embedder_that_was_changed_to_stands_over_the_file_and_below_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(f"home: {tmp_path}\nmemory: {{embedder: static}}\n")
    choose_for_home(tmp_path, "minilm")
    loaded = load(file)
    assert loaded.settings.memory.embedder == "minilm"
    assert loaded.sources["memory.embedder"] == "palimpsest embedder use"
    said = {"PALIMPSEST__MEMORY__EMBEDDER": "litellm:x"}
    assert load(file, said).settings.memory.embedder == "litellm:x"


def test_a_models_name_may_have_dots(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("memory: {windows: {gpt-5.1: 100000, 'local-*': 8192}}\n")
    assert load(file).settings.memory.windows == {"gpt-5.1": 100_000, "local-*": 8192}


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"trim": 0.8}, r"trim \(0\.8\) must be below fold \(0\.75\)"),
        ({"target": 0.6}, r"target \(0\.6\) must be below trim \(0\.6\)"),
        ({"rotate": 0.7}, r"fold \(0\.75\) must be below rotate \(0\.7\)"),
        ({"rotate": 1.5}, r"memory\.shedding\.rotate is 1\.5"),
    ],
)
def test_the_steps_of_shedding_follow_each_other(said: dict[str, float], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load(options={f"memory.shedding.{key}": value for key, value in said.items()})


@pytest.mark.parametrize(
    ("route", "told"),
    [
        ({"model": "m"}, "needs a url, a bridge, or both"),
        ({"url": "http://h", "key_from": "KEY"}, "key_from without a bridge"),
        ({"bridge": "no-provider"}, "should match pattern"),
        ({"bridge": "anthropic/*", "key_from": "sk-a-key-itself"}, "should match pattern"),
    ],
)
def test_a_route_must_lead_somewhere(route: dict[str, str], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load(options={"upstream.routes": [route]})
