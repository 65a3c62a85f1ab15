// One machine on its way to be a node: looked at, sent what it lacks, joined, started, and up.

import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import { encodeTicket } from '../../../kernel/cli/join-string.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import type { Destination } from '../core/destination.ts';
import type { Held } from '../core/lock.ts';
import { placesFor } from '../core/places.ts';
import { type Part, type Plan, type Problem, planFor, type Wanted } from '../core/plan.ts';
import { type Probe, parseProbe, probeScript } from '../core/probe.ts';
import {
  joinScript,
  lastWordsScript,
  makeRoomScript,
  putScript,
  startScript,
  unpackCommand,
} from '../core/scripts.ts';
import type { Locks } from './locks.ts';
import type { PackageFiles } from './package-files.ts';
import type { Answer, Ssh } from './ssh.ts';
import { lastLine, Stopped } from './stopped.ts';
import type { Tickets } from './tickets.ts';

const SCRIPT_MS = 120_000;
const SEND_MS = 900_000;
const UP_MS = 90_000;
/** After this, an agent that ran and is not up is looked for again. */
const SECOND_LOOK_MS = 10_000;
const LOOK_MS = 300;

export interface Rollout {
  readonly ssh: Ssh;
  readonly locks: Locks;
  readonly api: Api;
  readonly parts: PackageFiles;
  readonly wanted: Wanted;
  readonly tickets: Tickets;
  /** What is being done to it now. */
  tell(host: string, what: string): void;
}

/** Ended with the node, or with why it is none and the way out. */
export type Outcome =
  | { readonly kind: 'up'; readonly node: NodeView; readonly plan: Plan }
  | ({ readonly kind: 'failed' } & Problem);

export async function rollOut(to: Destination, rollout: Rollout): Promise<Outcome> {
  try {
    const step = await planned(to, rollout);
    return (await upAlready(to, step)) ?? (await changed(to, step));
  } catch (error) {
    if (error instanceof Stopped) return { kind: 'failed', ...error.problem };
    if (error instanceof Failure)
      return { kind: 'failed', what: error.message, remedy: error.hint ?? '' };
    // The others go on, whatever happened to this one.
    return { kind: 'failed', what: (error as Error).message, remedy: '' };
  }
}

interface Step extends Rollout {
  readonly probe: Probe;
  readonly plan: Plan;
}

async function planned(to: Destination, rollout: Rollout): Promise<Step> {
  const probe = await probed(to, rollout);
  const plan = planFor(probe, rollout.wanted);
  if (!plan.ok) throw new Stopped(plan.error.what, plan.error.remedy);
  return { ...rollout, probe, plan: plan.value };
}

async function probed({ ssh: host }: Destination, { ssh, tell, wanted }: Rollout): Promise<Probe> {
  tell(host, 'looking at it');
  const answer = await ssh.script(host, probeScript(wanted), { as: '', timeoutMs: SCRIPT_MS });
  const probe = parseProbe(answer.out);
  if (probe.ok) return probe.value;
  if (answer.code === 255)
    throw new Stopped(`ssh: ${lastLine(answer.error)}`, remedyFor(host, answer));
  throw new Stopped(
    `${probe.error}: ${lastLine(answer.error) || `exit ${answer.code}`}`,
    `Try: ssh ${host} uname -a`,
  );
}

function remedyFor(host: string, { error }: Answer): string {
  if (/Host key verification failed/.test(error))
    return `Log in once by hand, and accept its key: ssh ${host}`;
  if (/Permission denied/.test(error)) return `Give it your key: ssh-copy-id ${host}`;
  return `Try: ssh ${host} true`;
}

/** Null: it lacks something. Its agent may have been on its way out when it was looked at. */
async function upAlready(to: Destination, step: Step): Promise<Outcome | null> {
  const { api, plan, tell } = step;
  if (plan.joins || plan.starts) return null;
  tell(to.ssh, 'waiting until it is up');
  const look = { not: null, ms: SECOND_LOOK_MS };
  const node = await untilUp(api, nameOf(to, step), look);
  if (node !== null) return { kind: 'up', node, plan };
  const { isRunning } = await probed(to, step);
  return isRunning ? await waitedFor(to, step) : null;
}

/** Nobody else is at work there meanwhile; what others did before is looked at again. */
async function changed(to: Destination, before: Step): Promise<Outcome> {
  const site = { host: to.ssh, places: placesIn(before), as: before.plan.as };
  before.tell(to.ssh, 'waiting for its turn');
  return await before.locks.hold(site, async (places) => {
    const step = await planned(to, before);
    const { plan, tell } = step;
    // Before anything is sent: it could not join in the end.
    if (plan.joins) await refuseTaken(step.api, nameOf(to, step));
    if (plan.sends.length > 0) await send(to.ssh, places, step);
    if (plan.joins) {
      tell(to.ssh, 'joining');
      await step.tickets.during((ticket) => {
        const script = joinScript(places, encodeTicket(ticket), nameOf(to, step));
        return done(to.ssh, script, step, 'it could not join');
      });
    }
    return plan.starts ? await started(to, places, step) : await waitedFor(to, step);
  });
}

