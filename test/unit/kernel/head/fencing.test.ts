// When the head runs the site's fence command, and what it makes of the answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fencing } from '../../../../src/kernel/head/fencing.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import type { Command, CommandEnd, Commands } from '../../../../src/kernel/ports/commands.ts';
import { EngineBench, settlePromises } from '../../../support/engine.ts';
import { KeptLog } from './http/fixture.ts';

const SILENCE_MS = 15_000;

interface Asked extends Pick<Command, 'argv'> {
  readonly answer: (succeeded: boolean, how: string, output?: string) => void;
}

/**
 * A job of `count` nodes runs, and all of them are silent; the answers of the command are the
 * test's.
 */
async function bench(count = 1, heardAgo = SILENCE_MS) {
  const made = await new EngineBench().start();
  const names = Array.from({ length: count }, (_, at) => `n${at + 1}`);
  for (const name of names) await made.connect(name);
  made.submit('a', { nodeCount: count, onNodeLoss: { kind: 'wait' } });
  await made.settle();
  for (const name of names) {
    const node = name as NodeName;
    const { session = 0 } = made.engine.state.nodes.get(node) ?? {};
    made.perform('gone', { kind: 'disconnected', node, session });
    made.perform('silent', { kind: 'silence', node, silentMs: SILENCE_MS });
  }
  await made.settle();
  const asked: Asked[] = [];
  const commands: Commands = {
    run: (given) =>
      new Promise<CommandEnd>((resolve) => {
        const answer = (succeeded: boolean, how: string, output = ''): void =>
          resolve({ succeeded, code: null, how, output, errors: '', isThere: () => false });
        asked.push({ argv: given.argv, answer });
      }),
  };
  const [log, audit] = [new KeptLog(), new KeptLog()];
  const { clock } = made;
  const fencingOf = () =>
    new Fencing({
      engine: made.engine,
      commands,
      clock,
      log,
      audit,
      silentMs: () => heardAgo,
      command: ['power', 'node={node}', 'off'],
      timeoutMs: 1000,
    });
  return { made, fencing: fencingOf(), fencingOf, asked, audit };
}

test('[N15] the command is run once for a silent node, and its yes ends what the node held', async () => {
  const { made, fencing, asked, audit } = await bench();
  fencing.tick();
  fencing.tick();
  assert.deepEqual(
    asked.map(({ argv }) => argv),
    [['power', 'node=n1', 'off']],
  );
  assert.equal(
    made.engine.state.nodes.get('n1' as NodeName)?.holding.size,
    1,
    'not before it says',
  );
  asked[0]?.answer(true, 'exit code 0', 'is off\n');
  await settlePromises();
  await made.settle();
  assert.equal(made.engine.state.nodes.get('n1' as NodeName)?.holding.size, 0);
  assert.deepEqual(audit.lines[0]?.fields, {
    who: 'system',
    what: 'fence',
    node: 'n1',
    off: true,
    words: 'exit code 0: is off',
  });
  made.clock.pass(120_000);
  fencing.tick();
  assert.equal(asked.length, 1);
});

test('[N15] a no is no evidence; the command is run again after a while', async () => {
  const { made, fencing, asked } = await bench();
  fencing.tick();
  asked[0]?.answer(false, 'exit code 1');
  await settlePromises();
  await made.settle();
  assert.equal(made.engine.state.nodes.get('n1' as NodeName)?.holding.size, 1);
  made.clock.pass(59_999);
  fencing.tick();
  assert.equal(asked.length, 1);
  made.clock.pass(1);
  fencing.tick();
  assert.equal(asked.length, 2);
});

test('a head that has just started gives its nodes the time to come back', async () => {
  const { fencing, asked } = await bench(1, SILENCE_MS - 1);
  fencing.tick();
  assert.equal(asked.length, 0);
});

test('[N15] a head that no node has met since its start switches nothing off', async () => {
  const { made, fencingOf, asked } = await bench();
  await made.crash();
  const fencing = fencingOf();
  fencing.tick();
  assert.equal(asked.length, 0, 'it may be a copy of the head that all nodes are with');
  await made.connect('n2');
  fencing.tick();
  assert.equal(asked.length, 1);
});

test('many silent nodes are asked about a few at a time', async () => {
  const { fencing, asked } = await bench(6);
  fencing.tick();
  assert.equal(asked.length, 4);
  asked[0]?.answer(false, 'no');
  await settlePromises();
  fencing.tick();
  assert.deepEqual(new Set(asked.map(({ argv }) => argv[1])).size, 5);
});
