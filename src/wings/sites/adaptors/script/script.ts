// A site that a program of its operator drives, whatever is behind it: one call for each operation,
// JSON in and out (docs/adaptors.md).

import { ok } from '../../../../kernel/base/result.ts';
import { CPUS_PER_NODE_MAX, SITE_NODES_MAX } from '../../../../kernel/model/limits.ts';
import type { SiteEnd, SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { Adaptor, NodeSwitch, Requirement, SiteQuery, Steering } from '../adaptor.ts';
import { siteProblem } from '../read.ts';
import {
  capabilitiesOf,
  commandOf,
  jobId,
  type Operation,
  type Question,
  queryOf,
  readDone,
  text,
} from './contract.ts';
import { jobs } from './jobs.ts';
import { flag, list, oneOf, orNull, record, type Shape, whole } from './shape.ts';
import { amount, distinct, exitStatus, instant, nodeName, nodeNames, words } from './values.ts';

/** Jobs of one name: there is one, or a few when something went wrong. */
const NAMED_MAX = 1000;

/** @param program its words, to which the operation is added */
export function script(
  program: readonly string[],
  { steers }: { readonly steers: boolean },
): Adaptor {
  const ask = <T>(operation: Operation, key: string, shape: Shape<T>, question: Question = {}) =>
    asked(program, operation, { key, shape, question });
  const orNothing = <T>(operation: Operation, key: string, shape: Shape<T>, question: Question) => {
    const query = queryOf<Record<string, T | null>>(
      commandOf(program, operation, question),
      operation,
      { [key]: orNull(shape) },
    );
    return mapped(query, (answer) => answer[key] ?? null);
  };
  return {
    system: 'script',
    // It is a program of the site's operator, who knows what it needs.
    variables: ['*'],
    jobs: ask('jobs', 'jobs', jobs(steers)),
    nodes: ask('nodes', 'nodes', nodes),
    queues: ask('queues', 'queues', queues),
    submit: (job) => {
      const { script: _, ...question } = job;
      return ask('submit', 'job', jobId, question);
    },
    named: (name) => ask('named', 'jobs', list(jobId, NAMED_MAX), { name }),
    cancel: (job) => ({
      command: commandOf(program, 'cancel', { job }),
      read: (output) => readDone(output, 'cancel'),
    }),
    end: (job) => orNothing('end', 'end', end, { job }),
    known: (job) => known(orNothing('known', 'known', flag, { job })),
    element: (array, index) => `${array}.${index}`,
    setNode: (change) => [commandOf(program, 'set-node', questionOf(change))],
    steering: steers ? steering(program) : null,
  };
}

function asked<T>(
  program: readonly string[],
  operation: Operation,
  of: { readonly key: string; readonly shape: Shape<T>; readonly question: Question },
): SiteQuery<T> {
  const { key, shape, question } = of;
  const command = commandOf(program, operation, question);
  const query = queryOf<Record<string, T>>(command, operation, { [key]: { shape } });
  return mapped(query, (answer) => answer[key] as T);
}

function mapped<A, B>({ command, read }: SiteQuery<A>, map: (value: A) => B): SiteQuery<B> {
  return {
    command,
    read(output) {
      const answer = read(output);
      return answer.ok ? ok(map(answer.value)) : answer;
    },
  };
}

/** Null is no answer, and no evidence for either. */
function known({ command, read }: SiteQuery<boolean | null>): SiteQuery<boolean> {
  return {
    command,
    read(output) {
      const answer = read(output);
      if (!answer.ok) return answer;
      if (answer.value !== null) return ok(answer.value);
      return siteProblem('away', 'known: the program cannot say');
    },
  };
}

function questionOf(change: NodeSwitch): Question {
  return { node: change.node, change: change.kind, reason: change.reason ?? null };
}

function steering(program: readonly string[]): Steering {
  return {
    takeover: 'disabled_scheduler',
    needsHandle: false,
    requirements: [offersStarts(program), hasWhatItNeeds(program)],
    start: ({ id, handle }, on) => [commandOf(program, 'start', { job: id, handle, nodes: on })],
    // Of set-node, too.
    read: (output) => readDone(output, 'order'),
    takeBack: ({ id }, on) => [commandOf(program, 'take-back', { job: id, nodes: on })],
  };
}

function offersStarts(program: readonly string[]): Requirement {
  return {
    what: 'the program offers the operations start and take-back',
    query: mapped(capabilitiesOf(program), ({ operations }) =>
      (['start', 'take-back'] as const).every((one) => operations.includes(one)),
    ),
    remedy: 'write them, and name them in the answer to capabilities; or set site.mode: submit',
  };
}

/** The first that is not met is told in the program's own words. */
function hasWhatItNeeds(program: readonly string[]): Requirement {
  const { command, read } = capabilitiesOf(program);
  return {
    what: 'all that the program needs of its system is so',
    query: {
      command,
      read(output) {
        const answer = read(output);
        if (!answer.ok) return answer;
        const lack = answer.value.requirements.find(({ met }) => !met);
        if (lack === undefined) return ok(true);
        return siteProblem('refused', `this is not so: ${lack.what}. Remedy: ${lack.remedy}`);
      },
    },
    remedy: 'docs/adaptors.md has the requirements of a program',
  };
}

// Nodes, queues and ends as a program lists them: the keys are those of kernel/model/site.ts, and
// what is left out is not known.

const STATES: readonly SiteNodeState[] = [
  ...(['idle', 'running', 'busy', 'stopped', 'down', 'unknown'] as const),
];

const cpus = whole(0, CPUS_PER_NODE_MAX, 'a whole number of cpus');

interface ListedNode extends Omit<SiteNode, 'word' | 'parts' | 'seen'> {
  readonly word: string | null;
  readonly isStopped: boolean | null;
}

const listedNode = record<ListedNode>({
  name: { shape: nodeName },
  state: { shape: oneOf(...STATES) },
  word: orNull(text),
  reason: orNull(text),
  isStopped: orNull(flag),
  cpuCount: { shape: cpus },
  cpusUsed: { shape: cpus, otherwise: 0 },
  memoryBytes: orNull(amount),
  memoryFreeBytes: orNull(amount),
  features: { shape: words, otherwise: [] },
  queues: { shape: words, otherwise: [] },
});

const node: Shape<SiteNode> = (value, at) => {
  const read = listedNode(value, at);
  if (!read.ok) return read;
  const { isStopped, ...listed } = read.value;
  const parts = isStopped === null ? {} : { parts: [{ name: listed.name, isOpen: !isStopped }] };
  return ok({ ...listed, word: listed.word ?? listed.state, ...parts });
};

const queue = record<Omit<SiteQueue, 'seen'>>({
  name: { shape: text },
  isOpen: { shape: flag, otherwise: true },
  isStarted: { shape: flag, otherwise: true },
  walltimeMaxMs: orNull(amount),
  nodes: { shape: nodeNames, otherwise: [] },
});

const nodes = distinct(list(node, SITE_NODES_MAX), ({ name }) => name);
const queues = distinct(list(queue, SITE_NODES_MAX), ({ name }) => name);

const end = record<Omit<SiteEnd, 'nodes' | 'firstNode' | 'namedNodes'>>({
  startedAt: orNull(instant),
  endedAt: { shape: instant },
  exit: { shape: exitStatus },
  reason: orNull(text),
});
