// The agents of one or many nodes in one process. What belongs to the machine is there once; each node
// has its state directory, journal, session, log and launcher of its own.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, startAgent } from '../kernel/agent/agent.ts';
import { isSame } from '../kernel/base/same.ts';
import { fileProblem } from '../kernel/config/file-problem.ts';
import { refuseLongDirectory } from '../kernel/config/socket-room.ts';
import { KINDS } from '../kernel/model/errors.ts';
import { Failure, usage } from '../kernel/model/failure.ts';
import type { NodeSize } from '../kernel/model/node-sizes.ts';
import { claim } from '../kernel/os/claim.ts';
import { systemClock } from '../kernel/os/clock.ts';
import { describeNetwork, describeSystem, detectMachine, readBootId } from '../kernel/os/detect.ts';
import {
  ensureLauncher,
  type LauncherProgram,
  UnwritableCache,
} from '../kernel/os/launcher-build.ts';
import { type FileLog, openLog } from '../kernel/os/log.ts';
import { bootBeganAt } from '../kernel/os/machine-marks.ts';
import { sharedMarks, systemMarks } from '../kernel/os/marks.ts';
import { removeOldEnds } from '../kernel/os/old-ends.ts';
import { ownHome, systemUsers } from '../kernel/os/users.ts';
import type { NodeCache } from '../kernel/staging/node-cache.ts';
import { skillsOf } from '../wings/sites/adaptors/adaptor.ts';
import { openHub, type SiteHub } from '../wings/sites/bin/site-hub.ts';
import {
  factsOfMember,
  formerNames,
  instancesOfMembers,
  jobPrefix,
  type MemberFacts,
  memberNodes,
  membersOf,
  noteOwnName,
  siteLabels,
} from '../wings/sites/bin/site-members.ts';
import { sizeOfSite } from '../wings/sites/bin/site-ports.ts';
import { type SiteSize, SizeWatch } from '../wings/sites/fabric/site/site-size.ts';
import { labelsOf, type Machine, portsOf, settingsOf } from './agent-node.ts';
import type { AgentOptions } from './agent-options.ts';
import { cacheOf } from './agent-staging.ts';
import { instanceOf } from './instance.ts';
import { agentMakers } from './parts.ts';
import { lookForRuntimes, type RuntimesFound, RuntimesWatch } from './runtimes-watch.ts';

/** Between two looks whether its parent is still there. */
const PARENT_MS = 1000;

/** What a node of this process has open from its start to its end. */
interface Hosted {
  readonly options: AgentOptions;
  readonly log: FileLog;
  /** The site whose gateway or node it is; null: it is this machine's. */
  readonly hub: SiteHub | null;
  release(): void;
}

/**
 * Runs agents until SIGTERM or SIGINT, which leave their processes to the next ones unless their nodes
 * leave with them, or SIGUSR2, which ends them all. Resolves when they have stopped; rejects when one cannot start.
 */
