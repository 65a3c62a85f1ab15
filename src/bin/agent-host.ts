// The agents of one or many nodes in one process. What belongs to the machine is there once; each
// node has its state directory, journal, session, log and launcher of its own.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Agent, startAgent } from '../kernel/agent/agent.ts';
import { agentFailure, agentRuns } from '../kernel/cli/daemons/agent-failure.ts';
import { fileProblem } from '../kernel/config/file-problem.ts';
import { refuseLongDirectory } from '../kernel/config/socket-room.ts';
import { isCopied, noteOrigin } from '../kernel/connect/origin.ts';
import { KINDS } from '../kernel/model/errors.ts';
import { Failure, usage } from '../kernel/model/failure.ts';
import { ClaimedError, claim } from '../kernel/os/claim.ts';
import { systemClock } from '../kernel/os/clock.ts';
import {
  describeNetwork,
  describeSystem,
  detectMachine,
  readBootId,
  sharedLoad,
} from '../kernel/os/detect.ts';
import {
  ensureLauncher,
  type LauncherProgram,
  UnwritableCache,
} from '../kernel/os/launcher-build.ts';
import { isLauncherThere } from '../kernel/os/launcher-link.ts';
import { type FileLog, openLog } from '../kernel/os/log.ts';
import { bootBeganAt } from '../kernel/os/machine-marks.ts';
import { sharedMarks, systemMarks } from '../kernel/os/marks.ts';
import { removeOldEnds } from '../kernel/os/old-ends.ts';
import { systemUsers } from '../kernel/os/users.ts';
import type { Log } from '../kernel/ports/log.ts';
import type { NodeCache } from '../kernel/staging/node-cache.ts';
import type { AgentMaker, AgentsHost, Elsewhere, ElsewhereMaker } from '../kernel/wing.ts';
import { WINGS } from '../wings.ts';
import { labelsOf, type Machine, portsOf, settingsOf } from './agent-node.ts';
import type { AgentOptions } from './agent-options.ts';
import { cacheOf } from './agent-staging.ts';
import { launcherFolder, uidsByOwn } from './local-peers.ts';
import { lookForRuntimes, type RuntimesFound, RuntimesWatch } from './runtimes-watch.ts';

/** Between two looks whether its parent is still there. */
const PARENT_MS = 1000;

/** What a node of this process has open from its start to its end. */
interface Hosted {
  readonly options: AgentOptions;
  readonly log: FileLog;
  /** Where its tasks run; null: on this machine. */
  readonly elsewhere: Elsewhere | null;
  release(): void;
}

/**
 * Runs agents until SIGTERM or SIGINT, which leave their processes to the next ones unless their
 * nodes leave with them, or SIGUSR2, which ends them all. Resolves when they have stopped; rejects
 * when one cannot start. `onHeadLost`: called when a connection to the head has ended.
 */
