"""Client of the interop matrix: `fastmcp`."""

from contextlib import asynccontextmanager

import mcp_types as types
from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

import steps


async def sampling(_messages, _params, _context):
    return steps.SAMPLED


async def elicitation(_message, _response_type, params, _context):
    schema = getattr(params, "requestedSchema", None) or getattr(params, "requested_schema", None)
    return ElicitResult(action="accept", content=steps.elicited(schema))


class Adapter:
    def __init__(self, client):
        self._client = client
        self.protocol = str(getattr(client.session, "protocol_version", "unknown"))

    async def tool_names(self):
        return [tool.name for tool in await self._client.list_tools()]

    async def resource_uris(self):
        return [str(item.uri) for item in await self._client.list_resources()]

    async def prompt_names(self):
        return [item.name for item in await self._client.list_prompts()]

    async def call(self, name, arguments):
        return await self._client.call_tool_mcp(name, arguments)

    async def read(self, uri):
        return await self._client.read_resource(uri)

    async def prompt(self, name, arguments):
        return await self._client.get_prompt(name, arguments)


@asynccontextmanager
async def connect(task):
    target = task["transport"]
    if target["kind"] == "http":
        transport = StreamableHttpTransport(target["url"])
    else:
        transport = StdioTransport(
            command=target["command"], args=target["args"], env=target.get("env"), keep_alive=False
        )
    root = types.Root(uri=steps.ROOT_URI, name=steps.ROOT_NAME)
    async with Client(
        transport, sampling_handler=sampling, elicitation_handler=elicitation, roots=[root]
    ) as client:
        yield Adapter(client)


if __name__ == "__main__":
    steps.run(steps.job(), connect)
