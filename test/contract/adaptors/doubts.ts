// What is expected when a system is away, or says what nobody expects: nothing is concluded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SiteJob } from '../../../src/kernel/model/site.ts';
import type { SiteQuery } from '../../../src/wings/sites/adaptors/adaptor.ts';
import type { AdaptorCase } from './case.ts';
import { cutsOf, damaged, FOREIGN, GERMAN, lineCuts, renamed, wrongNumbers } from './damage.ts';
import { checkJob, checkNode, SUBMISSION } from './shape.ts';

function queriesOf({ adaptor }: AdaptorCase): readonly SiteQuery<unknown>[] {
  const { end, known } = adaptor;
  const asked: SiteQuery<unknown>[] = [adaptor.jobs, adaptor.nodes, adaptor.queues];
  asked.push(adaptor.submit(SUBMISSION), adaptor.named(SUBMISSION.name), adaptor.cancel('1'));
  if (end !== null) asked.push(end('1'));
  if (known !== null) asked.push(known('1'));
  return asked;
}

/** Numbers of its jobs: of an element that of its array. */
function numbersIn(jobs: readonly SiteJob[]): string[] {
  return [...new Set(jobs.map(({ id }) => /\d+/.exec(id)?.[0] ?? id))].sort();
}

function endedIn(jobs: readonly SiteJob[]): string[] {
  return jobs.flatMap(({ id, state }) => (state === 'ended' ? [id] : []));
}

export function doubts(of: AdaptorCase): void {
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
      const isPlain = query === adaptor.nodes && of.cutNodes !== undefined;
      for (const cut of [...cutsOf(stdout), ...lineCuts(stdout)]) {
        if (isPlain && cut.endsWith('\n')) continue;
        const read = query.read({ ...whole, stdout: cut });
        assert.ok(!read.ok || stdout.trimEnd() === cut.trimEnd(), `at ${cut.length}`);
      }
      assert.ok(!query.read({ ...whole, code: 1 }).ok);
    }
  });

  test(`${system}: a field with another name loses no job and ends none`, () => {
    for (const output of of.listings) {
      const before = adaptor.jobs.read(output);
      assert.ok(before.ok);
      for (const { field, text } of renamed(output.stdout)) {
        const read = adaptor.jobs.read({ ...output, stdout: text });
        if (!read.ok) continue;
        for (const job of read.value) checkJob(job);
        assert.deepEqual(numbersIn(read.value), numbersIn(before.value), field);
        const known = endedIn(before.value);
        assert.ok(
          endedIn(read.value).every((id) => known.includes(id)),
          field,
        );
      }
    }
  });

  test(`${system}: damage makes an answer unreadable or another answer, and nothing else`, () => {
    for (const [at, output] of of.listings.entries()) {
      for (const stdout of [...damaged(output.stdout, at), ...wrongNumbers(output.stdout)]) {
        const read = adaptor.jobs.read({ ...output, stdout });
        if (read.ok) for (const job of read.value) checkJob(job);
      }
    }
    for (const [at, { output }] of of.nodes.entries()) {
      for (const stdout of [...damaged(output.stdout, at), ...wrongNumbers(output.stdout)]) {
        const read = adaptor.nodes.read({ ...output, stdout });
        if (read.ok) for (const node of read.value) checkNode(node);
      }
    }
  });
}
