// Answers of programs that drive a site: believed whole, or refused by one line that says what is
// wrong where, and what was expected.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { SiteOutput, SiteQuery } from '../../../../../src/wings/sites/adaptors/adaptor.ts';
import { OPERATIONS } from '../../../../../src/wings/sites/adaptors/script/contract.ts';
import { script } from '../../../../../src/wings/sites/adaptors/script/script.ts';
import { PLAIN_SITE_JOB } from '../../../../support/plain.ts';

const adaptor = script(['/opt/site', '--quiet'], { steers: true });

function said(answer: object | string): SiteOutput {
  const stdout = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return { stdout, stderr: '', code: 0 };
}

function problemOf(query: Pick<SiteQuery<unknown>, 'read'>, output: SiteOutput): string {
  const read = query.read(output);
  return read.ok
    ? `believed: ${JSON.stringify(read.value)}`
    : `${read.error.kind}: ${read.error.text}`;
}

const JOB = { id: '7', name: 'a', owner: 'ann', state: 'waiting' };
const NODE = { name: 'n1', state: 'idle', cpuCount: 4 };

/** @param change what its only job has beside or instead of a good one */
function jobs(change: object) {
  return problemOf(adaptor.jobs, said({ contract: 1, jobs: [{ ...JOB, ...change }] }));
}

test('what may be left out is not known, and the rest is as the program says', () => {
  const read = adaptor.jobs.read(said({ contract: 1, jobs: [JOB] }));
  assert.deepEqual(read.ok && read.value, [
    {
      ...PLAIN_SITE_JOB,
      id: '7',
      name: 'a',
      owner: 'ann',
      word: 'waiting',
      submittedAt: null,
      walltimeMs: null,
      cpuCount: null,
    },
  ]);
});

