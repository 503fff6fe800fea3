// Client of the interop matrix: TypeScript SDK 1.x (initialize handshake only).
import { answers, capabilities, job, load, run } from './steps.mjs';

const task = job();
const { Client } = await load('@modelcontextprotocol/sdk/client/index.js');
const types = await load('@modelcontextprotocol/sdk/types.js');

async function transport() {
  const { kind, url, command, args, env } = task.transport;
  if (kind === 'http') {
    const { StreamableHTTPClientTransport } = await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    return new StreamableHTTPClientTransport(new URL(url));
  }
  const { StdioClientTransport } = await load('@modelcontextprotocol/sdk/client/stdio.js');
  return new StdioClientTransport({ command, args, env, stderr: 'inherit' });
}

await run(task, async () => {
  const client = new Client({ name: 'interop-ts1', version: '1' }, { capabilities });
  client.setRequestHandler(types.CreateMessageRequestSchema, async () => answers.sampling());
  client.setRequestHandler(types.ElicitRequestSchema, async (request) => answers.elicitation(request.params));
  client.setRequestHandler(types.ListRootsRequestSchema, async () => answers.roots());
  const wire = await transport();
  await client.connect(wire);
  return {
    protocol: wire.protocolVersion ?? wire._protocolVersion ?? 'initialize',
    listTools: (page) => client.listTools(page),
    listResources: (page) => client.listResources(page),
    listPrompts: (page) => client.listPrompts(page),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    close: () => client.close(),
  };
});
