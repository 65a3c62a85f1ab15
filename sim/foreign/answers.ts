// The commands of the simulated batch system, run on its own server: what each does there, and says.

import type { SiteEnd, SiteJob, SiteNode, SiteQueue } from '../../src/core/model/site.ts';
import type { Said } from './adaptor.ts';
import type { ForeignSystem, SystemJob, SystemNode } from './system.ts';

/** @param words without the name of the program */
export function answer(system: ForeignSystem, words: readonly string[], input: string): Said {
  const [word, first = '', second = '', third = '', fourth = ''] = words;
  switch (word) {
    case 'jobs':
      return { value: listed(system).map(jobOf) };
    case 'nodes':
      return { value: system.nodes.map((node) => nodeOf(system, node)) };
    case 'queues':
      return { value: [queueOf(system)] };
    case 'submit':
      return { value: submitted(system, { first, second, third, fourth, input }) };
    case 'named': {
      const known = [...system.jobs.values()].filter((one) => !one.isPurged);
      return { value: known.filter(({ name }) => name === first).map(({ id }) => id) };
    }
    case 'cancel':
      return saidOf(system.cancel(first));
    case 'end':
      return { value: endOf(system.jobs.get(first)) };
    case 'known':
      return { value: system.find(first) !== null };
    case 'quiet':
      return { value: !system.isScheduling };
    case 'start':
      return saidOf(system.start(first, second.split(','), 'gateway'));
    case 'node':
      return saidOf(setNode(system, first, second));
    default:
      return { problem: 'refused', text: `no such command: ${word}` };
  }
}

function saidOf(refusal: string | null): Said {
  if (refusal === null) return { value: null };
  const problem = refusal === 'no such job' ? 'no_such_job' : 'refused';
  return { problem, text: refusal };
}

function submitted(
  system: ForeignSystem,
  of: { first: string; second: string; third: string; fourth: string; input: string },
): string {
  const { first: name, second: directory, third, fourth, input: script } = of;
  const walltimeMs = fourth === 'null' ? null : Number(fourth);
  const size = { nodeCount: 1, cpuCount: Number(third), walltimeMs, runMs: 0, code: 0 };
  return system.submit({ ...size, name, owner: 'weft', directory, script }).id;
}

function listed(system: ForeignSystem): SystemJob[] {
  const { now } = system.world.time;
  return [...system.jobs.values()].filter((one) => !one.isPurged && one.hiddenUntil <= now);
}

function jobOf(job: SystemJob): SiteJob {
  const { id, name, owner, state, word, nodes, exit, walltimeMs, nodeCount, cpuCount } = job;
  const { submittedAt, startedAt, endedAt } = job;
  return {
    ...{ id, handle: null, name, owner, state, word, reason: null, queue: 'all', elements: null },
    ...{ submittedAt, startedAt, endedAt, walltimeMs, nodeCount, cpuCount: cpuCount * nodeCount },
    ...{ memoryBytes: null, isExclusive: false, nodes, exit },
  };
}

function nodeOf(system: ForeignSystem, node: SystemNode): SiteNode {
  const { name, cpuCount, isUp, stopped } = node;
  const cpusUsed = system.cpusUsed(name);
  const used = cpusUsed > 0 ? 'running' : 'idle';
  const state = !isUp ? 'down' : stopped === null ? used : 'stopped';
  return {
    ...{ name, state, word: state.toUpperCase(), reason: stopped, cpuCount, cpusUsed },
    ...{ memoryBytes: null, memoryFreeBytes: null, features: [], queues: ['all'] },
    parts: [{ name, isOpen: stopped === null }],
  };
}

function queueOf(system: ForeignSystem): SiteQueue {
  const { isScheduling: isStarted } = system;
  return { name: 'all', isOpen: true, isStarted, walltimeMaxMs: null, nodes: [] };
}

/** Accounting: a record of each end, for ever. */
function endOf(job: SystemJob | undefined): SiteEnd | null {
  if (job?.exit == null || job.endedAt === null) return null;
  const { startedAt, endedAt, exit, word } = job;
  return { startedAt, endedAt, exit, reason: word === 'DONE' ? null : word };
}

/** @param why empty: it is given back */
function setNode(system: ForeignSystem, name: string, why: string): string | null {
  const node = system.nodes.find((one) => one.name === name);
  if (node === undefined) return `no node ${name}`;
  node.stopped = why === '' ? null : why;
  system.world.note(`${system.world.site}: ${name} ${why === '' ? 'is back' : `stops: ${why}`}`);
  return null;
}
