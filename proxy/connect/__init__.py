"""How to point a runtime at us: what to write where, shown before it is written, and undone to the byte.

============== ==============================================================================
``plan``        the nouns: a plan, its changes of files, the address that a runtime is given
``guides``      one guide for each runtime: its file, its keys, what its user should know
``windows``     what keeps a runtime from compacting by itself
``mcp``         how a runtime is told of our MCP server
``status_line`` how a runtime is told to show how memory stands
``launch``      how a client is pointed at us for a single run
``machine``     what is on this machine: folders, environment, logins
``json_text`` ``toml_text`` ``yaml_text``
                set a value in a configuration's text, leaving comments and all else as it is
``toml_obstacle`` the line of a TOML text that keeps a value from being set
``carry_out``   write a plan, keep what was there, and put it back
============== ==============================================================================
"""

from __future__ import annotations

from proxy.connect.file_edits import (
    FileChangedSince,
    FilePreview,
    carry_out,
    connected_files,
    preview,
    undo,
    undo_preview,
)
from proxy.connect.guides import GUIDES, plan
from proxy.connect.launch import LAUNCHES, ONLY_CONNECTED, Launch, NotLaunchable, launch
from proxy.connect.machine import Machine, look
from proxy.connect.mcp import mcp_runtimes, writes_mcp
from proxy.connect.plan import Address, ConfigChange, ConnectPlan, NotEditable
from proxy.connect.status_line import has_status_line, with_status_line

__all__ = [
    "GUIDES",
    "LAUNCHES",
    "ONLY_CONNECTED",
    "Address",
    "ConfigChange",
    "ConnectPlan",
    "FileChangedSince",
    "FilePreview",
    "Launch",
    "Machine",
    "NotEditable",
    "NotLaunchable",
    "carry_out",
    "connected_files",
    "has_status_line",
    "launch",
    "look",
    "mcp_runtimes",
    "plan",
    "preview",
    "undo",
    "undo_preview",
    "with_status_line",
    "writes_mcp",
]
