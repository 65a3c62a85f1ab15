// Words that only the head knows: ids of jobs, names of nodes, partitions, reservations and users.

import { Failure } from '../../model/failure.ts';
import type { Context } from '../context.ts';
import type { Offer } from './offer.ts';

/** Somebody waits with a finger on the key. */
const FETCH_MAX_MS = 800;
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
  | 'batches'
  | 'partitions'
  | 'fleets'
  | 'pilots'
  | 'pools'
  | 'qos'
  | 'reservations'
  | 'sites'
  | 'tokens'
  | 'users';

/** Asks the head. Without one, or with one that refuses, nothing is offered. */
export async function fetchOffers(context: Context, live: Live): Promise<readonly Offer[]> {
  try {
    return await fetchLive(context, live);
  } catch (error) {
    if (error instanceof Failure) return [];
    throw error;
  }
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
    case 'batches':
      return batches(context);
    case 'fleets':
      return fleets(context);
    case 'pilots':
      return pilots(context);
    case 'pools':
      return pools(context);
    case 'qos':
      return qos(context);
    case 'reservations':
      return reservations(context);
    case 'sites':
      return sites(context);
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

async function batches(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listBatches', { timeoutMs: FETCH_MAX_MS });
  return reply.batches.map(({ title, state, outcome }) => [title, outcome ?? state]);
}

async function fleets(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listFleets', { timeoutMs: FETCH_MAX_MS });
  return reply.fleets.map(({ name, system }) => [name, system]);
}

async function pilots(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listFleets', { timeoutMs: FETCH_MAX_MS });
  return reply.fleets.flatMap((fleet) => {
    return fleet.pilots.map(({ node, state }): Offer => [node, state]);
  });
}

async function pools(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listPools', { timeoutMs: FETCH_MAX_MS });
  return reply.pools.map(({ id, name, owner }) => [String(id), `${name ?? 'pool'} of ${owner}`]);
}

async function sites(context: Context): Promise<Offer[]> {
  const reply = await (await context.api()).call('listSites');
  return reply.sites.map(({ name, system }) => [name, system]);
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
