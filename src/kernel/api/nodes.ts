// Nodes as the API shows them, and what operators do with them.

import { z } from 'zod';
import {
  changedReply,
  count,
  countedAmounts,
  instant,
  instantOrNull,
  label,
  noBody,
  nodeName,
  plainLine,
  resources,
} from './common.ts';
import { ADMIN, OPERATOR, type RouteShape, USER } from './route-shape.ts';

export const nodeParams = z.strictObject({ name: nodeName });

/** One gpu; instants are by the node's clock. */
const card = z.object({
  /** The machine's number of it; null: the machine gives it none now. */
  index: z.number().int().nullable(),
  /** What to call it: its number, `0:2` of a slice, `amd:0` beside cards of other makers. */
  label: z.string(),
  uuid: z.string(),
  vendor: z.string(),
  name: z.string(),
  /** `rtx4090`, `a100-80g`, `a100-1g.10g`. */
  type: z.string(),
  memoryBytes: z.number().int().nullable(),
  busId: z.string(),
  numaNode: z.number().int().exactOptional(),
  /** Uuid of the first of the cards that it is joined with by NVLink. */
  linkedWith: z.string().exactOptional(),
  /** Uuid of the card that it is a part of. */
  partOf: z.string().exactOptional(),
  /** `given`: a task has it. `kept`: for its owner. All but `free` is given to no other task. */
  state: z.enum(['free', 'given', 'used_outside', 'kept', 'ill', 'gone', 'unknown']),
  /** Why no task may be given it, in words; null: one may. */
  why: z.string().nullable(),
  since: instant,
  /** Processes on it that are of no task, or of one that has not been given it. */
  users: z.array(
    z.object({
      pid: z.number().int(),
      user: z.string(),
      program: z.string(),
      memoryBytes: z.number().int().nullable(),
      since: instant,
      /** The task, with its epoch, that it is of. Absent: of none. */
      task: z.string().exactOptional(),
    }),
  ),
  /** Tasks that have it, with their epoch. */
  tasks: z.array(z.string()),
  /** Whose these are. Absent: heads of before do not say. */
  owners: z.array(z.string()).exactOptional(),
  /** Those of them that use more of its memory than their share. */
  over: z.array(z.object({ task: z.string(), memoryBytes: z.number().int() })).exactOptional(),
});
export type CardView = z.infer<typeof card>;

export const UNUSABLE =
  'Gpus that no task has and none may be given, as others use them, or they are ill. Absent: none.';

export const nodeView = z.object({
  name: z.string(),
  /** `up`: connected. `away`: silent for less than the time-out. `never_seen`: only enrolled. */
  state: z.enum(['up', 'away', 'unreachable', 'never_seen']),
  drained: z.object({ reason: z.string(), by: z.string(), at: instant }).nullable(),
  /** Why it says that it can take no new work, such as `disk full`; clears by itself. */
  fault: z.string().nullable(),
  /** While it stands aside for whoever sits at it; instants are by the node's clock. */
  paused: z
    .discriminatedUnion('kind', [
      /** Somebody asked for it. */
      z.object({
        kind: z.literal('owner'),
        by: z.string(),
        since: instant,
        until: instant,
        requeue: z.boolean(),
      }),
      /** The agent saw that the machine is in use: `why` says what it saw. */
      z.object({
        kind: z.literal('yield'),
        why: z.string(),
        since: instant,
        requeue: z.boolean(),
      }),
    ])
    .nullable(),
  /** An operator wants a pause to begin or end, and the node has not answered yet. */
  pauseWanted: z.boolean(),
  /**
   * Users of the node's machine, a row for each way of seeing them; instants are by the node's
   * clock. Null when the node does not look, or is away.
   */
  presence: z
    .array(
      z.object({
        by: z.string(),
        /** What it saw last; of one that is `blind`, why it cannot see. */
        what: z.string(),
        /** When; null: it is so now, or nothing was seen. */
        at: instantOrNull,
        state: z.enum(['in_use', 'quiet', 'blind']),
      }),
    )
    .nullable(),
  /** The node's cards, as its agent reports them; null when it reports none. */
  gpus: z
    .object({
      cards: z.array(card),
      driver: z.string().nullable(),
      /** What to know of how they were looked at; null: nothing. */
      remark: z.string().nullable(),
      /** What an administrator might change about the machine for them. */
      notes: z.array(z.string()).exactOptional(),
      /** Whether tasks can open no cards but their own: by what, or why not. */
      fence: z.object({ holds: z.boolean(), words: z.string() }).exactOptional(),
    })
    .nullable()
    .exactOptional(),
  /** The one it is in, else its next. */
  maintenance: z
    .object({
      id: z.string(),
      from: instant,
      until: instant,
      reason: z.string(),
      begun: z.boolean(),
    })
    .nullable(),
  /** Why it gets no new work, in words; null when it does. */
  reason: z.string().nullable(),
  total: resources,
  free: resources,
  gpusUnusable: count.exactOptional().meta({ description: UNUSABLE }),
  /** Declared at enrolment; null: as found on the machine. */
  declared: resources.nullable(),
  labels: z.array(z.string()),
  sharedPaths: z.array(z.string()),
  /** Task ids with their epoch, `42[7]#1`; those that may still have processes here. */
  running: z.array(z.string()),
  unreachableSince: instantOrNull,
  /** When the head heard of it last. */
  lastSeenAt: instantOrNull,
  /** Since when it is connected; absent: it is not. */
  connectedAt: instant.exactOptional(),
  load: z
    .object({ load1: z.number(), memoryFreeBytes: z.number(), diskFreeBytes: z.number() })
    .nullable(),
  /** Ms that its wall clock is ahead of the head's, as far as is known. */
  clockOffsetMs: z.number().int().nullable(),
  facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
  bootId: z.string().nullable(),
  /** Counts its connections; 0 = never seen. */
  session: count,
});
export type NodeView = z.infer<typeof nodeView>;

