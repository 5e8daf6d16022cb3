"""Real runtimes through the real proxy: ``python -m tests.e2e [RUNTIME …]`` (``make e2e``).

The clients are installed from npm into ``.e2e/`` at the versions that were tested. Each runs in a network
namespace of its own, in which nothing can be reached but the proxy and a scripted model on the loopback address,
with a home folder of its own, configured by ``connect``.

============== =====================================================================
``install``     the clients and a Node that they run on
``clients``     how each is configured, started, and which tools it offers
``script``      what the model does: steps that a prompt names
``replies``     a reply in each wire format
``model``       the scripted model server, which keeps what was forwarded to it
``scenario``    what each runtime must get through, and what is checked
``inside``      one runtime's run, inside the namespace
``sandbox``     namespaces, and processes that end in time
============== =====================================================================
"""