/** Two machines of one name, or one that was a node before and does not know it. */
async function refuseTaken(api: Api, name: string): Promise<void> {
  const node = await look(api, name);
  if (node === null) return;
  const which = node.connectedAt === undefined ? 'which is away' : 'which is up';
  throw new Stopped(
    `the head has another node ${name} already, ${which}`,
    `Give this one a name: --name OTHER, or HOST OTHER in a file for --hosts. If that node is gone for good, or was this machine: weft node remove ${name}, and run the same again.`,
  );
}

const nameOf = (to: Destination, { probe }: Step): string =>
  probe.member?.name ?? to.name ?? probe.host.split('.')[0] ?? probe.host;

async function started(to: Destination, places: Held, step: Step): Promise<Outcome> {
  const { api, plan, tell } = step;
  const since = await connectedAt(api, nameOf(to, step));
  tell(to.ssh, 'starting its agent');
  const script = startScript(places, plan.service);
  await done(to.ssh, script, step, 'its agent could not be started');
  return await waitedFor(to, step, since);
}

/** `not`: an earlier connection, which does not count. */
async function waitedFor(to: Destination, step: Step, not: number | null = null): Promise<Outcome> {
  const { api, plan, ssh, tell } = step;
  tell(to.ssh, 'waiting until it is up');
  const node = await untilUp(api, nameOf(to, step), { not, ms: UP_MS });
  if (node !== null) return { kind: 'up', node, plan };
  const places = placesIn(step);
  const words = await ssh.script(to.ssh, lastWordsScript(places), asIn(step));
  const what = `node ${nameOf(to, step)} is not up after ${UP_MS / 1000}s: ${lastLine(words.out) || 'its agent says nothing'}`;
  throw new Stopped(what, `Look there: weft agent --dir ${places.state}`);
}

async function send(host: string, places: Held, step: Step): Promise<void> {
  const { plan, tell, wanted } = step;
  tell(host, 'sending the programs');
  await done(host, makeRoomScript(places), step, 'there is no place for the programs');
  for (const part of plan.sends) await sendPart(host, places, step, part);
  const put = putScript(places, wanted.release, wanted.nodejs);
  await done(host, put, step, 'what was sent does not run there');
}

async function sendPart(host: string, places: Held, step: Step, part: Part): Promise<void> {
  const { ssh, parts, plan } = step;
  const file = await parts.file(part);
  const command = unpackCommand(places, plan.as);
  const sent = await ssh.send(host, command, { file, timeoutMs: SEND_MS });
  if (sent.code === 0) return;
  throw new Stopped(
    `the programs were not sent: ${lastLine(sent.error)}`,
    `Make room there if it has none (ssh ${host} df -h), and run the same again.`,
  );
}

const placesIn = ({ probe }: Step) => placesFor(probe.rights === 'none' ? 'user' : 'system');

const asIn = ({ plan }: Step) => ({ as: plan.as, timeoutMs: SCRIPT_MS });

async function done(host: string, script: string, step: Step, otherwise: string): Promise<void> {
  const answer = await step.ssh.script(host, script, asIn(step));
  if (answer.code === 0) return;
  const why = lastLine(answer.error) || lastLine(answer.out) || `exit ${answer.code}`;
  throw new Stopped(
    `${otherwise}: ${why}`,
    'Mend that, and run the same again: it goes on from there.',
  );
}

/** Returns null when it is not connected. */
async function connectedAt(api: Api, name: string): Promise<number | null> {
  return (await look(api, name))?.connectedAt ?? null;
}

/** `not`: an earlier connection, which does not count. Null: it is not up in time. */
async function untilUp(
  api: Api,
  name: string,
  { not, ms }: { readonly not: number | null; readonly ms: number },
): Promise<NodeView | null> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const node = await look(api, name);
    if (node?.connectedAt !== undefined && node.connectedAt !== not) return node;
    await sleep(LOOK_MS);
  }
  return null;
}

/** Returns null when the head knows no node of that name. */
async function look(api: Api, name: string): Promise<NodeView | null> {
  try {
    return await api.call('getNode', { params: { name } });
  } catch (error) {
    if (error instanceof Failure && error.kind === 'not_found') return null;
    throw error;
  }
}