export const listNodesReply = z.object({ nodes: z.array(nodeView) });

export const drainRequest = z.strictObject({ reason: plainLine.trim().min(1).max(1000) });
/** Longer than any node takes is refused by its own limit. */
export const pauseRequest = z.strictObject({
  durationMs: count,
  requeue: z.boolean().optional(),
});
export const labelRequest = z.strictObject({
  add: z.array(label).max(100).optional(),
  remove: z.array(label).max(100).optional(),
});

/** What a node has from now on, whatever its agent finds; what is absent stays. */
export const modifyNodeRequest = z
  .strictObject({
    cpuCount: count.exactOptional(),
    memoryBytes: count.exactOptional(),
    gpuCount: count.exactOptional(),
    counted: countedAmounts.exactOptional(),
  })
  .refine((wish) => Object.keys(wish).length > 0, { error: 'something to change' });

/** Admits a node whose resources are declared beforehand. */
export const createNodeRequest = z.strictObject({
  name: nodeName,
  resources: resources.nullable().optional(),
  labels: z.array(label).max(100).optional(),
  /** Take over an existing name; its old secret stops working. */
  replace: z.boolean().optional(),
});

export const joinRequest = z.strictObject({
  name: nodeName,
  labels: z.array(label).max(100).optional(),
  /** The machine has had that node's identity until now: a copy of its folder. */
  copyOf: z
    .strictObject({
      node: nodeName,
      bootId: plainLine.min(1).max(200),
      folder: plainLine.min(1).max(200).exactOptional(),
    })
    .exactOptional(),
});

/** The node's secret is shown this once; the head keeps its hash. */
export const admittedReply = z.object({
  name: z.string(),
  secret: z.string(),
  clusterName: z.string(),
});
export type AdmittedReply = z.infer<typeof admittedReply>;

const nodeChange = { access: OPERATOR, params: nodeParams, reply: changedReply };

export const nodeRoutes = {
  listNodes: { summary: 'All nodes.', access: USER, reply: listNodesReply },
  getNode: { summary: 'One node.', access: USER, params: nodeParams, reply: nodeView },
  createNode: {
    summary: 'Enrol a node with declared resources; shows its secret once.',
    access: ADMIN,
    body: createNodeRequest,
    reply: admittedReply,
  },
  modifyNode: {
    summary: 'Declare what a node offers, whatever its agent finds; absent fields stay.',
    access: ADMIN,
    params: nodeParams,
    body: modifyNodeRequest,
    reply: changedReply,
  },
  removeNode: {
    summary: 'Remove a node; its secret stops working.',
    access: ADMIN,
    params: nodeParams,
    reply: changedReply,
  },
  drainNode: { ...nodeChange, summary: 'Give a node no new work.', body: drainRequest },
  undrainNode: { ...nodeChange, summary: 'Give a node work again.', body: noBody },
  pauseNode: {
    ...nodeChange,
    summary: 'Ask a node to stand aside: its tasks are suspended, and nothing starts there.',
    body: pauseRequest,
  },
  unpauseNode: { ...nodeChange, summary: 'End the pause of a node.', body: noBody },
  labelNode: { ...nodeChange, summary: 'Add and remove labels.', body: labelRequest },
  declareNodeLost: {
    ...nodeChange,
    summary:
      'Declare that nothing runs on a silent node any more: its tasks start again elsewhere, or end.',
    body: noBody,
  },
  join: {
    summary: 'Exchange a join token for a secret of the node.',
    access: { kind: 'join_token' },
    body: joinRequest,
    reply: admittedReply,
  },
  agent: {
    summary: 'The WebSocket of an agent. Authorization: Node NAME:SECRET.',
    access: { kind: 'node' },
    produces: 'upgrade',
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
