// What every adaptor must do, whatever its system prints. A new system gets a case of its own in
// adaptors/cases and is named here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteOutput, SiteQuery } from '../../src/adaptors/adaptor.ts';
import type { SiteJob } from '../../src/core/model/site.ts';
import {
  type AdaptorCase,
  type EndName,
  type EndOutput,
  isMissing,
  skipFor,
} from './adaptors/case.ts';
import { OAR } from './adaptors/cases/oar.ts';
import { SGE } from './adaptors/cases/sge.ts';
import { SLURM } from './adaptors/cases/slurm.ts';
import { cutsOf, damaged, FOREIGN, GERMAN, lineCuts } from './adaptors/damage.ts';
import { checkJob, checkNode, SUBMISSION, wordsOf } from './adaptors/shape.ts';

const CASES: readonly AdaptorCase[] = [SLURM, SGE, OAR];

for (const one of CASES) {
  listings(one);
  ends(one);
  lies(one);
  submissions(one);
  orders(one);
}

function jobsIn({ adaptor }: AdaptorCase, output: SiteOutput): ReadonlyMap<string, SiteJob> {
  const read = adaptor.jobs.read(output);
  assert.ok(read.ok, read.ok ? '' : read.error.text);
  return new Map(read.value.map((job) => [job.id, job]));
}

function jobIn(of: AdaptorCase, { output, id }: { output: SiteOutput; id: string }): SiteJob {
  return jobsIn(of, output).get(id) ?? assert.fail(`no job ${id}`);
}

function listings(of: AdaptorCase): void {
  const { system, empty, oddName, array, adaptor } = of;
  test(`${system}: a listing without jobs is one, and no problem`, skipFor(empty), () => {
    assert.ok(!isMissing(empty));
    assert.deepEqual(adaptor.jobs.read(empty), { ok: true, value: [] });
  });

  test(`${system}: every listing is read whole, again and again, with all its states`, () => {
    assert.ok(of.listings.length > 0);
    for (const output of of.listings) {
      const jobs = [...jobsIn(of, output).values()];
      for (const job of jobs) checkJob(job);
      assert.deepEqual(jobs.filter(({ state }) => state === 'unknown').map(wordsOf), []);
      assert.deepEqual([...jobsIn(of, output).values()], jobs);
    }
  });

  test(`${system}: jobs are in the states that their system gives them`, () => {
    const { states } = of;
    assert.ok('waiting' in states && 'held' in states && 'running' in states);
    for (const [state, where] of Object.entries(states)) {
      assert.equal(jobIn(of, where).state, state, `job ${where.id}`);
    }
  });

  test(`${system}: only what has nodes has begun, and what has begun has them`, () => {
    const { waiting, held, running } = of.states;
    for (const where of [waiting, held]) {
      assert.ok(where !== undefined);
      const { nodes, startedAt, exit } = jobIn(of, where);
      assert.deepEqual({ nodes, startedAt, exit }, { nodes: [], startedAt: null, exit: null });
    }
    assert.ok(running !== undefined);
    assert.ok(jobIn(of, running).nodes.length > 0);
  });

  test(
    `${system}: a name is read as it was given, whatever it is made of`,
    skipFor(oddName),
    () => {
      assert.ok(!isMissing(oddName));
      assert.equal(jobIn(of, oddName).name, oddName.name);
    },
  );

  test(`${system}: a job on several nodes has each of them once`, () => {
    const job = jobIn(of, of.spread);
    assert.deepEqual([...job.nodes].sort(), of.spread.nodes);
    assert.equal(job.nodeCount, of.spread.nodes.length);
  });

  test(`${system}: instants are those of the listing, in ms since 1970`, () => {
    const { submittedAt, startedAt } = jobIn(of, of.times);
    const { submittedAt: submitted, startedAt: started } = of.times;
    assert.deepEqual({ submittedAt, startedAt }, { submittedAt: submitted, startedAt: started });
  });

  test(
    `${system}: elements of an array that wait are a set, and each that runs has an id`,
    skipFor(array),
    () => {
      assert.ok(!isMissing(array));
      const { output, waiting, running } = array;
      assert.equal(jobIn(of, { output, id: waiting.id }).elements, waiting.elements);
      const element = jobIn(of, { output, id: adaptor.element(running.array, running.index) });
      assert.deepEqual([element.elements, element.state], [null, 'running']);
    },
  );

  test(`${system}: nodes and queues are read with what they do`, () => {
    for (const { output, told } of of.nodes) {
      const read = adaptor.nodes.read(output);
      assert.ok(read.ok, read.ok ? '' : read.error.text);
      for (const node of read.value) checkNode(node);
      const lines = read.value.map((one) => {
        return `${one.name} ${one.state} ${one.cpusUsed}/${one.cpuCount}`;
      });
      assert.deepEqual(lines.sort(), told);
    }
    const queues = adaptor.queues.read(of.queues.output);
    assert.ok(queues.ok, queues.ok ? '' : queues.error.text);
    const lines = queues.value.map(({ name, isOpen, isStarted }) => {
      return `${name} ${isOpen ? 'open' : 'shut'} ${isStarted ? 'started' : 'stopped'}`;
    });
    assert.deepEqual(lines.sort(), of.queues.told);
  });
}

