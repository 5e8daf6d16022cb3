"""Requests in the shapes that agent runtimes send, written by hand: the spelling is part of the test."""

from __future__ import annotations

CODEX = rb"""{"model":"gpt-x","input":[
 {"type":"message","role":"developer","id":"msg_01","content":[{"type":"input_text","text":"You are a coding agent."}]},
 {"type":"message","role":"user","id":"msg_02","content":[
   {"type":"input_text","text":"<environment_context>\n<cwd>/home/a/shop</cwd>\n</environment_context>"}]},
 {"type":"message","role":"user","id":"msg_03","content":[{"type":"input_text","text":"Why does the build fail?"}],
   "internal_chat_message_metadata_passthrough":{"turn_id":"t1","create_time":1763636353.120}},
 {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Look at the log."}],"content":null,
   "encrypted_content":"gAAAA=="},
 {"type":"function_call","id":"fc_1","call_id":"call_1","name":"exec_command",
   "arguments":"{\"cmd\": \"make\", \"n\": 1e0}"},
 {"type":"custom_tool_call","id":"ctc_1","call_id":"call_2","name":"apply_patch","status":"completed",
   "input":"*** Begin Patch\n*** End Patch"},
 {"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"make: *** [all] Error 2"},
 {"type":"custom_tool_call_output","call_id":"call_2","output":[{"type":"input_text","text":"Success."},
   {"type":"input_image","image_url":"data:image/png;base64,iVBO"}]},
 {"type":"message","role":"assistant","id":"msg_04","phase":"final","content":[
   {"type":"output_text","text":"A header is missing.","annotations":[],"logprobs":[]}]},
 {"type":"compaction","encrypted_content":"opaque"},
 {"type":"agent_message","author":"child","content":[{"type":"encrypted_content","encrypted_content":"x"}]},
 {"role":"user","content":"Then add it."}],
"tools":[{"type":"function","name":"exec_command","strict":false,"parameters":{"type":"object"}},
 {"type":"namespace","name":"multi_agent_v1","tools":[{"type":"function","name":"spawn_agent"}]},
 {"type":"web_search"},{"type":"custom","name":"apply_patch"}],
"tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"medium","summary":"auto"},"store":false,
"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"s1",
"client_metadata":{"thread_id":"t","big":123456789012345678901234567890,"one":1e0,"one":1.0}}"""

CLAUDE = rb"""{"model":"claude-x","max_tokens":32000,"stream":true,
"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1;"},
 {"type":"text","text":"You are Claude Code.","cache_control":{"type":"ephemeral"}},
 {"type":"text","text":"Be short.","cache_control":{"type":"ephemeral","ttl":"1h"}}],
"messages":[
 {"role":"user","content":[{"type":"text","text":"<system-reminder>\nToday is Friday.\n</system-reminder>"},
   {"type":"text","text":"What is in the picture?"}]},
 {"role":"assistant","content":[{"type":"thinking","thinking":"I have to read it.","signature":"EqQB=="},
   {"type":"text","text":"I read it."},
   {"type":"tool_use","id":"toolu_1","name":"Read","input":{"z": 1.0,"file_path":"/a.png","n":1e0}},
   {"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"ls"}}]},
 {"role":"user","content":[
   {"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"image","source":{"type":"base64",
     "media_type":"image/png","data":"iVBO"}},{"type":"text","text":"a.png, 3 kB"}]},
   {"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":"ls: not found",
     "cache_control":{"type":"ephemeral"}}]},
 {"role":"assistant","content":[{"type":"redacted_thinking","data":"ENC"},
   {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"cats"}},
   {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},
   {"type":"text","text":"A cat."}]},
 {"role":"user","content":"Thanks! What breed?"}],
"tools":[{"name":"Read","input_schema":{"type":"object"}},{"type":"web_search_20250305","name":"web_search"}],
"thinking":{"type":"enabled","budget_tokens":31999},"metadata":{"user_id":"{\"session_id\":\"u\"}"},
"context_management":{"edits":[]}}"""

