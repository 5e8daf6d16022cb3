"""The least that a relay in this language can do, as a measure: bytes there, bytes back, nothing read.

python -m tests.bench.bare_relay PORT UPSTREAM [STALLS]
"""

import sys

import aiohttp
from aiohttp import web

CLIENT = web.AppKey("client", aiohttp.ClientSession)
OURS = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding"}


def make_app(upstream: str) -> web.Application:
    """The relay before an upstream."""

    async def relay(request: web.Request) -> web.StreamResponse:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in OURS}
        body = await request.read()
        url = upstream + request.raw_path
        async with request.app[CLIENT].request(request.method, url, headers=headers, data=body) as reply:
            response = web.StreamResponse(status=reply.status, headers={"Content-Type": reply.content_type})
            await response.prepare(request)
            async for chunk in reply.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    async def client(app: web.Application):  # type: ignore[no-untyped-def]
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
            app[CLIENT] = session
            yield

    app = web.Application(client_max_size=2**30)
    app.cleanup_ctx.append(client)
    app.router.add_route("*", "/{path:.*}", relay)
    return app


if __name__ == "__main__":
    if len(sys.argv) > 3:
        from tests.bench.stalls import watch

        watch(sys.argv[3])
    web.run_app(make_app(sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]), access_log=None, print=None)