export async function runAgents(
  nodes: readonly AgentOptions[],
  onHeadLost = () => {},
): Promise<void> {
  const elsewhereOf = await elsewhereMaker();
  const hosted = nodes.map((options) => open(options, (log) => elsewhereOf({ options, log })));
  process.once('uncaughtException', (error) => exitBy(error, hosted));
  const stopped = stopSignal(nodes[0]?.leaves === true);
  // All nodes of a process are of one configuration.
  const jobPath = nodes[0]?.jobPath;
  const machine = { ...(await lookAtMachine(nodes.length, jobPath)), onHeadLost };
  const agents: Agent[] = [];
  const introductions: ((runtimes: RuntimesFound) => void)[] = [];
  const watch = new RuntimesWatch({ clock: systemClock, jobPath }, machine.runtimes, (runtimes) => {
    for (const introduce of introductions) introduce(runtimes);
  });
  // A launcher that does not start holds up its own node, and no signal.
  const [first] = hosted;
  if (first === undefined) return;
  const cache = cacheOf(first.options, { bootId: machine.bootId, log: first.log });
  const run = async (node: Hosted): Promise<void> => {
    const { elsewhere } = node;
    const options = elsewhere === null ? node.options : await elsewhere.ready();
    const agent = await start({ ...node, options }, machine, cache).catch((error) => {
      throw agentFailure(options.name, error) ?? error;
    });
    agents.push(agent);
    introductions.push((runtimes) => {
      agent.introduce({
        labels: labelsOf({ labels: options.labels, elsewhere }, machine, runtimes),
        containers: runtimes.words,
      });
    });
    elsewhere?.begin(agent, host);
  };
  const host: AgentsHost = {
    run: async (options, elsewhereOf) => {
      const node = open(options, elsewhereOf);
      hosted.push(node);
      await run(node);
    },
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
function open(options: AgentOptions, elsewhereOf: (log: Log) => Elsewhere | null): Hosted {
  const { stateDir, name, logFile = null } = options;
  refuseLongDirectory(stateDir);
  try {
    mkdirSync(stateDir, { recursive: true, mode: 0o711 });
    const { release } = claim(join(stateDir, 'agent.pid'), `the agent of ${stateDir}`);
    const log = openLog({ file: logFile, name: `agent ${name}` });
    return { options, log, elsewhere: elsewhereOf(log), release };
  } catch (error) {
    if (error instanceof ClaimedError) throw agentRuns(name, error.pid);
    throw agentFailure(name, error) ?? error;
  }
}

async function start(
  { options, log, elsewhere }: Hosted,
  machine: Machine,
  cache: NodeCache,
): Promise<Agent> {
  const { problems } = machine.launcher;
  if (problems.length > 0) {
    log.warn(
      { problems },
      'there is no C compiler; a slower launcher in Node.js starts the processes',
    );
  }
  const { stateDir, otherName } = options;
  if (otherName !== undefined) log.warn({}, otherName);
  const instance = await instanceOf({ stateDir, elsewhere }, machine.bootId, log);
  const settings = settingsOf(options, machine, { instance, elsewhere });
  const ports = portsOf(options, machine, { log, cache, instance, elsewhere });
  const facts = { ...settings.facts, limits: ports.containment.facts, ...elsewhere?.facts() };
  const { nodeCount, makers, launcher } = machine;
  const uidsOf = uidsByOwn(machine.launcher);
  const parts = makers.map((make) => make({ options, log, nodeCount, launcher, uidsOf }));
  const { pauseMaxMs = settings.pauseMaxMs } = parts.find((part) => 'pauseMaxMs' in part) ?? {};
  const own = { ...settings, facts, pauseMaxMs };
  const agent = await startAgent(ports, own, parts);
  log.info({ resources: own.resources, facts: own.facts }, 'agent started');
  return agent;
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

async function lookAtMachine(
  nodeCount: number,
  jobPath?: string,
): Promise<Omit<Machine, 'onHeadLost'>> {
  removeOldEnds(systemClock.now());
  const launcher = await launcherIn(launcherFolder());
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
    load: sharedLoad(systemClock.monotonic),
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

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Those of all wings that do something in agents. */
async function agentMakers(): Promise<AgentMaker[]> {
  const makers = await Promise.all(WINGS.map(({ agent }) => agent?.()));
  return makers.filter((one) => one !== undefined);
}

/** Says of each node whether its tasks run elsewhere: what the first wing says that knows. */
async function elsewhereMaker(): Promise<ElsewhereMaker> {
  const makers = await Promise.all(WINGS.map(({ elsewhere }) => elsewhere?.()));
  return (node) => {
    for (const make of makers) {
      const found = make?.(node) ?? null;
      if (found !== null) return found;
    }
    return null;
  };
}

// The name of an agent's state directory: a new one has forgotten what ran, and says so by its
// name.

/** What a copied folder says of processes: the original's. */
const OF_ORIGINAL = ['instance', 'journal', 'launcher.sock.lock'];

/** Made with the state directory, and made anew in a copy of one (N20). */
export async function instanceOf(
  { stateDir, elsewhere }: { readonly stateDir: string; readonly elsewhere: Elsewhere | null },
  bootId: string,
  log: Pick<Log, 'warn'>,
): Promise<string> {
  const file = join(stateDir, 'instance');
  const read = (): string => readFileSync(file, 'utf8').trim();
  // What runs elsewhere is there all the same, under the name of this instance.
  const seemsCopied = elsewhere === null && isCopied(stateDir, bootId);
  // What a launcher here runs is this folder's, whatever its file system says of itself now.
  const isCopy = seemsCopied && !(await isLauncherThere(join(stateDir, 'launcher.sock')));
  const was = isCopy ? read() : null;
  if (was !== null) setOriginalAside(stateDir, was, log);
  if (!existsSync(file)) writeFileSync(file, randomUUID().slice(0, 13), { mode: 0o600 });
  noteOrigin(stateDir, bootId, was);
  return read();
}

/**
 * The processes, limit groups and ends that a copied journal and launcher name are the original's:
 * the copy would take them for its own leftovers, and end them. Nothing is removed: a folder may
 * look like a copy that is none, and its journal may have ends that nobody was told of.
 */
function setOriginalAside(stateDir: string, was: string, log: Pick<Log, 'warn'>): void {
  const suffix = `.of-${was.replace(/[^\w-]/g, '')}`;
  for (const name of OF_ORIGINAL) {
    const file = join(stateDir, name);
    if (existsSync(file)) renameSync(file, `${file}${suffix}`);
  }
  rmSync(join(stateDir, 'launcher.sock'), { force: true });
  const hint = 'if it is no copy, stop the agent, remove origin.json and rename these files back';
  const fields = { stateDir, was, suffix, hint };
  log.warn(fields, 'this directory is a copy: what its original ran is set aside');
}
