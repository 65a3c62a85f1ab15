// The shape of what agents send, checked before anybody believes it: one broken or hostile agent
// must not be able to stop the head. What the values mean is for the controller to judge.

import { CARD_STATES } from '../model/gpu.ts';
import {
  CARD_USERS_MAX,
  CARDS_PER_NODE_MAX,
  GPU_NOTES_MAX,
  MEMORY_USES_MAX,
  NODE_WORD_LENGTH_MAX,
  NODE_WORDS_MAX,
  PRESENCES_MAX,
  SITE_JOBS_PER_MESSAGE_MAX,
  SITE_NODES_MAX,
  SITE_UNDONE_MAX,
} from '../model/limits.ts';
import type { EndCause } from '../model/orders.ts';
import { isPlausible, type Resources } from '../model/resources.ts';
import { SITE_STOP_STATES } from '../model/site.ts';
import { type AgentToHead, PROTOCOL_VERSION } from './messages.ts';

/** Says whether a value has the shape. */
type Shape = (value: unknown) => boolean;

const text: Shape = (value) => typeof value === 'string';
const flag: Shape = (value) => typeof value === 'boolean';
const finite: Shape = (value) => Number.isFinite(value);
const count: Shape = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const integer: Shape = (value) => Number.isSafeInteger(value);
const bytes: Shape = (value) => value instanceof Uint8Array;

function list(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(shape);
}

function oneOf(...words: readonly string[]): Shape {
  return (value) => typeof value === 'string' && words.includes(value);
}

function optional(shape: Shape): Shape {
  return (value) => value === undefined || shape(value);
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function map(fields: Readonly<Record<string, Shape>>): Shape {
  const all = Object.entries(fields);
  return (value) => isMap(value) && all.every(([name, shape]) => shape(value[name]));
}

function orNull(shape: Shape): Shape {
  return (value) => value === null || shape(value);
}

function listUpTo(max: number, shape: Shape): Shape {
  return (value) => list(shape)(value) && (value as unknown[]).length <= max;
}

const amounts = map({ cpuCount: count, memoryBytes: count, gpuCount: count, counted: isMap });
/** Every gpu is listed by itself: a count beyond all machines would use up the head's memory. */
const resources: Shape = (value) => amounts(value) && isPlausible(value as Resources);
const word: Shape = (value) => typeof value === 'string' && value.length <= NODE_WORD_LENGTH_MAX;
const words: Shape = (value) => list(word)(value) && (value as unknown[]).length <= NODE_WORDS_MAX;
const place = map({ jobId: count, index: (value) => value === null || count(value) });
const held = map({
  epochId: text,
  place,
  epoch: count,
  life: optional(word),
  share: map({
    resources,
    gpus: list(count),
    gpuTypes: optional(words),
    gpuShareBytes: optional(count),
  }),
  isNext: optional(flag),
  stands: optional(
    map({
      at: finite,
      startedAt: finite,
      turnHeard: count,
      turnTold: count,
      turnedAt: optional(finite),
      suspended: flag,
      storing: flag,
    }),
  ),
});

const facts = map({
  os: text,
  arch: text,
  kernel: text,
  hostname: text,
  agentVersion: text,
  diskFreeBytes: finite,
  diskBytes: finite,
  network: text,
  limits: text,
  containers: optional(text),
  launcher: text,
  site: optional(text),
  siteSkills: optional(
    map({
      signals: flag,
      suspends: orNull(oneOf('any', 'unlimited')),
      ownersResume: optional(flag),
    }),
  ),
  sizes: optional(listUpTo(NODE_WORDS_MAX, map({ cpuCount: count, memoryBytes: orNull(count) }))),
  switchesUser: flag,
  ownUserOnly: optional(flag),
  takesFrom: optional(words),
  user: text,
});

const nothing: Shape = (value) => value === null;
const either =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));
const is = (word: string): Shape => oneOf(word);
const pause = either(
  nothing,
  map({ kind: is('owner'), by: word, since: finite, until: finite, requeue: flag }),
  map({ kind: is('yield'), why: word, since: finite, requeue: flag }),
);

