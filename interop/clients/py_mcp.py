"""Client of the interop matrix: Python `mcp` 2.x, in its default mode (auto)."""

from contextlib import asynccontextmanager

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

import steps


async def sampling(_context, _params):
    content = types.TextContent(type="text", text=steps.SAMPLED)
    return types.CreateMessageResult(role="assistant", model="interop-model", content=content)


async def elicitation(_context, params):
    schema = getattr(params, "requestedSchema", None) or getattr(params, "requested_schema", None)
    return types.ElicitResult(action="accept", content=steps.elicited(schema))


async def roots(_context):
    return types.ListRootsResult(roots=[types.Root(uri=steps.ROOT_URI, name=steps.ROOT_NAME)])


class Adapter:
    def __init__(self, client):
        self._client = client
        self.protocol = client.protocol_version

    async def _all(self, fetch, key):
        found, cursor = [], None
        for _ in range(100):
            page = await fetch(cursor=cursor)
            found += getattr(page, key)
            cursor = page.next_cursor
            if cursor is None:
                return found
        raise RuntimeError("the list never ended")

    async def tool_names(self):
        return [tool.name for tool in await self._all(self._client.list_tools, "tools")]

    async def resource_uris(self):
        return [str(item.uri) for item in await self._all(self._client.list_resources, "resources")]

    async def prompt_names(self):
        return [item.name for item in await self._all(self._client.list_prompts, "prompts")]

    async def call(self, name, arguments):
        return await self._client.call_tool(name, arguments)

    async def read(self, uri):
        return await self._client.read_resource(uri)

    async def prompt(self, name, arguments):
        return await self._client.get_prompt(name, arguments)


@asynccontextmanager
async def connect(task):
    target = task["transport"]
    if target["kind"] == "http":
        server = target["url"]
    else:
        server = stdio_client(
            StdioServerParameters(command=target["command"], args=target["args"], env=target.get("env"))
        )
    async with Client(
        server,
        mode=task.get("mode") or "auto",
        sampling_callback=sampling,
        elicitation_callback=elicitation,
        list_roots_callback=roots,
    ) as client:
        yield Adapter(client)


if __name__ == "__main__":
    steps.run(steps.job(), connect)
