// Words that only the head knows: ids of jobs, names of nodes, partitions, reservations and users.

import { Failure } from '../../model/failure.ts';
import type { Completion, Context } from '../context.ts';
import type { Offer } from './offer.ts';

/** Somebody waits with a finger on the key. */
export const FETCH_MAX_MS = 800;
const JOBS_OFFERED = 200;

/** What a word names, and of jobs which are of use to the command. */
export type Live =
  | 'jobs'
  | 'jobs:active'
  | 'jobs:pending'
  | 'jobs:held'
  | 'jobs:free'
  | 'jobs:running'
  | 'jobs:suspended'
  | 'jobs:started'
  | 'labels'
  | 'maintenance'
  | 'nodes'
  | 'partitions'
  | 'qos'
  | 'reservations'
  | 'tokens'
  | 'users';

/** Asks the head. Without one, or with one that refuses, nothing is offered. */
export async function fetchOffers(
  context: Context,
  { offers }: Pick<Completion, 'offers'>,
): Promise<readonly Offer[]> {
  try {
    return await offers(context);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
}

/** What is asked for words of this kind. */
export function offersOf(live: Live): Completion['offers'] {
  return (context) => fetchLive(context, live);
}

function fetchLive(context: Context, live: Live): Promise<readonly Offer[]> {
  switch (live) {
    case 'labels':
      return labels(context);
    case 'maintenance':
      return maintenance(context);
    case 'nodes':
      return nodes(context);
    case 'partitions':
      return partitions(context);
    case 'qos':
      return qos(context);
    case 'reservations':
      return reservations(context);
    case 'tokens':
      return tokens(context);
    case 'users':
      return users(context);
    default:
      return jobs(context, live);
  }
}

const JOB_STATES = {
  jobs: 'all',
  'jobs:active': 'active',
  'jobs:pending': 'pending',
  'jobs:held': 'pending',
  'jobs:free': 'pending',
  'jobs:running': 'running',
  'jobs:suspended': 'suspended',
  'jobs:started': 'active',
} as const;

async function jobs(context: Context, live: keyof typeof JOB_STATES): Promise<Offer[]> {
  const api = await context.api();
  const query = { state: JOB_STATES[live], limit: JOBS_OFFERED };
  const reply = await api.call('listJobs', { query, timeoutMs: FETCH_MAX_MS });
  return reply.jobs
    .filter(({ held, state }) => {
      if (live === 'jobs:held') return held;
      if (live === 'jobs:free') return !held;
      return live !== 'jobs:started' || state !== 'pending';
    })
    .map(({ id, name, state, outcome }) => [String(id), `${name} ${outcome?.kind ?? state}`]);
}

async function labels(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listNodes', { timeoutMs: FETCH_MAX_MS });
  return [...new Set(reply.nodes.flatMap((node) => node.labels))].map((label) => [label, 'label']);
}

async function nodes(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listNodes', { timeoutMs: FETCH_MAX_MS });
  return reply.nodes.map(({ name, state }) => [name, state]);
}

async function partitions(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listPartitions', { timeoutMs: FETCH_MAX_MS });
  return reply.partitions.map(({ name, state }) => [name, state]);
}

async function qos(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listQos', { timeoutMs: FETCH_MAX_MS });
  return reply.qualities.map(({ name, priority }) => [name, `priority ${priority}`]);
}

async function reservations(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listReservations', { timeoutMs: FETCH_MAX_MS });
  return reply.reservations.map(({ id, name }) => [name ?? id, id]);
}

async function maintenance(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listMaintenance', { timeoutMs: FETCH_MAX_MS });
  return reply.maintenance.map(({ id, reason }) => [id, reason]);
}

async function tokens(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listTokens', { timeoutMs: FETCH_MAX_MS });
  return reply.tokens.map(({ id, label }) => [id, label ?? '']);
}

async function users(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listUsage', { timeoutMs: FETCH_MAX_MS });
  return reply.users.map(({ user }) => [user, 'user']);
}
