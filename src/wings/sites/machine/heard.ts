// What a steered site says of its nodes and jobs, and what follows: its nodes become nodes of ours,
// the jobs of its own users become jobs of ours. Where both disagree the site is right: what it
// runs runs, and what it has ended is ended. Saying the same again changes nothing.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import { isSame } from '../../../kernel/base/same.ts';
import { waitingOf, waitingSize } from '../../../kernel/machine/jobs/behind.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import { readIndices } from '../../../kernel/machine/jobs/indices.ts';
import { addJob } from '../../../kernel/machine/jobs/submit.ts';
import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import type { State } from '../../../kernel/machine/state.ts';
import type { Step } from '../../../kernel/machine/step.ts';
import { endPending } from '../../../kernel/machine/tasks/ending.ts';
import { type NodeName, parseNodeName } from '../../../kernel/model/ids.ts';
import type { Outcome } from '../../../kernel/model/job.ts';
import {
  foreignName,
  type ListedJob,
  memberName,
  type SiteJobPlace,
  shownName,
} from '../../../kernel/model/site.ts';
import { arraysOf, elementOf } from '../model/site-elements.ts';
import { foreignSpec, holdOf, nodesFor, ownerOf } from './foreign.ts';
import type { SitePart, SiteWhole } from './look.ts';
import { isArray } from './names.ts';
import { place, replace } from './placed.ts';

/** One part of a look that was heard whole; a gateway that has begun anew says all of it anew. */
export function decideSitePart(step: Step, { node, session, whole, nodes, jobs }: SitePart): void {
  const gateway = step.state.nodes.get(node);
  if (gateway === undefined || gateway.session !== session) return;
  for (const one of nodes) enrol(step, gateway, shownName(one));
  const isNew = step.at - (gateway.lastSeenAt ?? 0) < step.settings.nodeTimeoutMs;
  const site = { ...whole, name: gateway.name, isNew };
  for (const job of jobs) follow(step, site, job);
}

interface Site extends SiteWhole {
  readonly name: NodeName;
  /** The gateway has just connected: its nodes are about to. */
  readonly isNew: boolean;
}

/** A node of the site is let in by the secret of its gateway, which speaks for it. */
function enrol(step: Step, gateway: Node, shown: string): void {
  const name = parseNodeName(memberName(shown, gateway.name));
  if (!name.ok) return;
  const { secretHash, drain } = gateway;
  const label = `site=${gateway.name}`;
  const known = step.state.nodes.get(name.value);
  if (known !== undefined) {
    // Somebody else's node may be called the same: it stays somebody else's.
    if (!known.labels.has(label) || known.secretHash === secretHash) return;
  }
  const own = { node: name.value, secretHash, resources: null, labels: [label] };
  step.emit({ kind: 'node_enrolled', ...own });
  // A site that is paused stays so, whatever nodes it gets.
  if (known !== undefined || drain === null) return;
  step.emit({ kind: 'node_drained', node: name.value, reason: drain.reason, by: drain.by });
}

/** Job of ours that stands for one of the site's, and which task; a whole array has no index. */
interface KnownJob {
  readonly job: Job;
  readonly index: number | null;
}

function find(state: State, site: NodeName, listed: ListedJob): KnownJob | undefined {
  const own = jobOfKey(state, foreignName(site, listed.id));
  if (own !== undefined) return { job: own, index: own.spec.array === null ? 0 : null };
  const element = elementOf(listed.id);
  const array = element === null ? undefined : jobOfKey(state, foreignName(site, element.array));
  if (element === null || !isArray(array) || !hasTask(array, element.index)) return undefined;
  return { job: array, index: element.index };
}

/** An array has what waited when it was first seen; what ran by then is a job of its own. */
function hasTask({ pending, active, ended }: Job, index: number): boolean {
  if (pending.has(index) || active.has(index)) return true;
  return [...ended.values()].some((indices) => indices.has(index));
}

function jobOfKey({ indexes, jobs }: State, key: string): Job | undefined {
  const id = indexes.foreign.get(key);
  return id === undefined ? undefined : jobs.get(id);
}

/**
 * A site that begins to count anew gives an id twice: then it is of a job that came later. Both
 * instants are of the site's clock, which need not be ours; of jobs taken over before that was
 * kept, the end by ours must do.
 */
function isAnother({ endedAt, spec }: Job, { submittedAt }: ListedJob): boolean {
  if (endedAt === null || submittedAt === null) return false;
  return submittedAt > (spec.foreign?.submittedAt ?? endedAt);
}

