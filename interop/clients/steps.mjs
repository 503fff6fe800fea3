// What every JavaScript client of the matrix shares: reading the job, running its
// steps one by one, and printing one JSON line. It knows nothing about a particular
// SDK; the caller passes an adapter with the operations below.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const SAMPLED = 'sampled by the interop client';
const ELICITED = 'Interop Tester';
const ROOT = { uri: 'file:///interop/root', name: 'interop-root' };

export const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: false } };

// Answers to the requests a server may send; the harness looks for these words.
export const answers = {
  sampling: () => ({
    role: 'assistant',
    model: 'interop-model',
    stopReason: 'endTurn',
    content: { type: 'text', text: SAMPLED },
  }),
  // A question of the gate wants a decision, those of servers a name.
  elicitation: (params) => {
    const decides = params?.requestedSchema?.properties?.decision !== undefined;
    return { action: 'accept', content: decides ? { decision: 'once' } : { name: ELICITED } };
  },
  roots: () => ({ roots: [ROOT] }),
};

export function job() {
  const text = process.argv[2] ?? process.env.INTEROP_JOB;
  if (!text) throw new Error('pass the job as JSON in the first argument or in INTEROP_JOB');
  return JSON.parse(text);
}

// Packages live where `cargo xtask peers` put them, not beside this script.
export async function load(name) {
  const require = createRequire(join(process.env.INTEROP_NODE_MODULES, '..', 'package.json'));
  return import(pathToFileURL(require.resolve(name)).href);
}

async function all(fetchPage, key) {
  const found = [];
  let cursor;
  for (let page = 0; page < 100; page += 1) {
    const result = await fetchPage(cursor ? { cursor } : undefined);
    found.push(...(result[key] ?? []));
    cursor = result.nextCursor;
    if (!cursor) return found;
  }
  throw new Error('the list never ended');
}

// Behind a gateway with several servers a resource may carry another address; the
// first listed one that still contains the original counts as the same resource.
function sameResource(listed, wanted) {
  const uris = listed.map((resource) => String(resource.uri));
  return uris.find((uri) => uri === wanted)
    ?? uris.find((uri) => decodeURIComponent(uri).includes(decodeURIComponent(wanted)))
    ?? wanted;
}

async function runStep(client, step) {
  switch (step.op) {
    case 'list_tools':
      return (await all((page) => client.listTools(page), 'tools')).map((tool) => tool.name);
    case 'list_resources':
      return (await all((page) => client.listResources(page), 'resources')).map((r) => String(r.uri));
    case 'list_prompts':
      return (await all((page) => client.listPrompts(page), 'prompts')).map((prompt) => prompt.name);
    case 'call':
      return client.callTool(step.name, step.arguments ?? {});
    case 'read': {
      const listed = await all((page) => client.listResources(page), 'resources');
      return client.readResource(sameResource(listed, step.uri));
    }
    case 'prompt':
      return client.getPrompt(step.name, step.arguments ?? {});
    default:
      throw new Error(`unknown operation ${step.op}`);
  }
}

function within(milliseconds, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

// `connect` resolves to an adapter: listTools, callTool, ..., protocol, close.
export async function run(task, connect) {
  const limit = task.step_ms ?? 20000;
  const report = { protocol: null, error: null, results: [] };
  let client;
  try {
    client = await within(task.connect_ms ?? 30000, connect());
    report.protocol = client.protocol ?? null;
    for (const step of task.steps) {
      const started = Date.now();
      const entry = { id: step.id, ok: true, value: null, error: null };
      try {
        entry.value = (await within(limit, runStep(client, step))) ?? null;
      } catch (error) {
        entry.ok = false;
        entry.error = String(error?.message ?? error);
      }
      entry.ms = Date.now() - started;
      report.results.push(entry);
    }
  } catch (error) {
    report.error = `connecting: ${error?.stack ?? error}`;
  }
  process.stdout.write(`${JSON.stringify(report)}\n`);
  try {
    if (client) await within(5000, client.close());
  } catch {
    // The answers are already out; a client that cannot close is ended by exit.
  }
  process.exit(report.error ? 1 : 0);
}
