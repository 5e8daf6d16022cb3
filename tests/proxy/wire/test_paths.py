import pytest

from proxy.wire import DIALECTS, dialect_of


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/chat/completions", "openai-chat"),
        ("/chat/completions", "openai-chat"),
        ("/openai/deployments/gpt/chat/completions", "openai-chat"),
        ("/v1/responses", "openai-responses"),
        ("/openai/v1/responses/", "openai-responses"),
        ("/v1/messages", "anthropic-messages"),
        ("/messages", "anthropic-messages"),
        ("/u/ann/p/shop/v1/messages", "anthropic-messages"),
        ("/api/chat", "ollama-chat"),
        ("/v1beta/models/gemini-3-pro:generateContent", "gemini-generate"),
        ("/v1/models/gemini-3-pro:streamGenerateContent", "gemini-generate"),
        ("/v1beta/models/gemini-3-pro%3AgenerateContent", "gemini-generate"),
        ("/v1beta/tunedModels/mine:streamGenerateContent", "gemini-generate"),
    ],
)
def test_a_dialect_is_known_by_the_end_of_its_path(path: str, name: str) -> None:
    dialect = dialect_of(path)
    assert dialect is not None
    assert dialect.name == name


@pytest.mark.parametrize(
    "path",
    [
        *("/v1/messages/count_tokens", "/v1/messages/batches", "/v1/responses/resp_1"),
        *(
            "/v1/models",
            "/v1/completions",
            "/v1/embeddings",
            "/",
            "",
            "/v1/threads/thread_1/messages",
            "/v1/mymessages",
            "/v1beta/models/gemini-3-pro:countTokens",
            "/v1beta/models/gemini-3-pro:embedContent",
            "/v1beta/models",
        ),
    ],
)
def test_other_paths_are_no_dialect(path: str) -> None:
    assert dialect_of(path) is None


def test_every_dialect_stands_under_its_own_paths() -> None:
    assert {path: dialect.name for path, dialect in DIALECTS.items()} == {
        "/chat/completions": "openai-chat",
        "/responses": "openai-responses",
        "/responses/compact": "openai-responses",
        "/messages": "anthropic-messages",
        ":generateContent": "gemini-generate",
        ":streamGenerateContent": "gemini-generate",
        "/api/chat": "ollama-chat",
    }