const EXITS: Partial<Record<EndName, object>> = {
  success: { code: 0 },
  'code 3': { code: 3 },
  'signal 9': { signal: 9 },
};

function ends(of: AdaptorCase): void {
  const { system, adaptor, noRecord, unknownJob } = of;
  const exitOf = ({ output, id, told }: EndOutput): object | null => {
    if (told === 'listing') {
      const job = jobIn(of, { output, id });
      assert.equal(job.state, 'ended');
      return job.exit;
    }
    const end = adaptor.end?.(id).read(output) ?? assert.fail('no accounting');
    assert.ok(end.ok, end.ok ? '' : end.error.text);
    assert.ok(end.value === null || end.value.endedAt > 0);
    return end.value?.exit ?? null;
  };
  for (const [name, where] of Object.entries(of.ends)) {
    test(`${system}: an end is told as it was: ${name}`, skipFor(where), () => {
      assert.ok(!isMissing(where));
      const exit = exitOf(where);
      const expected = EXITS[name as EndName];
      if (expected !== undefined) assert.deepEqual(exit, expected);
      // Whoever was ended has not succeeded.
      else assert.notDeepEqual(exit, { code: 0 });
    });
  }

  test(`${system}: of a job that nobody knows there is no end`, () => {
    if (noRecord !== undefined) {
      assert.deepEqual(adaptor.end?.('9999').read(noRecord), { ok: true, value: null });
    }
    if (unknownJob.known !== undefined) {
      assert.deepEqual(adaptor.known?.('9999').read(unknownJob.known), { ok: true, value: false });
    }
    assert.equal(adaptor.known === null, unknownJob.known === undefined);
    const cancelled = adaptor.cancel('9999').read(unknownJob.cancel);
    assert.ok(cancelled.ok || cancelled.error.kind === 'no_such_job');
  });
}

function queriesOf({ adaptor }: AdaptorCase): readonly SiteQuery<unknown>[] {
  const { end, known } = adaptor;
  const asked: SiteQuery<unknown>[] = [adaptor.jobs, adaptor.nodes, adaptor.queues];
  asked.push(adaptor.submit(SUBMISSION), adaptor.named(SUBMISSION.name), adaptor.cancel('1'));
  if (end !== null) asked.push(end('1'));
  if (known !== null) asked.push(known('1'));
  return asked;
}

function lies(of: AdaptorCase): void {
  const { system, adaptor } = of;
  test(`${system}: a system that is away is told from one that says no`, () => {
    assert.ok(of.away.length > 0);
    for (const query of queriesOf(of)) {
      for (const output of [...of.away, { stdout: '', stderr: '', code: null }]) {
        const read = query.read(output);
        assert.ok(!read.ok && read.error.kind === 'away', query.command.argv.join(' '));
      }
    }
  });

  test(`${system}: an error in words that nobody knows says nothing of a job`, () => {
    for (const query of queriesOf(of)) {
      for (const output of GERMAN) {
        const read = query.read(output);
        assert.ok(!read.ok, query.command.argv.join(' '));
        assert.notEqual(read.error.kind, 'no_such_job');
      }
    }
  });

  test(`${system}: what is no listing is no empty one`, () => {
    for (const stdout of FOREIGN) {
      const output = { stdout, stderr: '', code: 0 };
      for (const query of [adaptor.jobs, adaptor.nodes]) {
        const read = query.read(output);
        assert.ok(!read.ok && read.error.kind === 'unreadable', stdout.slice(0, 30));
      }
      const submitted = adaptor.submit(SUBMISSION).read(output);
      assert.ok(!submitted.ok && submitted.error.kind === 'unreadable', stdout.slice(0, 30));
    }
  });

  test(`${system}: an answer that was cut, or that failed, is not believed`, () => {
    const nodes = of.nodes.map(({ output }) => [adaptor.nodes, output] as const);
    const jobs = of.listings.map((output) => [adaptor.jobs, output] as const);
    for (const [query, whole] of [...jobs, ...nodes]) {
      const { stdout } = whole;
      for (const cut of [...cutsOf(stdout), ...lineCuts(stdout)]) {
        const read = query.read({ ...whole, stdout: cut });
        assert.ok(!read.ok || stdout.trimEnd() === cut.trimEnd(), `at ${cut.length}`);
      }
      assert.ok(!query.read({ ...whole, code: 1 }).ok);
    }
  });

  test(`${system}: damage makes an answer unreadable or another answer, and nothing else`, () => {
    for (const [at, output] of of.listings.entries()) {
      for (const stdout of damaged(output.stdout, at)) {
        const read = adaptor.jobs.read({ ...output, stdout });
        if (read.ok) for (const job of read.value) checkJob(job);
      }
    }
    for (const [at, { output }] of of.nodes.entries()) {
      for (const stdout of damaged(output.stdout, at)) {
        const read = adaptor.nodes.read({ ...output, stdout });
        if (read.ok) for (const node of read.value) checkNode(node);
      }
    }
  });
}

