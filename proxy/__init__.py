"""The edge: HTTP, wire formats, runtimes, the way to the provider.

exchange                one request, from arrival to memory: read this first
app  edge               routes, and what lives as long as the server
caller                  who is asking: credential, runtime, project → scope
relay                   a reply passed on through a listener
wire  runtimes          one file for each wire format and each client program
upstream                bytes to the provider and back
fail_open  errors       memory failed: go on without it; our refusals in the client's own format
api  cli  connect       our own endpoints, the command line, how a runtime is pointed at us
"""
