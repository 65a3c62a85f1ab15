// What is true of every job and node that an adaptor reads, and a submission with hard words.

import assert from 'node:assert/strict';
import type { SiteJob, SiteNews, SiteNode } from '../../../src/kernel/model/site.ts';
import { findFlaw } from '../../../src/kernel/wire/agent-shape.ts';
import type { SiteSubmission } from '../../../src/wings/sites/adaptors/adaptor.ts';

export const SUBMISSION: SiteSubmission = {
  name: 'weft-c1-42.0-1',
  script: '#!/bin/sh\nexport SECRET=x\necho "$SECRET" \'a b\' | cat\n',
  scriptFile: "/scratch/it's here/script-file",
  queue: null,
  account: null,
  walltimeMs: null,
  nodeCount: 1,
  cpuCount: 2,
  memoryBytes: 3_000_000_000,
  directory: '/scratch/a b',
  stdout: '/scratch/a-b/out',
  stderr: '/scratch/a-b/err',
  options: ['--first', 'second=a b'],
};

/** For messages. */
export function wordsOf({ id, word }: SiteJob): string {
  return `${id} ${word}`;
}

function checkInstant(value: number | null): void {
  assert.ok(value === null || (Number.isSafeInteger(value) && value > 0), String(value));
}

function checkCount(value: number | null, least = 0): void {
  assert.ok(value === null || (Number.isSafeInteger(value) && value >= least), String(value));
}

/** What is read goes to the head, whose listener takes no other form. */
function checkNews(some: Partial<SiteNews>): void {
  const news: SiteNews = {
    isFirst: true,
    isLast: true,
    system: 'any',
    mode: 'submit',
    takeover: null,
    problem: null,
    ageMs: 0,
    jobs: [],
    gone: [],
    ...some,
  };
  assert.equal(findFlaw({ kind: 'site', news }), null, JSON.stringify(some));
}

export function checkJob(job: SiteJob): void {
  checkNews({ jobs: [{ ...job, isOurs: false }] });
  assert.match(job.id, /^\S+$/);
  assert.notEqual(job.owner, '');
  for (const at of [job.submittedAt, job.startedAt, job.endedAt]) checkInstant(at);
  checkCount(job.walltimeMs, 1);
  checkCount(job.nodeCount, 1);
  checkCount(job.cpuCount, 1);
  checkCount(job.memoryBytes);
  assert.ok(job.nodes.every((name) => /^\S+$/.test(name)));
  assert.equal(new Set(job.nodes).size, job.nodes.length);
  if (job.state !== 'ended') assert.deepEqual([job.endedAt, job.exit], [null, null]);
  if (job.exit === null) return;
  const { code, signal } = job.exit;
  assert.ok(code === undefined || (code >= 0 && code <= 255));
  assert.ok(signal === undefined || (signal >= 1 && signal <= 127));
  assert.ok((code === undefined) !== (signal === undefined));
}

export function checkNode(node: SiteNode): void {
  checkNews({ nodes: [node] });
  assert.match(node.name, /^\S+$/);
  checkCount(node.cpuCount);
  checkCount(node.cpusUsed);
  checkCount(node.memoryBytes);
  checkCount(node.memoryFreeBytes);
  assert.ok([...node.features, ...node.queues].every((word) => word !== ''));
}
