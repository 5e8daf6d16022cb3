"""A provider in a process of its own that answers every request with the SHA-256 of the body that reached it.

python -m tests.bench.echo PORT
"""

import asyncio
import hashlib
import sys

from aiohttp import web

NAME = "x-bench-sha256"


def make_app() -> web.Application:
    """The provider."""

    async def answer(request: web.Request) -> web.Response:
        sum_of = hashlib.sha256()
        async for piece in request.content.iter_any():
            sum_of.update(piece)
        message = {"role": "assistant", "content": "As decided."}
        told = {"id": "c1", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}
        return web.json_response(told, headers={NAME: sum_of.hexdigest()})

    app = web.Application(client_max_size=2**30)
    app.router.add_route("*", r"/{path:[\s\S]*}", answer)
    return app


async def serve(port: int) -> None:
    """Answer until the process is ended. Bodies are left compressed, as they came."""
    runner = web.AppRunner(
        make_app(), auto_decompress=False, access_log=None, max_line_size=2**17, max_field_size=2**17
    )
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