function submissions(of: AdaptorCase): void {
  const { system, adaptor, submitted, refused } = of;
  test(`${system}: a submission is answered by an id, or by the system's own words`, () => {
    const { read } = adaptor.submit(SUBMISSION);
    assert.deepEqual(read(submitted.output), { ok: true, value: submitted.id });
    assert.ok(refused.length > 0);
    for (const { output, words } of refused) {
      const answer = read(output);
      assert.ok(!answer.ok && answer.error.kind === 'refused');
      assert.match(answer.error.text, words);
    }
  });

  test(`${system}: a submission says its name, its files and options, and no word of its script`, () => {
    const { argv, input = '' } = adaptor.submit(SUBMISSION).command;
    const said = [...argv, input];
    for (const part of [SUBMISSION.name, SUBMISSION.stdout, SUBMISSION.stderr]) {
      assert.ok(
        said.some((word) => word.includes(part)),
        part,
      );
    }
    for (const option of SUBMISSION.options) assert.ok(argv.includes(option), option);
    assert.ok(argv.every((word) => word !== '' && !/[\n\0]/.test(word)));
    // Everybody may see the words of a command.
    assert.ok(!argv.join(' ').includes('SECRET'));
    assert.ok(input.includes(SUBMISSION.script) || said.join(' ').includes('script-file'));
    assert.deepEqual(adaptor.submit(SUBMISSION).command, adaptor.submit(SUBMISSION).command);
  });

  test(`${system}: a limit, a queue and an account are asked for where they are set`, () => {
    const of = (change: Partial<typeof SUBMISSION>): string => {
      const { argv, input } = adaptor.submit({ ...SUBMISSION, ...change }).command;
      return JSON.stringify([argv, input]);
    };
    const plain = of({});
    for (const change of [{ walltimeMs: 61_000 }, { queue: 'long' }, { account: 'wing' }]) {
      assert.notEqual(of(change), plain, JSON.stringify(change));
    }
    assert.match(of({ queue: 'longer-queue' }), /longer-queue/);
    assert.match(of({ account: 'wing-account' }), /wing-account/);
  });
}

function orders(of: AdaptorCase): void {
  const { system, adaptor } = of;
  test(`${system}: a job is cancelled by its id, an element apart from its array`, () => {
    const { argv } = adaptor.cancel('4711').command;
    assert.ok(argv.some((word) => word.includes('4711')));
    const refused = adaptor.cancel('4711').read(of.cancelRefused);
    assert.ok(!refused.ok && refused.error.kind === 'refused');
    if (isMissing(of.array)) return;
    const element = adaptor.cancel(adaptor.element('4711', 3)).command.argv;
    assert.notDeepEqual(element, argv);
    assert.ok(element.join(' ').includes('4711') && /\b3\b|_3\b/.test(element.join(' ')));
  });

  test(`${system}: a node is stopped and restored by different commands that name it`, () => {
    const reason = `it's "broken"; reboot | now`;
    const stop = adaptor.setNode({ node: 'n3', kind: 'stop', reason });
    const restore = adaptor.setNode({ node: 'n3', kind: 'restore' });
    assert.notDeepEqual(stop, restore);
    for (const { argv } of [...stop, ...restore]) {
      assert.ok(argv.some((word) => /\bn3\b/.test(word)));
      assert.ok(argv.every((word) => word !== '' && !word.includes('\n')));
      // Whole in one word, or not at all.
      const pieces = argv.filter((word) => word.includes('broken'));
      assert.ok(pieces.every((word) => word.includes('reboot')));
    }
  });
}
