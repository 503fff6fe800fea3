"""What the Python clients of the matrix share: the job, its steps, one JSON line.

It knows nothing about a particular SDK; the caller passes an adapter object with
the operations used in `_run_step`.
"""

import asyncio
import json
import os
import sys
import time
import traceback
from urllib.parse import unquote

# Answers to the requests a server may send; the harness looks for these words.
SAMPLED = "sampled by the interop client"
ELICITED = {"name": "Interop Tester"}


def elicited(schema):
    """A question of the gate wants a decision, those of servers a name."""
    if not isinstance(schema, dict):
        schema = {}
    return {"decision": "once"} if "decision" in schema.get("properties", {}) else ELICITED
ROOT_URI = "file:///interop/root"
ROOT_NAME = "interop-root"


def job():
    text = sys.argv[1] if len(sys.argv) > 1 else os.environ["INTEROP_JOB"]
    return json.loads(text)


def _plain(value):
    """JSON as the wire would show it, whatever model class the SDK returned."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _same_resource(uris, wanted):
    """Behind a gateway with several servers a resource may carry another address."""
    if wanted in uris:
        return wanted
    return next((uri for uri in uris if unquote(wanted) in unquote(uri)), wanted)


async def _run_step(client, step):
    op = step["op"]
    if op == "list_tools":
        return await client.tool_names()
    if op == "list_resources":
        return await client.resource_uris()
    if op == "list_prompts":
        return await client.prompt_names()
    if op == "call":
        return _plain(await client.call(step["name"], step.get("arguments", {})))
    if op == "read":
        return _plain(await client.read(_same_resource(await client.resource_uris(), step["uri"])))
    if op == "prompt":
        return _plain(await client.prompt(step["name"], step.get("arguments", {})))
    raise ValueError(f"unknown operation {op}")


async def _run_steps(client, task, report):
    report["protocol"] = client.protocol
    for step in task["steps"]:
        started = time.monotonic()
        entry = {"id": step["id"], "ok": True, "value": None, "error": None}
        try:
            limit = task.get("step_ms", 20000) / 1000
            entry["value"] = await asyncio.wait_for(_run_step(client, step), limit)
        except Exception as error:
            entry["ok"] = False
            entry["error"] = f"{type(error).__name__}: {error}"
        entry["ms"] = int((time.monotonic() - started) * 1000)
        report["results"].append(entry)


def run(task, connect):
    """`connect` is an async context manager that yields the adapter."""
    report = {"protocol": None, "error": None, "results": []}

    async def main():
        async with connect(task) as client:
            await _run_steps(client, task, report)
            print(json.dumps(report), flush=True)

    try:
        asyncio.run(asyncio.wait_for(main(), task.get("total_ms", 150000) / 1000))
    except BaseException:
        if len(report["results"]) < len(task["steps"]):
            report["error"] = "connecting: " + traceback.format_exc()
            print(json.dumps(report), flush=True)
            os._exit(1)
    os._exit(0)
