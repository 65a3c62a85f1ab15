// The agent's program: gives Linux to the agent, and stops it in good order on a signal.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Agent, startAgent } from '../agent/agent.ts';
import type { HealthSettings } from '../agent/health.ts';
import { LauncherClient } from '../agent/launcher-client.ts';
import type { AgentPorts, AgentSettings } from '../agent/ports.ts';
import type { HealthOptions } from '../cli/daemons/daemon-options.ts';
import { parseNodeName } from '../core/model/ids.ts';
import { MESSAGE_BYTES_MAX, SPOOL_BYTES_MAX } from '../core/model/limits.ts';
import type { NodeFacts } from '../core/model/node.ts';
import type { Resources } from '../core/model/resources.ts';
import { systemContainment } from '../os/cgroup/containment.ts';
import { systemChance } from '../os/chance.ts';
import { claim } from '../os/claim.ts';
import { systemClock } from '../os/clock.ts';
import {
  describeSystem,
  detectMachine,
  diskFree,
  type Found,
  readBootId,
  readLoad,
} from '../os/detect.ts';
import { headDialer } from '../os/dialer.ts';
import { systemFiles } from '../os/files.ts';
import { systemHealth } from '../os/health.ts';
import { openJournalFile } from '../os/journal-file.ts';
import { ensureLauncher, type LauncherProgram } from '../os/launcher-build.ts';
import { reachLauncher } from '../os/launcher-link.ts';
import { type FileLog, openLog } from '../os/log.ts';
import { systemMarks } from '../os/marks.ts';
import { systemUsers } from '../os/users.ts';
import { type AgentOptions, readAgentOptions } from './agent-options.ts';

/**
 * Runs an agent until SIGTERM or SIGINT, which leave its processes to the next agent, or SIGUSR2,
 * which ends them all. Resolves when it has stopped; rejects when it cannot start.
 */
export async function runAgent(options: AgentOptions): Promise<void> {
  mkdirSync(options.stateDir, { recursive: true, mode: 0o711 });
  const claimed = claim(join(options.stateDir, 'agent.pid'), `the agent of ${options.stateDir}`);
  const log = openLog({ file: options.logFile ?? null, name: `agent ${options.name}` });
  process.once('uncaughtException', (error) => exitOnBug(error, log));
  const launcher = await ensureLauncher(join(cacheDirectory(), 'weft'));
  if (launcher.problems.length > 0) {
    log.warn({ problems: launcher.problems }, 'no compiler: starting processes through Node.js');
  }
  const settings = await settingsOf(options, launcher);
  const ports = portsOf(options, { log, launcher, instance: settings.instance });
  const own = { ...settings, facts: { ...settings.facts, limits: ports.containment.facts } };
  const agent = await startAgent(ports, own);
  log.info({ resources: own.resources, facts: own.facts }, 'agent started');
  await stopSignal(agent);
  log.info({}, 'agent stopped');
  log.close();
  claimed.release();
}

/** Safe at any point: the journal has everything, and the launcher keeps the processes. */
function exitOnBug(error: unknown, log: FileLog): void {
  log.error({ error }, 'a bug in the agent; start it again, its processes go on');
  log.close();
  process.exit(70);
}

async function stopSignal(agent: Agent): Promise<void> {
  const signal = await new Promise<string>((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const) process.once(name, resolve);
  });
  if (signal === 'SIGUSR2') await agent.shutDown();
  else agent.stop();
}

/** Not the state directory: agents of one machine share the compiled program. */
function cacheDirectory(): string {
  return process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
}

async function settingsOf(
  options: AgentOptions,
  launcher: LauncherProgram,
): Promise<AgentSettings> {
  const node = parseNodeName(options.name);
  if (!node.ok) throw new Error(node.error);
  const found = await detectMachine();
  const isRoot = process.getuid?.() === 0;
  const switchUser = options.switchUser === 'auto' ? isRoot : options.switchUser;
  if (switchUser && !isRoot) throw new Error('only root can run jobs as other users');
  return {
    node: node.value,
    bootId: readBootId(),
    instance: readInstance(options.stateDir),
    resources: { ...resourcesOf(found), ...options.resources },
    labels: [...new Set([...found.labels, ...options.labels])],
    sharedPaths: options.sharedPaths,
    facts: factsOf(options, launcher, switchUser),
    stateDir: options.stateDir,
    spoolBytesMax: options.spoolBytesMax ?? SPOOL_BYTES_MAX,
    switchUser,
    // `weft up` says false outright: its head lets in nobody but its owner.
    ownUserOnly: options.switchUser === 'auto' && !isRoot,
    allowRoot: false,
  };
}

function resourcesOf({ cpuCount, memoryBytes, gpuCount }: Found): Resources {
  return { cpuCount, memoryBytes, gpuCount, counted: {} };
}

function factsOf(
  options: AgentOptions,
  launcher: LauncherProgram,
  switchesUser: boolean,
): NodeFacts {
  return {
    ...describeSystem(),
    agentVersion: readVersion(),
    diskFreeBytes: diskFree(options.stateDir),
    limits: '',
    launcher: launcher.kind,
    switchesUser,
    user: systemUsers(systemClock.monotonic).self().name,
  };
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Made with the state directory: a new one has forgotten what ran, and says so by its name. */
function readInstance(stateDir: string): string {
  const file = join(stateDir, 'instance');
  if (!existsSync(file)) writeFileSync(file, randomUUID().slice(0, 13), { mode: 0o600 });
  return readFileSync(file, 'utf8').trim();
}

function portsOf(
  options: AgentOptions,
  own: { log: AgentPorts['log']; launcher: LauncherProgram; instance: string },
): AgentPorts {
  const { stateDir, name, secret, head } = options;
  const { log, launcher } = own;
  const place = {
    socketPath: join(stateDir, 'launcher.sock'),
    logFile: join(stateDir, 'launcher.log'),
    command: launcher.command,
  };
  return {
    clock: systemClock,
    chance: systemChance,
    log,
    dialer: headDialer({ name, secret, head, messageBytesMax: MESSAGE_BYTES_MAX }),
    connectLauncher: async () => {
      const onRefused = (why: string): void => log.debug({ why }, 'the launcher refused');
      return new LauncherClient(await reachLauncher(place), { onRefused });
    },
    journal: openJournalFile(join(stateDir, 'journal')),
    files: systemFiles,
    users: systemUsers(systemClock.monotonic),
    containment: systemContainment(own.instance),
    marks: systemMarks(),
    load: () => readLoad(stateDir),
    ...(options.health === undefined ? {} : { health: healthOf(options.health) }),
  };
}

function healthOf({ command, timeoutMs, intervalMs }: HealthOptions): HealthSettings {
  return { check: systemHealth({ command, timeoutMs }), intervalMs };
}

/** Started as a program, not imported by the command line. */
const isProgram = import.meta.url === pathToFileURL(process.argv[1] ?? '').href;
if (isProgram) {
  await runAgent(readAgentOptions(process.argv.slice(2)));
  process.exit(0);
}
