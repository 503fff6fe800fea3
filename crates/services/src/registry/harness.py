import asyncio
import inspect
import json
import os
import sys

tool = json.loads(os.environ.pop("SWITCHBOARD_TOOL"))
output = sys.stdout
# What the tool prints must not be taken for messages.
sys.stdout = sys.stderr
names = {"__name__": "tool"}
try:
    exec(compile(tool["code"], "tool.py", "exec"), names)
    run = names["run"]
    if not callable(run):
        raise TypeError("`run` is no function")
except KeyError:
    sys.exit("the code defines no function `run`")
except BaseException as error:
    sys.exit(f"the code cannot be loaded: {type(error).__name__}: {error}")


def call(arguments):
    try:
        value = run(arguments)
        if inspect.isawaitable(value):
            async def wait(value=value):
                return await value
            value = asyncio.run(wait())
        text = value if isinstance(value, str) else json.dumps(value)
        result = {"content": [{"type": "text", "text": text}]}
        if isinstance(value, dict):
            result["structuredContent"] = value
        return result
    except Exception as error:
        lines = [frame.lineno for frame in inspect.getinnerframes(error.__traceback__) if frame.filename == "tool.py"]
        place = f" (line {lines[-1]})" if lines else ""
        return {"content": [{"type": "text", "text": f"{type(error).__name__}: {error}{place}"}], "isError": True}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-11-25"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": tool["name"], "version": "1"},
        }
    if method == "tools/list":
        shown = {key: tool[key] for key in ("name", "description", "inputSchema")}
        return {"tools": [shown]}
    if method == "tools/call":
        return call(params.get("arguments") or {})
    if method == "ping":
        return {}
    return None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if result is None:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    else:
        reply["result"] = result
    output.write(json.dumps(reply) + "\n")
    output.flush()