export async function runAgents(nodes: readonly AgentOptions[]): Promise<void> {
  const hosted = nodes.map((options) => open(options));
  process.once('uncaughtException', (error) => exitBy(error, hosted));
  const stopped = stopSignal(nodes[0]?.leaves === true);
  // All nodes of a process are of one configuration.
  const jobPath = nodes[0]?.jobPath;
  const machine = await lookAtMachine(nodes.length, jobPath);
  const agents: Agent[] = [];
  const byName = new Map<string, Agent>();
  /** What was said last of the nodes of sites. */
  const told = new Map<string, MemberFacts>();
  const introductions: ((runtimes: RuntimesFound) => void)[] = [];
  const watch = new RuntimesWatch({ clock: systemClock, jobPath }, machine.runtimes, (runtimes) => {
    for (const introduce of introductions) introduce(runtimes);
  });
  // A launcher that does not start holds up its own node, and no signal.
  const [first] = hosted;
  if (first === undefined) return;
  const cache = cacheOf(first.options, { bootId: machine.bootId, log: first.log });
  const run = async (node: Hosted): Promise<void> => {
    const { options, size } = await withSite(node);
    const agent = await start({ ...node, options }, size?.sizes ?? [], machine, cache);
    agents.push(agent);
    byName.set(options.name, agent);
    introductions.push((runtimes) => {
      agent.introduce({
        labels: labelsOf(options, machine, runtimes),
        containers: runtimes.words,
      });
    });
    told.set(options.name, factsOfMember(options));
    const runMember = (member: Hosted): Promise<void> => {
      hosted.push(member);
      return run(member);
    };
    if (size !== null) {
      followSize(node, size, ({ resources, sizes }) => {
        agent.introduce({ resources: { ...resources, ...node.options.resources }, sizes });
      });
    }
    bringMembers(node, runMember, (member) => {
      const one = byName.get(member.name);
      const before = told.get(member.name);
      const facts = factsOfMember(member, before);
      if (one === undefined || isSame(before, facts)) return;
      told.set(member.name, facts);
      const { runtimes } = machine;
      const labels = labelsOf(member, machine, runtimes);
      one.introduce({ ...facts, labels, containers: runtimes.words });
    });
  };
  const started = hosted.map(run);
  const signal = await Promise.race([stopped, Promise.all(started).then(() => stopped)]).finally(
    // Also when one cannot start: nothing else must keep the process then.
    () => watch.stop(),
  );
  await Promise.all(agents.map((agent) => agent.close()));
  const leaves = signal === 'SIGUSR2' || first.options.leaves === true;
  if (leaves) await Promise.all(agents.map((agent) => agent.shutDown()));
  else for (const agent of agents) agent.stop();
  for (const { log, release } of hosted) {
    log.info({}, 'agent stopped');
    log.close();
    release();
  }
  // A launcher that was just being started again would keep this process, and whoever waits for it.
  if (leaves) setTimeout(() => process.exit(0), PARENT_MS).unref();
}

/** Throws when another process runs the agent of this state directory. */
function open(options: AgentOptions, hub: SiteHub | null = null): Hosted {
  const { stateDir, name, site, logFile = null } = options;
  refuseLongDirectory(stateDir);
  mkdirSync(stateDir, { recursive: true, mode: 0o711 });
  const { release } = claim(join(stateDir, 'agent.pid'), `the agent of ${stateDir}`);
  const log = openLog({ file: logFile, name: `agent ${name}` });
  const own = site === undefined ? null : (hub ?? openHub(site, { name, stateDir, log }));
  return { options, log, hub: own, release };
}

async function start(
  hosted: Hosted,
  sizes: readonly NodeSize[],
  machine: Machine,
  cache: NodeCache,
): Promise<Agent> {
  const { log } = hosted;
  const { options } = hosted;
  const { problems } = machine.launcher;
  if (problems.length > 0) {
    log.warn(
      { problems },
      'there is no C compiler; a slower launcher in Node.js starts the processes',
    );
  }
  const instance = await instanceOf(options, machine.bootId, log);
  const settings = settingsOf(options, machine, { site: hosted.hub?.name ?? null, instance });
  const ports = portsOf(options, machine, { log, cache, instance, hub: hosted.hub });
  const { facts: limits } = ports.containment;
  const ofSite = sizes.length === 0 ? {} : { sizes };
  const siteSkills = hosted.hub === null ? undefined : skillsOf(hosted.hub.adaptor);
  const skills = siteSkills === undefined ? {} : { siteSkills };
  const own = { ...settings, facts: { ...settings.facts, limits, ...ofSite, ...skills } };
  const { nodeCount, makers } = machine;
  const parts = makers.map((make) => make({ options, log, nodeCount }));
  const agent = await startAgent(ports, own, parts);
  log.info({ resources: own.resources, facts: own.facts }, 'agent started');
  return agent;
}

/**
 * A gateway offers what its site has, where nobody said how much, and says whose it is. Rejects when
 * the site cannot be steered as its configuration says.
 */
async function withSite({
  options,
  hub,
}: Hosted): Promise<{ readonly options: AgentOptions; readonly size: SiteSize | null }> {
  const { site, labels, name } = options;
  if (site === undefined || site.member !== undefined) return { options, size: null };
  const lack = (await hub?.steerer?.lacks()) ?? null;
  if (lack !== null) {
    const hint = '`weft site test` tries all that is needed; docs/sites has it per system.';
    throw usage(`this site cannot be steered: ${lack}`, hint);
  }
  const found = await sizeOfSite(site);
  const resources = { ...found.resources, ...options.resources };
  const own = { ...options, resources, labels: [...labels, ...siteLabels(name, site.system)] };
  return { options: own, size: site.mode === 'steer' ? null : found };
}