const card = map({
  number: count,
  index: orNull(count),
  label: optional(word),
  uuid: word,
  vendor: word,
  name: word,
  type: word,
  memoryBytes: orNull(count),
  busId: word,
  numaNode: optional(count),
  linkedWith: optional(word),
  partOf: optional(word),
  state: oneOf(...CARD_STATES),
  why: orNull(word),
  isWell: optional((value) => value === true),
  kept: optional((value) => value === true),
  since: finite,
  users: listUpTo(
    CARD_USERS_MAX,
    map({
      pid: count,
      user: word,
      program: word,
      memoryBytes: orNull(count),
      since: finite,
      task: optional(word),
    }),
  ),
  over: optional(listUpTo(CARD_USERS_MAX, map({ task: word, memoryBytes: count }))),
});
const gpus = map({
  cards: listUpTo(CARDS_PER_NODE_MAX, card),
  driver: orNull(word),
  remark: orNull(word),
  notes: optional(listUpTo(GPU_NOTES_MAX, word)),
  fence: optional(map({ holds: flag, words: word })),
  lookMs: optional(finite),
});

const hello = map({
  bootId: text,
  instance: text,
  resources,
  labels: words,
  sharedPaths: words,
  facts,
  held: list(held),
  fault: optional(word),
  gpus: optional(gpus),
  pauseMaxMs: count,
  machine: optional(
    map({
      id: optional(word),
      board: optional(word),
      folder: optional(word),
      copyOf: optional(word),
    }),
  ),
  upMs: optional(finite),
  pause: optional(map({ turn: count, pause })),
});

const given = map({ nextJobId: count, nextReservationId: count, epochMax: count });
const stamp = map({ life: word, seq: count, given, cluster: word, proof: word });

const greeting = map({ hello, dialedAt: finite, features: words, stamp: optional(stamp) });

const CAUSES: Readonly<Record<EndCause, true>> = {
  exited: true,
  ended: true,
  timeout: true,
  out_of_memory: true,
  launch_failed: true,
  stage_failed: true,
  lease_expired: true,
  lost: true,
  never_started: true,
};

const processEnd = map({
  rank: count,
  exit: map({ code: optional(integer), signal: optional(integer) }),
});
const usage = map({ userUs: finite, systemUs: finite, memoryPeakBytes: finite });

const outside = map({ files: count, bytes: count, names: listUpTo(10, word) });
const stored = map({
  files: count,
  bytes: count,
  leftOut: count,
  outside: optional(outside),
  problem: optional(word),
});

const REPORTS: Readonly<Record<string, Shape>> = {
  task_started: map({ epochId: text, at: finite, limits: text, agoMs: optional(count) }),
  task_suspended: map({ epochId: text, at: finite, turn: count }),
  task_resumed: map({ epochId: text, at: finite, turn: count }),
  task_storing: map({ epochId: text, at: finite }),
  task_built: map({ epochId: text, at: finite, tookMs: finite }),
  task_ended: map({
    epochId: text,
    at: finite,
    cause: oneOf(...Object.keys(CAUSES)),
    nodeFault: flag,
    processes: list(processEnd),
    usage,
    detail: optional(text),
    there: optional(oneOf('refused', 'cancelled', 'untaken')),
    stored: optional(stored),
    silentNodeRank: optional(count),
    startedAt: optional(finite),
    next: optional(text),
  }),
  node_pause: map({ at: finite, turn: count, orderHeard: count, pause, why: optional(word) }),
};

const report: Shape = (value) =>
  isMap(value) && typeof value.kind === 'string' && REPORTS[value.kind]?.(value) === true;

const logName = map({
  epochId: text,
  nodeRank: count,
  rank: count,
  stream: oneOf('stdout', 'stderr'),
});

const presences = list(
  map({
    by: word,
    what: word,
    at: (value) => value === null || finite(value),
    state: oneOf('in_use', 'quiet', 'blind'),
  }),
);
const memoryUses = list(
  map({
    epochId: text,
    bytes: count,
    peakBytes: count,
    kills: count,
    killedAt: (value) => value === null || finite(value),
  }),
);
const memory: Shape = (value) =>
  memoryUses(value) && (value as unknown[]).length <= MEMORY_USES_MAX;
const presence: Shape = (value) => presences(value) && (value as unknown[]).length <= PRESENCES_MAX;

