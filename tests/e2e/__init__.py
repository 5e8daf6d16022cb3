"""Real runtimes through the real proxy: ``python -m tests.e2e [RUNTIME | SCENARIO …]`` (``make e2e``).

The clients are installed from npm into ``.e2e/`` at the versions that were tested. Each runs in a network
namespace of its own, in which nothing can be reached but the proxy and a scripted model on the loopback address,
with a home folder of its own, configured by ``connect``.

============== =====================================================================
``install``     the clients and a Node that they run on
``clients``     how each is configured, started, and which tools it offers
``script``      what the model does: steps that a prompt names
``walk``        the same where parts of a session have left the request
``replies``     a reply in each wire format
``usage``       what the model reports of a request: its size, and what of it was cached
``compaction``  how a client asks for its session's summary
``model``       the scripted model server, which keeps what was forwarded to it
``stage``       what every scenario stands on: the proxy, a client's turns, checks
``scenarios``   all of them, by name:
``once``        ``once``, for clients that are slow: one side of each of the others, in five turns
``scenario``    ``turns``: a session, its faults, and what it taught
``asking``      ``asking``: memory's tools, called in the middle of a reply
``weeks``       ``weeks``: a failure and its fix, then the same failure long after
``errands``     ``errands``: sub-agents, and what is kept of them
``branches``    ``branches``: what is learnt on branches that are merged, reverted, dropped
``long``        ``unshed`` and ``long``: what passes a client's threshold, without shedding and with it
``recorded``    ``recorded``, where it is named: what a client sends, made neutral for the tests
``neutral``     how that is done
``tap``         what a client itself sent, before memory added to it
``prefixes``    what two requests of a session share: as they were sent, and as they were forwarded
``material``    the files that fill a window
``tried``       what each can do, as a table in the docs
``inside``      one scenario with one client, inside the namespace
``timing``      how long memory took, as it is told in the end
``browser``     by itself (``python -m tests.e2e.browser``, ``make browser``): what web pages can do to us
``sandbox``     namespaces, and processes that end in time
============== =====================================================================
"""
