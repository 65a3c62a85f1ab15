// The command line and the configuration as wings add to them: without any, and with a made-up one.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { type Invocation, runWeft } from '../../../../src/kernel/cli/main.ts';
import type { CliWing } from '../../../../src/kernel/cli/part.ts';
import { defineVerb } from '../../../../src/kernel/cli/verb.ts';
import { verbsOf } from '../../../../src/kernel/cli/verbs.ts';
import { defaultConfig } from '../../../../src/kernel/config/config.ts';
import { key } from '../../../../src/kernel/config/key.ts';
import { schemaOf } from '../../../../src/kernel/config/schema.ts';
import { capture, FakeHead, refusal } from './fake-head.ts';

const greet = defineVerb({
  define: (command) => void command.argument('[planet]', 'whom to greet'),
  async run({ context, args }) {
    context.print(`Hello ${args[0] ?? (await context.config()).text('greet.whom')}`);
    return 0;
  },
});

const wing: CliWing = {
  cli: {
    verbs: [
      {
        group: 'Overview:',
        name: 'greet',
        after: 'info',
        summary: 'say hello',
        load: async () => ({ verb: greet }),
      },
    ],
    innerVerbs: [
      {
        within: 'node',
        name: 'greet',
        after: 'list',
        summary: 'say hello to a node',
        load: async () => ({ verb: greet }),
      },
    ],
    checks: [{ name: 'manners', after: 'head', check: () => [{ state: 'ok', text: 'are good' }] }],
    glance: async () => ({ fields: { greeting: 'Hello' }, lines: ['Hello to all'] }),
    jobId: async (operand) => (operand.startsWith('earth/') ? operand.slice(6) : null),
    completions: { operands: { planet: { offers: async () => [['mars', 'red']] } } },
  },
  keys: async () => ({
    place: { before: 'up.nodes' },
    keys: [key('greet.whom', 'text', 'world', 'Whom to greet.')],
    atStart: ['greet.'],
  }),
};

const weftOf =
  (wings: readonly CliWing[], directory = tmpdir()) =>
  (...argv: string[]) => {
    const run = (it: Invocation) => runWeft({ ...it, wings });
    return capture(directory, { program: 'weft', argv }, run);
  };

test('without wings every command has help, and the defaults are right', async () => {
  const names = verbsOf([]).map(({ name }) => name);
  assert.ok(names.includes('run') && !names.includes('batch'), names.join(' '));
  for (const name of names) assert.equal((await weftOf([])(name, '--help')).code, 0, name);
  const config = await defaultConfig([]);
  for (const { key: one, value } of config.all()) {
    if (one.default === null) assert.equal(value, null, one.name);
  }
  const { error } = await weftOf([])('batch', 'list');
  assert.match(error, /unknown command 'batch'\. Did you mean 'weft submit'\?/);
});

test('a verb of a wing stands where it says, also in a group of the kernel', async () => {
  const weft = weftOf([wing]);
  const names = verbsOf([wing]).map(({ name }) => name);
  assert.equal(names[names.indexOf('info') + 1], 'greet');
  assert.equal((await weft('greet')).out, 'Hello world\n');
  assert.equal((await weft('node', 'greet', 'n1')).out, 'Hello n1\n');
  assert.match((await weft('node', '--help')).out, / {2}list .*\n {2}greet .*\n {2}show /);
});

test('keys of a wing are read, shown and compared as those of the kernel', async () => {
  const { out } = await weftOf([wing])('config', 'show');
  assert.match(out, /\ngreet\.whom +world +default\nup\.nodes /);
  assert.deepEqual((await schemaOf([wing])).atStart, ['greet.']);
});

test('a wing is asked for its checks, and for words of its operands', async () => {
  const weft = weftOf([wing]);
  const { out } = await weft('doctor');
  assert.match(out, /\nok +manners +are good\nok +weft up /);
  assert.equal((await weft('completion', 'complete', '--', 'greet', '')).out, 'mars\tred\n:4\n');
});

test('what a wing calls a job is what the head is asked about', async () => {
  await using head = await FakeHead.start({
    'GET /v1/jobs/7/why': () => ({
      status: 404,
      json: refusal('job.not_found', 'not_found', 'No job 7.'),
    }),
  });
  await weftOf([wing], head.directory)('why', 'earth/7');
  assert.deepEqual(
    head.work.map(({ path }) => path),
    ['/v1/jobs/7/why'],
  );
});
