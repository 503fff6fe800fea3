// Client of the interop matrix: TypeScript client 2.x, mode "legacy" or "auto".
import { answers, capabilities, job, load, run } from './steps.mjs';

const task = job();
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');

async function transport() {
  const { kind, url, command, args, env } = task.transport;
  if (kind === 'http') return new StreamableHTTPClientTransport(new URL(url));
  const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
  return new StdioClientTransport({ command, args, env, stderr: 'inherit' });
}

await run(task, async () => {
  const client = new Client(
    { name: `interop-ts2-${task.mode}`, version: '1' },
    { capabilities, versionNegotiation: { mode: task.mode } },
  );
  client.setRequestHandler('sampling/createMessage', async () => answers.sampling());
  client.setRequestHandler('elicitation/create', async (request) => answers.elicitation(request.params));
  client.setRequestHandler('roots/list', async () => answers.roots());
  await client.connect(await transport());
  return {
    protocol: client.getNegotiatedProtocolVersion(),
    listTools: (page) => client.listTools(page),
    listResources: (page) => client.listResources(page),
    listPrompts: (page) => client.listPrompts(page),
    callTool: (name, args) => client.callTool({ name, arguments: args }),
    readResource: (uri) => client.readResource({ uri }),
    getPrompt: (name, args) => client.getPrompt({ name, arguments: args }),
    close: () => client.close(),
  };
});
