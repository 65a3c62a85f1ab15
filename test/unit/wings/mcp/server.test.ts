// Messages, arguments and answers of `weft mcp`, without a cluster.

import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { readLines } from '../../../../src/wings/mcp/cli/lines.ts';
import { Server } from '../../../../src/wings/mcp/cli/server.ts';
import { BoundedText } from '../../../../src/wings/mcp/core/bounded-text.ts';
import { checkArguments } from '../../../../src/wings/mcp/core/check.ts';
import { parseMessage } from '../../../../src/wings/mcp/core/messages.ts';
import { TOOLS, type Tool } from '../../../../src/wings/mcp/core/tools.ts';

interface Answer {
  readonly id: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A server whose commands are written down, and end as `end` says. */
function serve(end = { code: 0, text: 'done' }, tools: readonly Tool[] = TOOLS) {
  const answers: Answer[] = [];
  const lines: (readonly string[])[] = [];
  let release = (): void => undefined;
  let held: Promise<void> | null = null;
  const server = new Server({
    version: '1',
    tools,
    write: (line) => void answers.push(JSON.parse(line)),
    run: async (argvs) => {
      lines.push(...argvs);
      await held;
      return end;
    },
  });
  const hold = (): void => {
    held = new Promise((go) => {
      release = go;
    });
  };
  const ask = async (method: string, params: object = {}, id: unknown = 1): Promise<Answer> => {
    server.take(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    await server.drained();
    return answers.at(-1) as Answer;
  };
  return { server, answers, lines, ask, hold, release: () => release() };
}

const tool = (name: string): Tool => {
  const found = TOOLS.find((one) => one.name === name);
  assert.ok(found !== undefined, name);
  return found;
};

test('a client of a revision that is known gets it, another gets the newest', async () => {
  const { ask } = serve();
  const known = await ask('initialize', { protocolVersion: '2024-11-05' });
  assert.equal(known.result?.['protocolVersion'], '2024-11-05');
  const other = await ask('initialize', { protocolVersion: '1999-01-01' });
  assert.equal(other.result?.['protocolVersion'], '2025-06-18');
});

const BAD: readonly (readonly [line: string, code: number, id: unknown])[] = [
  ['{', -32_700, null],
  ['[]', -32_600, null],
  ['{"jsonrpc":"1.0","id":3,"method":"ping"}', -32_600, 3],
  ['{"jsonrpc":"2.0","id":3,"method":7}', -32_600, 3],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600, null],
  ['{"jsonrpc":"2.0","id":3,"method":"ping","params":[]}', -32_600, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"nothing"}', -32_601, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"rm"}}', -32_602, 3],
  ['{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///etc"}}', -32_602, 3],
];
for (const [line, code, id] of BAD) {
  test(`a message that is none gets one answer, and the next is served: ${line}`, async () => {
    const { server, answers, ask } = serve();
    server.take(line);
    await server.drained();
    assert.deepEqual([answers[0]?.error?.code, answers[0]?.id], [code, id]);
    assert.deepEqual((await ask('ping', {}, 9)).result, {});
  });
}

test('a line that is too long is told so, and the next is served', async () => {
  const { server, answers, ask } = serve();
  server.take(null);
  assert.match(answers[0]?.error?.message ?? '', /at most 4194304 bytes/);
  assert.deepEqual((await ask('ping')).result, {});
});

test('a notification and an answer get none', () => {
  assert.equal(parseMessage('{"jsonrpc":"2.0","id":1,"result":{}}').ok, true);
  const { server, answers } = serve();
  server.take('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  server.take('{"jsonrpc":"2.0","id":1,"result":{}}');
  server.take('');
  assert.deepEqual(answers, []);
});

test('what was cancelled while it ran is not answered', async () => {
  const { server, answers, hold, release } = serve();
  hold();
  const call = { name: 'why', arguments: { job: '42' } };
  server.take(JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: call }));
  const params = { requestId: 5 };
  server.take(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
  release();
  await server.drained();
  assert.deepEqual(answers, []);
});

test('a request that is cancelled makes room for the next, and one that has not begun never does', async () => {
  const { server, answers, lines, hold, release } = serve();
  hold();
  const wait = (id: number): void => {
    const params = { name: 'wait', arguments: { job: String(id) } };
    server.take(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
  };
  const cancel = (requestId: number): void => {
    const params = { requestId };
    server.take(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params }));
  };
  const waited = () => lines.map((line) => line.at(-1)).join(' ');
  for (let id = 1; id <= 10; id += 1) wait(id);
  await setImmediate();
  assert.equal(waited(), '1 2 3 4 5 6 7 8');
  cancel(9);
  cancel(3);
  cancel(3);
  cancel(77);
  await setImmediate();
  assert.equal(waited(), '1 2 3 4 5 6 7 8 10');
  release();
  await server.drained();
  assert.deepEqual(answers.map(({ id }) => id).sort(), [1, 10, 2, 4, 5, 6, 7, 8]);
});