function follow(step: Step, site: Site, listed: ListedJob): void {
  const found = find(step.state, site.name, listed);
  const known =
    found !== undefined && !isAnother(found.job, listed) ? found : adopt(step, site, listed);
  if (known === undefined || known.job.outcome !== null) return;
  const { job, index } = known;
  if (index === null && listed.state === 'ended') return endWaiting(step, job, listed);
  if (index === null) endMissing(step, site, job, listed);
  else endLeft(step, site, job, listed);
  if (index !== null) followLimit(step, site, job, listed);
  if (index !== null && job.active.has(index)) replace(step, site, { job, index }, listed);
  if (index === null || !job.pending.has(index)) return void followHold(step, site, job, listed);
  switch (listed.state) {
    case 'ended':
      // It ran without our seeing it: it is taken for started there, and its gateway tells its end.
      if (listed.exit !== null && place(step, site, { job, index }, listed)) return;
      if (listed.exit !== null && isAhead(step.state, site, listed)) return;
      return endPending(step, job, IntervalSet.of([[index, index]]), outcomeOf(listed));
    case 'starting':
    case 'running':
    case 'suspended':
    case 'completing':
      return void place(step, site, { job, index }, listed);
    default:
      return followHold(step, site, job, listed);
  }
}

/** An array that is over there as a whole: what has not begun of it never will. */
function endWaiting(step: Step, job: Job, listed: ListedJob): void {
  const waiting = waitingOf(job);
  if (waiting.size > 0) endPending(step, job, waiting, outcomeOf(listed));
}

/**
 * An array that waits says which of its elements do: one that is neither among these nor listed by
 * itself was cancelled there while it waited, and leaves no other trace.
 */
function endMissing(step: Step, site: Site, job: Job, listed: ListedJob): void {
  const { state, id, elements } = listed;
  if ((state !== 'held' && state !== 'waiting') || isAgreed(site, job, listed)) return;
  const there = elements === null ? null : readIndices(elements);
  if (there === null || !there.ok) return;
  const missing = waitingOf(job);
  missing.subtract(there.value);
  endNotAlone(step, site, job, { id, missing });
}

/** An array that is listed no more has nothing that waits, but for what is listed by itself. */
function endLeft(step: Step, site: Site, job: Job, { state }: ListedJob): void {
  const { foreign, array } = job.spec;
  if (foreign === undefined || array === null || site.listed.has(foreign.job)) return;
  if (state === 'ended' || state === 'unknown' || waitingSize(job) === 0) return;
  endNotAlone(step, site, job, { id: foreign.job, missing: waitingOf(job) });
}

function endNotAlone(
  step: Step,
  { alone }: Site,
  job: Job,
  { id, missing }: { readonly id: string; readonly missing: IntervalSet },
): void {
  const others = alone.get(id);
  if (others !== undefined) missing.subtract(others);
  const detail = 'its array at its site has it no more';
  if (missing.size > 0) endPending(step, job, missing, { kind: 'cancelled', detail });
}

/**
 * What waiting jobs say, their own specifications say already: of those, and of these nodes. A job
 * that nothing is told of is the same object in the next listing, and most of ten thousand are.
 */
const AGREED = new WeakMap<ListedJob, Pick<Site, 'told'> & Pick<Job, 'spec'>>();

function isAgreed({ told }: Site, { spec }: Job, listed: ListedJob): boolean {
  const agreed = AGREED.get(listed);
  return agreed !== undefined && agreed.spec === spec && agreed.told === told;
}

function followHold(step: Step, site: Site, job: Job, listed: ListedJob): void {
  const { foreign } = job.spec;
  const { state, id } = listed;
  if (foreign === undefined || waitingSize(job) === 0) return;
  if (state !== 'held' && state !== 'waiting') return;
  const isWhole = foreign.job === id;
  if (isWhole && isAgreed(site, job, listed)) return;
  if (!isWhole && site.listed.has(foreign.job)) return;
  // Of an array of which all elements are listed by themselves, one that may start lets it go.
  if (!isWhole && state === 'held' && (foreign.isHeld || site.going.has(foreign.job))) return;
  const { request } = job.spec;
  const nodes = isWhole ? nodesFor(listed, site.name, site.nodes) : request.nodeNames;
  const hold = holdOf(listed, nodes);
  const { heldBecause, ...rest } = foreign;
  const nodeNames = typeof nodes === 'string' ? [] : nodes;
  const walltimeMs = limitOf(site, job, listed);
  const isHeldSo = foreign.isHeld === hold.isHeld && heldBecause === hold.heldBecause;
  const isLimitedSo = job.spec.walltimeMs === walltimeMs;
  // What runs of it has what it was given.
  const sized = isWhole && job.active.size === 0 ? sizedAs(site.name, listed, nodes) : request;
  const asked = { ...sized, labels: request.labels, nodeNames };
  if (isHeldSo && isLimitedSo && isSame(request, asked)) {
    if (isWhole) AGREED.set(listed, { told: site.told, spec: job.spec });
    return;
  }
  const wish = { request: asked, foreign: { ...rest, ...hold } };
  const spec = { ...job.spec, environment: {}, walltimeMs, ...wish };
  step.emit({ kind: 'job_changed', jobId: job.id, spec, by: foreign.site });
}

function sizedAs(site: NodeName, listed: ListedJob, nodes: readonly NodeName[] | string) {
  return foreignSpec(site, listed, nodes).request;
}