test('one line names operation, place, what is there, and what was expected', () => {
  const bad: readonly (readonly [change: object, text: string])[] = [
    [
      { state: 'Running' },
      '$.jobs[0].state is "Running"; expected one of held, waiting, starting,',
    ],
    [{ owner: undefined }, '$.jobs[0].owner is missing; expected the name of an account'],
    [{ cpus: 2 }, "$.jobs[0] has the key 'cpus'; expected only id, name, owner, state, word,"],
    [{ id: 7 }, '$.jobs[0].id is 7; expected the id of a job'],
    [{ id: '../7' }, '$.jobs[0].id is "../7"; expected the id of a job'],
    [{ name: 'a\nb' }, '$.jobs[0].name is "a\\nb"; expected a line'],
    [{ nodeCount: 0 }, '$.jobs[0].nodeCount is 0; expected a number of nodes'],
    [{ cpuCount: 1.5 }, '$.jobs[0].cpuCount is 1.5; expected a number of cpus'],
    [{ elements: '7-3' }, '$.jobs[0].elements is "7-3"; expected indices, like 0-3,7'],
    [{ elements: '0-999999998' }, '$.jobs[0].elements is "0-999999998"; expected at most'],
    [{ nodes: ['n1', 'n1'] }, "$.jobs[0].nodes[1] is 'n1' again; expected each once"],
    [{ nodes: ['n 1'] }, '$.jobs[0].nodes[0] is "n 1"; expected a node\'s name'],
    [{ startedAt: 1_795_379_923 }, '$.jobs[0].startedAt is 1795379923; expected ms since 1970'],
    [{ exit: { code: 0 } }, '$.jobs[0].exit is {"code":0}; expected none of a job that is waiting'],
    [
      { state: 'ended', exit: { code: 0, signal: 9 } },
      '$.jobs[0].exit is {"code":0,"signal":9}; expected either a code or a signal',
    ],
  ];
  for (const [change, text] of bad) {
    assert.ok(jobs(change).startsWith(`unreadable: jobs: ${text}`), jobs(change));
  }
  assert.match(jobs({ name: 'x'.repeat(5000) }), /is "x{59}…; expected a line/);
});

test('[G16] what a job wants of its nodes is as the program says, or it is held for what only that knows', () => {
  const listed = (change: object, of = adaptor) => {
    const read = of.jobs.read(said({ contract: 1, jobs: [{ ...JOB, ...change }] }));
    assert.ok(read.ok && read.value[0] !== undefined, read.ok ? '' : read.error.text);
    const { state, reason, where, isHeldByUs } = read.value[0];
    return { state, reason, where, isHeldByUs };
  };
  const waits = { state: 'waiting', reason: null, where: undefined, isHeldByUs: undefined };
  assert.deepEqual(listed({ where: {} }), waits);
  const asked = { only: ['n1', 'n2'], not: ['n2'], features: ['gpu'] };
  assert.deepEqual(listed({ where: asked }), { ...waits, where: asked });
  const queued = { ...asked, queues: ['long'] };
  assert.deepEqual(listed({ where: asked, queue: 'long' }), { ...waits, where: queued });
  assert.deepEqual(listed({ where: queued, queue: 'entry' }), { ...waits, where: queued });
  const gpus = { unplanned: '2 gpus (--gpus 2)' };
  const reason =
    'it asks for 2 gpus (--gpus 2), which Weft does not plan; without that it is planned';
  const heldHere = { ...waits, state: 'held', reason, isHeldByUs: true };
  assert.deepEqual(listed(gpus), heldHere);
  assert.deepEqual(listed({ ...gpus, state: 'held', reason: 'by ann' }), {
    ...waits,
    state: 'held',
    reason: 'by ann',
  });
  const begun = { ...gpus, where: asked, queue: 'long', state: 'running', nodes: ['n1'] };
  assert.deepEqual(listed(begun), { ...waits, state: 'running' });
  // Where its own scheduler starts it, it is that one's matter.
  const submitter = script(['/opt/site'], { steers: false });
  assert.deepEqual(listed({ ...gpus, where: asked, queue: 'long' }, submitter), waits);
  for (const [bad, words] of [
    [{ where: { only: [] } }, /where\.only is \[\]; expected at least one/],
    [{ where: { queues: [] } }, /where\.queues is \[\]; expected at least one/],
    [
      { where: { nodes: ['n1'] } },
      /has the key 'nodes'; expected only only, not, features, queues/,
    ],
    [{ where: { only: ['n[1-2]'] } }, /where\.only\[0\] is "n\[1-2\]"; expected a node's name/],
    [{ unplanned: true }, /unplanned is true; expected a line/],
  ] as const) {
    assert.match(jobs(bad), words);
  }
});

test('an answer that is empty, cut, of another contract or of two minds says nothing', () => {
  const bad: readonly (readonly [answer: object | string, text: RegExp])[] = [
    ['', /jobs: its answer is no JSON: /],
    ['{"contract":1,"jobs":[{"id":"7"', /jobs: its answer is no JSON: /],
    ['null', /jobs: \$ is null; expected an object/],
    [{ jobs: [] }, /jobs: \$\.contract is missing; expected 1/],
    [{ contract: 2, jobs: [] }, /jobs: \$\.contract is 2; expected 1/],
    [{ contract: 1 }, /jobs: \$\.jobs is missing; expected a list/],
    [{ contract: 1, jobs: [JOB, JOB] }, /jobs: \$\.jobs\[1\] is '7' again; expected each once/],
    [
      { contract: 1, jobs: [], problem: { kind: 'away', text: 'x' } },
      /jobs: \$ has the key 'jobs'; expected only contract, problem/,
    ],
  ];
  for (const [answer, text] of bad) {
    assert.match(problemOf(adaptor.jobs, said(answer)), new RegExp(`^unreadable: ${text.source}`));
  }
});

test('a problem is told in the words of the program, and a program that fails has refused nothing', () => {
  const problem = { kind: 'no_such_job', text: 'no job 7' };
  assert.equal(
    problemOf(adaptor.cancel('7'), said({ contract: 1, problem })),
    'no_such_job: cancel: no job 7',
  );
  const failed = { stdout: '{"contract":1,"job":"8"}', stderr: 'disk quota exceeded', code: 1 };
  assert.equal(problemOf(adaptor.cancel('7'), failed), 'away: cancel: disk quota exceeded');
});

test('nodes, queues, names, ends and ids are read as strictly', () => {
  const node = (change: object) =>
    problemOf(adaptor.nodes, said({ contract: 1, nodes: [{ ...NODE, ...change }] }));
  assert.match(node({}), /^believed: \[\{"name":"n1","state":"idle","word":"idle"/);
  assert.match(node({ isStopped: true }), /"parts":\[\{"name":"n1","isOpen":false\}\]/);
  assert.match(node({ isStopped: false }), /"parts":\[\{"name":"n1","isOpen":true\}\]/);
  assert.doesNotMatch(node({}), /parts/);
  assert.match(node({ isStopped: 1 }), /isStopped is 1; expected true or false/);
  assert.match(node({ state: 'up' }), /nodes: \$\.nodes\[0\]\.state is "up"; expected one of idle/);
  const queues = said({ contract: 1, queues: [{ name: 'all', isOpen: 'yes' }] });
  assert.match(problemOf(adaptor.queues, queues), /isOpen is "yes"; expected true or false/);
  assert.match(problemOf(adaptor.named('a'), said({ contract: 1, jobs: [7] })), /jobs\[0\] is 7/);
  const end = adaptor.end?.('7') ?? assert.fail('no end');
  assert.equal(problemOf(end, said({ contract: 1, end: null })), 'believed: null');
  assert.match(problemOf(end, said({ contract: 1, end: {} })), /\$\.end\.endedAt is missing/);
  const known = adaptor.known?.('7') ?? assert.fail('no known');
  assert.equal(problemOf(known, said({ contract: 1, known: false })), 'believed: false');
  assert.equal(
    problemOf(known, said({ contract: 1, known: null })),
    'away: known: the program cannot say',
  );
});

test('a question comes as JSON and as variables, without the text of the script', () => {
  const { command } = adaptor.submit({
    name: 'weft-1',
    script: 'secret',
    scriptFile: '/s/1/script',
    queue: null,
    account: 'a',
    walltimeMs: 60_000,
    nodeCount: 1,
    cpuCount: 2,
    memoryBytes: null,
    directory: '/s/1',
    stdout: '/s/1/out',
    stderr: '/s/1/err',
    options: ['--x', 'y z'],
  });
  assert.deepEqual(command.argv, ['/opt/site', '--quiet', 'submit']);
  assert.deepEqual(JSON.parse(command.input ?? ''), {
    contract: 1,
    operation: 'submit',
    name: 'weft-1',
    scriptFile: '/s/1/script',
    queue: null,
    account: 'a',
    walltimeMs: 60_000,
    nodeCount: 1,
    cpuCount: 2,
    memoryBytes: null,
    directory: '/s/1',
    stdout: '/s/1/out',
    stderr: '/s/1/err',
    options: ['--x', 'y z'],
  });
  assert.equal(command.environment?.SITE_WALLTIME_MS, '60000');
  assert.equal(command.environment?.SITE_QUEUE, '');
  assert.equal(command.environment?.SITE_OPTIONS, '--x\ny z');
  assert.ok(!JSON.stringify(command).includes('secret'));
});

test('a program that does not offer starts, or lacks something, is not steered', () => {
  const [offers, needs] = adaptor.steering?.requirements ?? [];
  const requirement = { what: 'the queues are off', met: false, remedy: 'run site-off' };
  const answer = said({ contract: 1, operations: ['jobs'], requirements: [requirement] });
  assert.equal(problemOf(offers?.query ?? assert.fail(), answer), 'believed: false');
  assert.equal(
    problemOf(needs?.query ?? assert.fail(), answer),
    'refused: this is not so: the queues are off. Remedy: run site-off',
  );
  const good = said({ contract: 1, operations: ['start', 'take-back'] });
  assert.equal(problemOf(offers?.query ?? assert.fail(), good), 'believed: true');
  assert.equal(problemOf(needs?.query ?? assert.fail(), good), 'believed: true');
  assert.equal(script(['x'], { steers: false }).steering, null);
});

test('the page has every operation and every key of the contract', () => {
  const page = readFileSync(new URL('../../../../../docs/adaptors.md', import.meta.url), 'utf8');
  const lists = ['jobs', 'nodes', 'queues'] as const;
  const keys = lists.flatMap((name) => {
    const text = problemOf(adaptor[name], said({ contract: 1, [name]: [{ '': 1 }] }));
    return (/expected only (.+)$/.exec(text)?.[1] ?? assert.fail(text)).split(', ');
  });
  assert.ok(keys.length > 30);
  const missing = [...OPERATIONS, ...keys].filter((word) => !page.includes(`\`${word}\``));
  assert.deepEqual(missing, []);
});