/** A site whose own scheduler decides gets more nodes, or loses them. */
function followSize({ hub }: Hosted, first: SiteSize, tell: (size: SiteSize) => void): void {
  const sizes = new SizeWatch(systemClock, first, tell);
  hub?.watch.onNodes((nodes) => sizes.look(nodes));
}

/** Each node of a steered site, once it is listed, is a node of ours. */
function bringMembers(
  { options, hub, log }: Hosted,
  run: (one: Hosted) => Promise<void>,
  relabel: (member: AgentOptions) => void,
): void {
  if (hub === null || options.site?.member !== undefined) return;
  /** The site's own names of them. */
  const there = new Map<string, string | undefined>();
  const bring = async (member: AgentOptions): Promise<void> => {
    const one = open(member, hub);
    noteOwnName(member);
    await run(one);
  };
  if (hub.steerer !== null) {
    for (const instance of instancesOfMembers(options)) hub.watch.addPrefix(jobPrefix(instance));
    const former = formerNames(options);
    for (const one of former) hub.watch.names.keep(one);
    hub.watch.onNodes((nodes, isNew) => {
      if (!isNew) return;
      for (const member of membersOf(options, memberNodes(former, nodes), hub.filters)) {
        const { name, site } = member;
        if (there.has(name)) {
          if (there.get(name) === site?.member) relabel(member);
          continue;
        }
        there.set(name, site?.member);
        bring(member).catch((error: unknown) => {
          log.error({ error, node: name }, 'a node of the site cannot be brought in');
        });
      }
    });
  }
  hub.watch.start();
}

/** Safe at any point: the journals have everything, and the launchers keep the processes. */
function exitBy(error: unknown, hosted: readonly Hosted[]): void {
  const told = error instanceof Failure ? error : null;
  for (const { log } of hosted) {
    if (told !== null) log.error({ hint: told.hint }, `the agent ends: ${told.message}`);
    else
      log.error({ error }, 'the agent ends because of a bug; start it again, its processes go on');
    log.close();
  }
  process.exit(told?.exitCode ?? KINDS.internal.exit);
}

/** `leaves`: whoever started it is gone, without having been able to say so. */
function stopSignal(leaves: boolean): Promise<string> {
  return new Promise((resolve) => {
    const parent = process.ppid;
    const look = (): void => {
      if (process.ppid !== parent) resolve('orphaned');
    };
    if (leaves) setInterval(look, PARENT_MS).unref();
    for (const name of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const) process.once(name, resolve);
  });
}

async function lookAtMachine(nodeCount: number, jobPath?: string): Promise<Machine> {
  removeOldEnds(systemClock.now());
  const launcher = await launcherIn(join(cacheDirectory(), 'weft'));
  return {
    launcher,
    found: await detectMachine(),
    runtimes: await lookForRuntimes(jobPath),
    bootId: readBootId(),
    bootBeganAt: bootBeganAt(),
    facts: { ...describeSystem(), network: describeNetwork() },
    version: readVersion(),
    nodeCount,
    makers: await agentMakers(),
    users: systemUsers(systemClock.monotonic),
    marks: sharedMarks(systemMarks(), systemClock.monotonic),
  };
}

/** Throws a failure that says what to do where nothing can be kept. */
async function launcherIn(folder: string): Promise<LauncherProgram> {
  try {
    return await ensureLauncher(folder);
  } catch (error) {
    if (!(error instanceof UnwritableCache)) throw error;
    throw usage(
      `the compiled launcher cannot be kept in ${folder}: ${fileProblem(error.cause)}`,
      'Let the user who runs the agent write there, or set XDG_CACHE_HOME to a folder where it may.',
    );
  }
}

/** Not the state directory: agents of one machine share the compiled program. */
function cacheDirectory(): string {
  return process.env['XDG_CACHE_HOME'] ?? join(ownHome(), '.cache');
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
