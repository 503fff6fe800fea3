// A server that gets the shape of nearly everything wrong, beside one good thing of each kind. Clients built on an SDK
// refuse its lists as a whole; behind the kernel they must get what is good. No SDK here: none would let it be written.
import { createInterface } from 'node:readline';

const object = { type: 'object' };
const tools = [
  { name: 'fine', description: 'Says that it is fine', inputSchema: object },
  { name: 'blocks', inputSchema: object },
  { name: 'typeless', inputSchema: { $schema: 'http://json-schema.org/draft-07/schema#' } },
  { name: 'schemaless' },
  { name: 'null_schema', inputSchema: null },
  { name: 'text_schema', inputSchema: { type: 'string' } },
  { name: 'list_schema', inputSchema: [] },
  { name: 'php', inputSchema: { type: 'object', properties: [], required: {} } },
  { name: 'bool_property', inputSchema: { type: 'object', properties: { a: true, b: false, c: null } } },
  { name: 'text_property', inputSchema: { type: 'object', properties: { a: 'string' } } },
  { name: 'required', inputSchema: { type: 'object', required: [1] } },
  { name: 'described', description: null, title: null, inputSchema: object },
  { name: 'number', description: 5, inputSchema: object },
  { name: 'hints', inputSchema: object, annotations: { readOnlyHint: 'yes', destructiveHint: null, title: 5 } },
  { name: 'hinted', inputSchema: object, annotations: 'safe' },
  { name: 'array_output', inputSchema: object, outputSchema: { type: 'array', items: {} } },
  { name: 'null_output', inputSchema: object, outputSchema: null },
  { name: 'pattern_output', inputSchema: object, outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(?P<x>a)' } } } },
  { name: 'ref_output', inputSchema: object, outputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/nope' } } } },
  { name: 'type_output', inputSchema: object, outputSchema: { type: 'object', properties: { a: { type: 'any' } } } },
  { name: 'execution', inputSchema: object, execution: { taskSupport: 'maybe' } },
  { name: 'executed', inputSchema: object, execution: null },
  { name: 'icons', inputSchema: object, icons: [{ url: 'x' }, { src: 'y', sizes: '48x48', theme: 'blue' }] },
  { name: 'icon', inputSchema: object, icons: 'x.png' },
  { name: 'meta', inputSchema: object, _meta: [] },
  { name: 5, inputSchema: object },
  { inputSchema: object },
  'no tool',
  null,
];
const prompts = [
  { name: 'fine', arguments: [{ name: 'a' }] },
  { name: 'nulls', description: null, title: null, arguments: null },
  { name: 'texts', arguments: ['a'] },
  { name: 'nameless', arguments: [{ description: 'd' }] },
  { name: 'required', arguments: [{ name: 'a', required: 'true', description: null }] },
  { name: 'described', description: {} },
  { description: 'no name' },
];
const resources = [
  { uri: 'odd:fine', name: 'fine' },
  { uri: 'odd:nameless' },
  { uri: 'no/uri', name: 'relative' },
  { name: 'nowhere' },
  { uri: 5, name: 'five' },
  { uri: 'odd:annotated', name: 'a', annotations: { priority: 7, audience: ['all'], lastModified: 'today' }, size: '5', mimeType: null },
];
const resourceTemplates = [{ uriTemplate: 'odd:{x}' }, { name: 'x' }, { uriTemplate: 'odd:2{x}', name: 'n', description: 5 }];
const blocks = [
  'a bare string',
  { type: 'text', text: 42 },
  { type: 'text', text: 'annotated', annotations: { priority: 7 }, _meta: null },
  { type: 'json', json: { unknown: 'kind' } },
  { type: 'image', data: 'data:image/png;base64,iVBORw0KGgo=' },
  { type: 'image', data: '%%', mimeType: 'image/png' },
  { type: 'resource', resource: { text: 'without an address' } },
  { type: 'resource_link', uri: 'odd:link' },
];

const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, prompts: {}, resources: {} },
    serverInfo: { name: 'odd', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools, _meta: null }),
  'prompts/list': () => ({ prompts }),
  'resources/list': () => ({ resources }),
  'resources/templates/list': () => ({ resourceTemplates }),
  'tools/call': ({ name }) =>
    name === 'blocks' ? { content: blocks, isError: null, structuredContent: null } : { content: [{ type: 'text', text: 'all is fine' }] },
  'prompts/get': () => ({ description: null, messages: [{ role: 'system', content: 'a fine prompt' }] }),
  'resources/read': ({ uri }) => ({ contents: [{ uri, text: 'a fine resource', mimeType: null }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const said = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...said })}\n`);
}