OPENCODE = rb"""{"model":"m","max_tokens":8000,"messages":[
 {"role":"system","content":"You are opencode."},
 {"role":"user","content":"Fix the test."},
 {"role":"assistant","content":null,"reasoning_content":"First I look.","tool_calls":[
   {"id":"call_a","type":"function","function":{"name":"read","arguments":"{\"filePath\":\"a.py\"}"}},
   {"id":"call_b","type":"function","function":{"name":"bash","arguments":"{\"command\":\"pytest\"}"}}]},
 {"role":"tool","tool_call_id":"call_a","content":"x = 1"},
 {"role":"tool","tool_call_id":"call_b","content":[{"type":"text","text":"1 failed"}]},
 {"role":"assistant","content":"It expects 2."},
 {"role":"user","content":[{"type":"text","text":"Here is a screenshot."},
   {"type":"image_url","image_url":{"url":"data:image/png;base64,iVBO","detail":"low"}},
   {"type":"input_audio","input_audio":{"data":"UklG","format":"wav"}}]}],
"tools":[{"type":"function","function":{"name":"read","parameters":{}}},{"type":"custom","custom":{"name":"grep"}}],
"tool_choice":"auto","stream":true,"stream_options":{"include_usage":true},"seed":12345678901234567890,
"temperature":1e0,"temperature":1.0,"x_unknown":{"b":1,"a":[ ]}}"""

QWEN = rb"""{"model":"qwen3-coder","messages":[{"role":"system","content":"You are Qwen Code."},
 {"role":"user","content":[{"type":"text","text":"<system-reminder>\nDate\n</system-reminder>"},
   {"type":"text","text":"Guten Tag, gr\u00fc\u00df dich \ud83d"}]},
 {"role":"assistant","content":"Hello.","reasoning_content":"A greeting."},
 {"role":"user","content":[{"type":"text","text":"Go on."}]}],"stream":true}"""

GEMINI_CLI = rb"""{"contents":[
 {"parts":[{"text":"<session_context>\nThis is the Gemini CLI.\n</session_context>"},
   {"text":"What is in the picture?"}],"role":"user"},
 {"role":"model","parts":[{"text":"I look.","thought":true},
   {"functionCall":{"id":"read_1","args":{"z": 1.0,"path":"/a.png","n":1e0},"name":"read_file"},
    "thoughtSignature":"EqQB+/=="},
   {"functionCall":{"name":"bash","args":{}}}]},
 {"role":"user","parts":[{"functionResponse":{"id":"read_1","name":"read_file","response":{"output":"a.png, 3 kB"},
   "parts":[{"inlineData":{"mimeType":"image/png","data":"iVBO"}}]}},
   {"function_response":{"name":"bash","response":{"error":"ls: not found"}}}]},
 {"role":"model","parts":[{"text":"A cat."},{"text":"","thoughtSignature":"EqQC"}]},
 {"role":"user","parts":[{"text":"Draw \ud83d one"}]}],
 "systemInstruction":{"role":"user","parts":[{"text":"You are Gemini CLI."}]},
 "tools":[{"functionDeclarations":[{"name":"read_file","parametersJsonSchema":{"type":"object"}},{"name":"bash"}]}],
 "generationConfig":{"temperature":1,"maxOutputTokens":8192,"thinkingConfig":{"includeThoughts":true}}}"""

OLLAMA = rb"""{"model":"qwen3:8b","messages":[{"role":"system","content":"You help."},
 {"role":"user","content":"What is in the picture?","images":["iVBO"]},
 {"role":"assistant","content":"","thinking":"I look.","tool_calls":[
   {"id":"call_1","function":{"index":0,"name":"bash","arguments":{"z": 1.0,"cmd":"ls","n":1e0}}}]},
 {"role":"tool","tool_name":"bash","tool_call_id":"call_1","content":"ls: not found"},
 {"role":"assistant","content":"A cat."},{"role":"user","content":"Draw \ud83d one"}],
 "tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}],
 "options":{"num_ctx":8192,"temperature":0.0},"keep_alive":"5m"}"""

BY_PATH = {
    "/v1/chat/completions": (OPENCODE, QWEN),
    "/v1/responses": (CODEX, rb'{"model":"gpt-x","input":"Say hi","previous_response_id":"resp_1"}'),
    "/v1/messages": (CLAUDE,),
    "/api/chat": (OLLAMA,),
    "/v1beta/models/gemini-3-pro:streamGenerateContent": (GEMINI_CLI,),
}
