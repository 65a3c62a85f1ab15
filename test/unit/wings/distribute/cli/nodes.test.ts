// `distribute node-status`, `client` and `pause`: nodes by the seed's file and flags.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../../../../support/folder.ts';
import { FakeHead } from '../../../kernel/cli/fake-head.ts';
import { nodeView } from '../../../kernel/cli/views.ts';
import { distributeIn, typed } from './typed.ts';

const NODES = `nodes:
  - {ip: 192.0.2.11, name: lab1, capabilities: [python3]}
  - {ip: 192.0.2.12, name: lab2, capabilities: [apptainer, gpu], transport_port: 9000}
  - {ip: 192.0.2.13, name: lab3, capabilities: []}
`;
const FACTS = { hostname: 'desk', agentVersion: '0.1.0' };
const VIEWS = [
  nodeView({ name: 'lab1', facts: FACTS }),
  nodeView({ name: 'lab2', facts: FACTS, state: 'unreachable' }),
  nodeView({ name: 'extra', facts: FACTS }),
];

const answers = (nodes: readonly object[]) => ({ 'GET /v1/nodes': () => ({ json: { nodes } }) });

test('node-status shows all nodes, those that are offline too, and exits with 1 for them', async (context) => {
  await using head = await FakeHead.start(answers(VIEWS));
  const cwd = makeFolder(context, { 'distribute-nodes.yaml': NODES });
  const said = await typed(head, cwd, 'node-status');
  assert.equal(said.code, 1);
  assert.deepEqual(said.out.trimEnd().split(/ *\n/), [
    'Node Name  Address     Version',
    'lab1       192.0.2.11  0.1.0',
    'lab2       192.0.2.12  OFFLINE',
    'lab3       192.0.2.13  NOT JOINED',
    'extra      desk        0.1.0',
  ]);
  assert.equal(said.error, 'distribute: 2 of 4 nodes cannot be used now\n');
});

test('node-status needs no file, but one that is named must be there and right', async (context) => {
  await using head = await FakeHead.start(answers(VIEWS.slice(0, 1)));
  const cwd = makeFolder(context, { 'wrong.yaml': 'nodes: [{ip: 1}]' });
  assert.equal((await typed(head, cwd, 'node-status')).code, 0);
  const missing = await typed(head, cwd, 'node-status', '--nodes-file', 'no.yaml');
  assert.equal(missing.code, 2);
  assert.match(missing.error, /no\.yaml: no such file/);
  const wrong = await typed(head, cwd, 'node-status', '--nodes-file', 'wrong.yaml');
  assert.match(wrong.error, /wrong\.yaml:1:\d+: /);
});

test('client names what has no meaning, and never touches what is in its folder', async (context) => {
  const cwd = makeFolder(context, { 'base/mine': 'precious' });
  const ports = ['-p', '1', '-k', '2', '-c', '3'];
  const said = await distributeIn({ cwd }, 'client', 'base', ...ports);
  assert.equal(said.code, 2);
  const [ports_, why, hint] = said.error.split('\n');
  assert.match(ports_ ?? '', /--transport-port, --keepalive-port, --cancel-port: not needed/);
  assert.match(why ?? '', /has not joined a cluster \(no .*base\/membership\.json\)/);
  assert.match(hint ?? '', /weft token join.*WEFT_JOIN/);
  assert.equal(readFileSync(path.join(cwd, 'base', 'mine'), 'utf8'), 'precious');
  const two = await distributeIn({ cwd }, 'client', 'base', '--dir', 'other');
  assert.match(two.error, /BASE_FOLDER and --dir are the same thing/);
});

test('pause reads durations as weft does, and says where it looked for a node', async (context) => {
  const cwd = makeFolder(context, {});
  const bare = await distributeIn({ cwd }, 'pause', '--duration', '90');
  assert.equal(bare.code, 2);
  assert.match(bare.error, /--duration: '90' has no unit; write 90s/);
  const operand = await distributeIn({ cwd }, 'pause', '90');
  assert.deepEqual([operand.code, operand.error], [2, bare.error]);
  const twice = await distributeIn({ cwd }, 'pause', '4h', '--duration', '1h');
  assert.match(twice.error, /DURATION and --duration are the same thing; write one/);
  const none = await distributeIn({ cwd }, 'pause');
  assert.match(none.error, /no agent of a node is on this machine/);
});
