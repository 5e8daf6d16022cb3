"""What a transparent proxy of model APIs must do, as cases that can be run against any proxy.

    case                    a case: its id, what it asks for, why, and where that is written
    formats                 the five APIs, as far as the cases need them
    upstream                the provider behind the proxy, which records what comes and answers as it is told
    bench                   both ends of one run
    socket_client           the same over a WebSocket
    bodies, headers, streams, replies, refusals, sessions, paths, sockets
                            the cases
    run                     runs cases, one after the other, and tells what came of it, as a table and as JSON

It knows nothing else of this package: what is tested must not be tested by itself.
"""