/** What runs may be given more time, or less. */
function followLimit(step: Step, site: Site, job: Job, listed: ListedJob): void {
  const { spec, active } = job;
  const isOver = listed.state === 'ended' || listed.state === 'unknown';
  if (spec.foreign === undefined || active.size === 0 || isOver) return;
  const walltimeMs = limitOf(site, job, listed);
  if (walltimeMs === spec.walltimeMs) return;
  const changed = { ...spec, environment: {}, walltimeMs };
  step.emit({ kind: 'job_changed', jobId: job.id, spec: changed, by: spec.foreign.site });
}

/** The limit that its site has of it now: of tasks of an array, which have one, the longest. */
function limitOf({ limits }: Site, { spec }: Job, { walltimeMs }: ListedJob): number | null {
  if (spec.array === null) return walltimeMs;
  const longest = limits.get(spec.foreign?.job ?? '');
  return longest === undefined ? spec.walltimeMs : longest;
}

function adopt(step: Step, { name: site, nodes }: Site, listed: ListedJob): KnownJob | undefined {
  if (listed.state === 'ended' || listed.state === 'unknown') return undefined;
  const owner = ownerOf(listed);
  if (owner === null || whyNotOurs(listed) !== null) return undefined;
  const actor = { kind: 'user', name: owner, uid: null, role: 'user' } as const;
  const spec = foreignSpec(site, listed, nodesFor(listed, site, nodes));
  const added = addJob(
    step,
    { spec, waitsFor: [], behind: [], broken: null },
    { actor, key: null },
  );
  if (!added.ok || added.value.kind !== 'submitted') return undefined;
  const job = step.state.jobs.get(added.value.jobId);
  return job === undefined ? undefined : { job, index: job.spec.array === null ? 0 : null };
}

/** Why a job of the site's own users cannot be a job of ours, in words; null: it can. */
export function whyNotOurs(listed: ListedJob): string | null {
  const { owner, elements, seen } = listed;
  const rule = seen?.hiddenBy ?? null;
  if (rule !== null) return `rule ${rule} of its site hides it`;
  if (ownerOf(listed) === null) return `its owner '${owner}' is no name that a user can have here`;
  const indices = elements === null || elements === '' ? null : readIndices(elements);
  return indices === null || indices.ok ? null : `its array: ${indices.error}`;
}

/** Told before the nodes that it ran on are there; its site says it again. */
function isAhead({ nodes }: State, { name, isNew, shown }: Site, listed: ListedJob): boolean {
  const isComing = (siteNode: string): boolean => {
    const own = shown.get(siteNode);
    return own !== undefined && nodes.get(memberName(own, name) as NodeName)?.connected === false;
  };
  return isNew && listed.nodes.every((node) => shown.has(node)) && listed.nodes.some(isComing);
}

function outcomeOf({ exit, word, isCancelled }: ListedJob): Outcome {
  const detail = `ended at its site: ${word}`;
  if (exit === null || isCancelled) return { kind: 'cancelled', detail };
  return exit.code === 0 ? { kind: 'completed', exit } : { kind: 'failed', exit, detail };
}

/** What was cancelled here and the site still has: its gateway is told to cancel it. */
export function cancelledHere(
  state: State,
  site: NodeName,
  jobs: Iterable<ListedJob>,
): SiteJobPlace[] {
  const wanted: SiteJobPlace[] = [];
  for (const listed of jobs) {
    if (listed.isOurs || isOver(listed)) continue;
    const known = find(state, site, listed);
    if (known === undefined || isAnother(known.job, listed)) continue;
    const { job, index } = known;
    const cancelled = job.ended.get('cancelled');
    if (cancelled === undefined) continue;
    if (index !== null) {
      if (cancelled.has(index)) wanted.push({ job: listed.id, index: null });
      continue;
    }
    const elements = readIndices(listed.elements ?? '');
    for (const one of elements.ok ? elements.value : []) {
      if (cancelled.has(one)) wanted.push({ job: listed.id, index: one });
    }
  }
  return wanted;
}

/** At once; the rest is asked for when some of these are settled. */
const ASKED_MAX = 100;

/** What waits here for a site that lists it no more, so that its gateway asks for it. */
export function unlistedHere(
  { indexes, jobs }: State,
  site: NodeName,
  listed: ReadonlyMap<string, ListedJob>,
): string[] {
  const wanted: string[] = [];
  // What an array still has may be listed by its elements alone.
  const there = [...listed.values()].filter((job) => !isOver(job));
  const arrays = arraysOf(there);
  for (const id of indexes.foreign.values()) {
    const job = jobs.get(id);
    const foreign = job?.spec.foreign;
    if (foreign?.site !== site || job?.outcome !== null || listed.has(foreign.job)) continue;
    if (arrays.has(foreign.job)) continue;
    if (waitingSize(job) > 0) wanted.push(foreign.job);
    if (wanted.length === ASKED_MAX) break;
  }
  return wanted;
}

function isOver({ state }: ListedJob): boolean {
  return state === 'ended' || state === 'completing' || state === 'unknown';
}