const seen = optional(
  map({
    hiddenBy: orNull(word),
    labels: words,
    queue: orNull(word),
    partition: orNull(word),
    name: orNull(word),
    rules: words,
  }),
);
const filterState = map({
  rules: listUpTo(NODE_WORDS_MAX, map({ name: word, over: word, matched: count, of: count })),
  sources: listUpTo(
    NODE_WORDS_MAX,
    map({ name: word, ageMs: orNull(finite), problem: orNull(text) }),
  ),
  problem: orNull(text),
});
const siteJob = map({
  id: word,
  handle: orNull(text),
  name: text,
  owner: word,
  state: word,
  word,
  reason: orNull(text),
  queue: orNull(text),
  elements: orNull(text),
  submittedAt: orNull(finite),
  startedAt: orNull(finite),
  endedAt: orNull(finite),
  walltimeMs: orNull(count),
  nodeCount: count,
  cpuCount: orNull(count),
  memoryBytes: orNull(count),
  isExclusive: flag,
  nodes: list(word),
  isOurs: flag,
  exit: orNull(map({ code: optional(integer), signal: optional(integer) })),
  where: optional(
    map({
      only: optional(list(word)),
      not: optional(list(word)),
      features: optional(list(text)),
      queues: optional(list(text)),
    }),
  ),
  seen,
  epochId: optional(word),
  isCancelled: optional(flag),
});
const siteNode = map({
  name: word,
  state: word,
  word: text,
  reason: orNull(text),
  cpuCount: count,
  cpusUsed: count,
  memoryBytes: orNull(count),
  memoryFreeBytes: orNull(count),
  features: list(text),
  queues: list(text),
  seen,
});
const siteStop = map({
  node: word,
  maintenance: word,
  state: oneOf(...SITE_STOP_STATES),
  why: orNull(text),
});
const siteQueue = map({
  name: word,
  isOpen: flag,
  isStarted: flag,
  walltimeMaxMs: orNull(count),
  nodes: list(word),
  seen,
});
const siteNews = map({
  isFirst: flag,
  isLast: flag,
  system: word,
  mode: oneOf('submit', 'steer'),
  takeover: orNull(word),
  problem: orNull(text),
  ageMs: orNull(finite),
  nodes: optional(listUpTo(SITE_NODES_MAX, siteNode)),
  queues: optional(listUpTo(SITE_NODES_MAX, siteQueue)),
  jobs: listUpTo(SITE_JOBS_PER_MESSAGE_MAX, siteJob),
  gone: listUpTo(SITE_JOBS_PER_MESSAGE_MAX, word),
  stops: optional(listUpTo(SITE_NODES_MAX, siteStop)),
  stopsHeard: optional(count),
  filters: optional(filterState),
  undone: optional(listUpTo(SITE_UNDONE_MAX, map({ epochId: word, words: text }))),
});

/** By kind; what is not here is no message of an agent. */
export const AGENT_SHAPES: Readonly<Record<AgentToHead['kind'], Shape>> = {
  // Another protocol's hello may look different: only its number is read.
  hello: map({ protocol: finite, hello: isMap }),
  heartbeat: map({
    sentAt: finite,
    at: finite,
    load: map({ load1: finite, memoryFreeBytes: finite, diskFreeBytes: finite }),
    fault: optional(word),
    presence: optional(presence),
    gpus: optional(gpus),
    memory: optional(memory),
    mayWait: optional(flag),
  }),
  reports: map({ first: count, reports: list(report) }),
  site: map({ news: siteNews }),
  // The wing judges what is in it.
  wing: map({ wing: word, body: isMap }),
  stdin_ack: map({ epochId: text, offset: count, end: flag }),
  log: map({
    name: logName,
    offset: count,
    bytes,
    end: flag,
    dropped: count,
    tail: optional(bytes),
  }),
};

/** What is wrong with a message of a known kind, in words; null when its shape is right. */
export function findFlaw(message: AgentToHead): string | null {
  const { kind } = message;
  if (!AGENT_SHAPES[kind](message)) return `the fields of '${kind}' are not as they should be`;
  if (kind === 'hello' && message.protocol === PROTOCOL_VERSION && !greeting(message)) {
    return 'the hello of the node is not as it should be';
  }
  return null;
}
