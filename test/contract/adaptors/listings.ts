// What is expected of listings: all of it is read, and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { elementOf } from '../../../src/wings/sites/model/site-elements.ts';
import { type AdaptorCase, isMissing, skipFor } from './case.ts';
import { jobIn, jobsIn } from './jobs-in.ts';
import { checkJob, checkNode, wordsOf } from './shape.ts';

export function listings(of: AdaptorCase): void {
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

  test(`${system}: the time zone of the gateway changes no instant`, () => {
    const zone = process.env.TZ;
    const read = (name: string) => {
      process.env.TZ = name;
      return [new Date(0).getHours(), of.listings.map((one) => [...jobsIn(of, one).values()])];
    };
    try {
      const [[here, utc], [there, far]] = [read('UTC'), read('Pacific/Kiritimati')];
      assert.notEqual(here, there);
      assert.deepEqual(far, utc);
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
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

  test(
    `${system}: an element that is listed is known to be one of its array`,
    skipFor(array),
    () => {
      assert.ok(!isMissing(array));
      const { output, running } = array;
      const element = jobIn(of, { output, id: adaptor.element(running.array, running.index) });
      assert.deepEqual(elementOf(element.id), running);
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