test('requests that wait are bounded, and so are those that run on unseen', async () => {
  const { server, answers, lines, hold, release } = serve();
  hold();
  for (let id = 1; id <= 100; id += 1) {
    const params = { name: 'why', arguments: { job: String(id) } };
    server.take(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
    const cancelled = { requestId: id };
    server.take(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled }),
    );
    await setImmediate();
  }
  assert.equal(lines.length, 0, 'cancelled before it began');
  const call = (id: number): void => {
    const params = { name: 'why', arguments: { job: String(id) } };
    server.take(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
  };
  for (let id = 200; id < 200 + 1010; id += 1) call(id);
  await setImmediate();
  assert.equal(answers.filter(({ error }) => /wait already/.test(error?.message ?? '')).length, 2);
  release();
  await server.drained();
  assert.equal(lines.length, 1008);
});

test('a tool is a command line, and no value of it is an option', async () => {
  const { ask, lines } = serve();
  const given = { command: '--dir=/tmp/x', name: '--evil', cpus: 4, time: '2h', directory: '/d' };
  await ask('tools/call', { name: 'submit', arguments: given });
  const flags = ['--name=--evil', '--cpus=4', '--time=2h', '--chdir=/d'];
  assert.deepEqual(lines, [['run', ...flags, '--', 'sh', '-c', '--dir=/tmp/x']]);
});

test('a command that fails is an error of the tool, a job that failed is none', async () => {
  const { ask } = serve({ code: 3, text: 'No job 42.' });
  const why = await ask('tools/call', { name: 'why', arguments: { job: '42' } });
  assert.deepEqual(why.result, { content: [{ type: 'text', text: 'No job 42.' }], isError: true });
});

test('a wait that was no wait is an error, and a job that ends with the same code is none', async () => {
  const isError = async (code: number, text: string, job = '42') => {
    const { ask } = serve({ code, text });
    const { result } = await ask('tools/call', { name: 'wait', arguments: { job } });
    return result?.['isError'];
  };
  assert.equal(await isError(125, '42: No job 42.\n'), true);
  assert.equal(await isError(125, 'The head answered:\n502 Bad Gateway\n'), true);
  assert.equal(await isError(125, '421 completed\n'), true);
  for (const code of [2, 4, 7, 70]) assert.equal(await isError(code, 'weft: refused\n'), true);
  for (const code of [1, 2, 7, 70, 125])
    assert.equal(await isError(code, `a notice\n42 failed (exit ${code})\n`), false);
  assert.equal(await isError(3, '42[7] failed (exit 3)\n', '42[7]'), false);
});

test('a wait that ends first says where the job is', async () => {
  const { ask, lines } = serve({ code: 8, text: 'said\n' });
  const { result } = await ask('tools/call', { name: 'wait', arguments: { job: '42' } });
  assert.deepEqual(lines, [
    ['wait', '--timeout=30s', '--', '42'],
    ['why', '--', '42'],
  ]);
  assert.deepEqual(result, { content: [{ type: 'text', text: 'said\nsaid\n' }], isError: false });
});

test('cancel asks first: without confirm it is a dry run', () => {
  assert.deepEqual(tool('cancel').argv({ job: '42' }), [['cancel', '--dry-run', '--', '42']]);
  assert.deepEqual(tool('cancel').argv({ job: '42', confirm: true }), [['cancel', '--', '42']]);
});

const WRONG: readonly (readonly [name: string, given: object, words: RegExp])[] = [
  ['why', {}, /^job is missing$/],
  ['why', { job: null }, /^job is missing$/],
  ['why', { job: '-f' }, /^job: A job, 42/],
  ['why', { job: 42 }, /^job: expected text$/],
  ['why', { job: '42', __proto__x: 1 }, /^__proto__x is unknown; there are job$/],
  ['wait', { job: '42', seconds: 1e9 }, /^seconds: expected a whole number from 1 to 300$/],
  ['wait', { job: '42', seconds: 1.5 }, /whole number/],
  ['submit', { command: '' }, /^command: expected some text$/],
  ['submit', { command: 'a\0b' }, /without NUL/],
  ['submit', { command: 'x'.repeat(100_001) }, /at most 100000 characters/],
  ['cancel', { job: '1', confirm: 'yes' }, /^confirm: expected true or false$/],
];
for (const [name, given, words] of WRONG) {
  test(`arguments that are wrong are named: ${name} ${JSON.stringify(given).slice(0, 60)}`, () => {
    const checked = checkArguments(tool(name).input, { ...given });
    assert.equal(checked.ok, false);
    assert.match(checked.error, words);
  });
}

test('long text keeps its beginning and its end, and says how much it left out', () => {
  const text = new BoundedText(200);
  for (let line = 0; line < 1000; line++) text.add(`line ${line}\n`);
  const kept = text.toString();
  assert.ok(kept.startsWith('line 0\n'));
  assert.ok(kept.endsWith('line 999\n'));
  assert.match(kept, /… 8750 characters are left out here …/);
  assert.ok(kept.length <= 200);
});

test('lines come whole however they are cut, and an endless one takes no memory', async () => {
  const lines: (string | null)[] = [];
  const pieces = ['{"a"', ':1}\n\n{"b', '":2}\nlast'].map((text) => Buffer.from(text));
  await readLines(Readable.from(pieces), (line) => lines.push(line));
  assert.deepEqual(lines, ['{"a":1}', '', '{"b":2}', 'last']);
  const long: (string | null)[] = [];
  const much = Array.from({ length: 10 }, () => Buffer.alloc(1_048_576, 'x'));
  await readLines(Readable.from([...much, Buffer.from('\n')]), (line) => long.push(line));
  assert.deepEqual(long, [null]);
});
