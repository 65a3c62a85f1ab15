// From an order to everything the launcher needs: account, directories, files, limits. What a short
// task needs is done without a single wait once its user is known.

import { err, ok, type Result } from '../base/result.ts';
import type { JobId } from '../model/ids.ts';
import { ATTACHED_STDIN, CLIENT_STDIN } from '../model/job.ts';
import { beganBefore, type LaunchOrder } from '../model/orders.ts';
import type { Group, GroupLimits } from '../ports/containment.ts';
import type { Owner } from '../ports/files.ts';
import type { LaunchRequest } from '../ports/processes.ts';
import type { UserAccount } from '../ports/users.ts';
import { type Epoch, type Failure, type Preparation, processesOf } from '../runner/epoch.ts';
import { argvWithInput, inputPipe } from './attached-input.ts';
import {
  buildEnvironment,
  type Environment,
  environmentOfJoining,
  environmentOfProcess,
} from './environment.ts';
import type { Feeds } from './feeds.ts';
import { hostLines, slotLines } from './host-lines.ts';
import {
  buildsDirectory,
  hostFile,
  isInline,
  markOf,
  scriptFile,
  slotsFile,
  spoolDirectory,
  spoolFile,
  workDirectory,
} from './names.ts';
import type { AgentPart, Joining, Start } from './part.ts';
import { formatPattern } from './patterns.ts';
import type { AgentSettings, AllPorts } from './ports.ts';
import type { Spools } from './spools.ts';

/** How long a user's spool directory is trusted to be there, within one job. */
const SPOOL_LOOK_MS = 1000;

export interface Prepared {
  readonly preparation: Preparation;
  /** One request per process, once the launch ids are in the journal. */
  requests(firstLaunchId: number, leaseMs: number | null): LaunchRequest[];
}

/** Why a start could not be prepared, and whether it was for its files. */
export interface PrepareFailure extends Failure {
  readonly cause?: 'stage_failed';
  /** In words; what this process had none of, with nothing wrong about the node or the task. */
  readonly lack?: string;
}

type Outcome = Result<Prepared, PrepareFailure>;

interface Setting {
  readonly order: LaunchOrder;
  readonly account: UserAccount;
  readonly owner: Owner | null;
  readonly directory: string;
  readonly temporary: string | null;
  readonly group: Group | null;
  readonly spool: string | undefined;
}

interface Leased {
  readonly leaseMs: number | null;
}

export interface PreparerWorld {
  readonly ports: AllPorts;
  readonly settings: AgentSettings;
  readonly parts: readonly AgentPart[];
  readonly feeds: Feeds;
  readonly spools: () => Spools;
}

export class Preparer {
  readonly #ports: AllPorts;
  readonly #settings: AgentSettings;
  readonly #parts: readonly AgentPart[];
  readonly #feeds: Feeds;
  readonly #spools: () => Spools;
  readonly #hostFiles = new Set<string>();
  /** By user: for which job the spool directory was last looked at, and when (monotonic). */
  readonly #spoolLooks = new Map<number, { readonly jobId: JobId; readonly at: number }>();

  constructor({ ports, settings, parts, feeds, spools }: PreparerWorld) {
    this.#ports = ports;
    this.#settings = settings;
    this.#parts = parts;
    this.#feeds = feeds;
    this.#spools = spools;
  }

  /** The directories that every epoch's own are made in. Users pass through, but cannot list. */
  makeDirectories(): void {
    for (const name of ['work', 'scripts', 'spool', 'hosts', 'stdin', 'builds']) {
      this.#ports.files.makeDirectory(`${this.#settings.stateDir}/${name}`, null, 0o711);
    }
  }

  /**
   * A value when the account is known already and there are no files to bring, else a promise of
   * one. Never rejects. `signal`: of an order with files; given up with it.
   */
  prepare(order: LaunchOrder, signal: AbortSignal | null): Outcome | Promise<Outcome> {
    const users = this.#ports.users;
    if (!this.#settings.switchUser || order.account.own === true) {
      return this.#prepareAs(order, users.self(), signal);
    }
    const known = users.cached(order.account.user);
    // An account that was made or changed just now counts: nothing is refused by an old answer.
    if (known !== undefined && this.#refuseAccount(order, known) === null) {
      return this.#prepareAs(order, known, signal);
    }
    return users.find(order.account.user).then(
      (account) => this.#prepareAs(order, account, signal),
      (error: unknown) => err(nodeFault(`cannot look up ${order.account.user}`, error)),
    );
  }

  #prepareAs(
    order: LaunchOrder,
    account: UserAccount | null,
    signal: AbortSignal | null,
  ): Outcome | Promise<Outcome> {
    const refusal = this.#refuseAccount(order, account) ?? this.#refuseInput(order);
    if (refusal !== null || account === null) {
      return err({ detail: refusal ?? 'no account', nodeFault: false });
    }
    return signal === null
      ? this.#setUpAny(order, account)
      : this.#setUpStaged(order, account, signal);
  }

  /**
   * What the first process of a running epoch was started with, but for its program, input, output
   * and rank: made once more of its order, as an agent that took it over never made it.
   */
  async joining(epoch: Epoch): Promise<Result<Joining, string>> {
    const { order, run } = epoch;
    const first = processesOf(epoch)[0];
    if (run === null || first === undefined) return err('it has not started');
    const { users } = this.#ports;
    const own = !this.#settings.switchUser || order.account.own === true;
    const account = own ? users.self() : await users.find(order.account.user);
    const refusal = this.#refuseAccount(order, account);
    if (refusal !== null || account === null) return err(refusal ?? 'no account');
    const { directory, group } = run.preparation;
    const { uid, gid } = account;
    const owner = this.#settings.switchUser ? { uid, gid } : null;
    const procs = group === null ? [] : this.#ports.containment.procs(group);
    if (group !== null && procs.length === 0) return err('its processes are gone');
    const setting = {
      order,
      account,
      owner,
      directory,
      spool: run.preparation.spool,
      temporary: order.directory.kind === 'private' ? `${directory}.tmp` : null,
      group: group === null ? null : { name: group, procs },
      leaseMs: null,
    };
    const [like] = this.#requests(setting, first.launchId);
    if (like === undefined) return err('it has no process');
    const { launchId, environment: _, ...request } = like;
    const environment = environmentOfJoining(this.#environmentOf(setting), order.processesPerNode);
    const mark = markOf(this.#settings, launchId);
    return ok({ request: { ...request, environment }, mark, owner });
  }

  async #setUpStaged(
    order: LaunchOrder,
    account: UserAccount,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { staging } = this.#ports;
    const directory = workDirectory(this.#settings, order.epochId);
    const { uid, gid } = account;
    const owner = this.#settings.switchUser ? { uid, gid } : null;
    const brought =
      staging === undefined
        ? err({ detail: `node ${this.#settings.node} brings no files`, nodeFault: true })
        : await staging.bring(order, { directory, owner }, signal);
    if (!brought.ok) return err({ ...brought.error, cause: 'stage_failed' });
    return this.#setUpAny(order, account);
  }

  #setUpAny(order: LaunchOrder, account: UserAccount): Outcome | Promise<Outcome> {
    return order.files.stdin === CLIENT_STDIN
      ? this.#setUpFed(order, account)
      : this.#setUpNow(order, account);
  }

  #setUpNow(order: LaunchOrder, account: UserAccount): Outcome {
    try {
      return ok(this.#setUp(order, account));
    } catch (error) {
      return err(nodeFault('cannot prepare the start', error));
    }
  }

  async #setUpFed(order: LaunchOrder, account: UserAccount): Promise<Outcome> {
    const { uid, gid } = account;
    try {
      await this.#feeds.open(order.epochId, this.#settings.switchUser ? { uid, gid } : null);
    } catch (error) {
      return err(nodeFault('cannot pass standard input to the task', error));
    }
    return this.#setUpNow(order, account);
  }

  #refuseAccount(order: LaunchOrder, account: UserAccount | null): string | null {
    const { user, uid, own } = order.account;
    if (own === true) return null;
    const node = this.#settings.node;
    if (account === null) return `user ${user} does not exist on node ${node}`;
    if (!this.#settings.switchUser) {
      if (!this.#settings.ownUserOnly || user === account.name) return null;
      return `the agent of node ${node} runs as ${account.name} and cannot run jobs of other users`;
    }
    if (uid !== null && uid !== account.uid) {
      return `user ${user} has uid ${uid} where the job was submitted, but ${account.uid} on ${node}`;
    }
    if (account.uid === 0 && !this.#settings.allowRoot) return 'jobs as root are refused';
    return null;
  }

  /** Words that refuse `--stdin attach` at a site: steps bring input, there are none there. */
  #refuseInput({ files }: LaunchOrder): string | null {
    if (files.stdin !== ATTACHED_STDIN || this.#settings.facts.site === undefined) return null;
    return 'nobody can attach input to jobs at a site: use --stdin FILE, or another partition';
  }

  #setUp(order: LaunchOrder, account: UserAccount): Prepared {
    const { uid, gid } = account;
    const owner = this.#settings.switchUser ? { uid, gid } : null;
    this.#makeSpool(order.place.jobId, uid, owner);
    if (order.batch?.build != null) {
      this.#ports.files.makeDirectory(buildsDirectory(this.#settings, uid), owner, 0o700);
    }
    const directory = this.#makeWorkDirectory(order, owner);
    const isPrivate = order.directory.kind === 'private';
    const temporary = isPrivate ? `${directory}.tmp` : null;
    if (temporary !== null) this.#ports.files.makeDirectory(temporary, owner, 0o700);
    this.#writeFiles(order, owner);
    // Last, because these would have to be given back; the second cannot fail.
    const group = this.#ports.containment.acquire(this.#limitsOf(order));
    const spool = this.#spools().take(uid, order);
    const setting = { order, account, owner, directory, temporary, group, spool };
    const limits = this.#ports.containment.limits;
    const preparation = { limits, group: group?.name ?? null, uid, directory };
    return {
      preparation: spool === undefined ? preparation : { ...preparation, spool },
      requests: (first, leaseMs) => this.#requests({ ...setting, leaseMs }, first),
    };
  }

  #limitsOf({ share, account }: LaunchOrder): GroupLimits {
    const { memoryBytes, cpuCount } = share.resources;
    // A repair of the node has to open its devices, to reset them.
    const isOfUser = account.own !== true;
    const shut = isOfUser ? this.#parts.flatMap((part) => part.shut?.(share) ?? []) : [];
    return {
      memoryBytes: memoryBytes > 0 ? memoryBytes : null,
      cpuCount: cpuCount > 0 ? cpuCount : null,
      ...(shut.length === 0 ? {} : { shut }),
    };
  }

  /**
   * Makes a job's spool. The user owns it and may have shut or removed it, so it is checked for
   * every job, and for tasks of a long one again after each second.
   */
  #makeSpool(jobId: JobId, uid: number, owner: Owner | null): void {
    const now = this.#ports.clock.monotonic();
    const last = this.#spoolLooks.get(uid);
    if (last?.jobId === jobId && now - last.at < SPOOL_LOOK_MS) return;
    this.#ports.files.makeDirectory(spoolDirectory(this.#settings, uid), owner, 0o700);
    this.#spoolLooks.set(uid, { jobId, at: now });
  }

  #makeWorkDirectory(order: LaunchOrder, owner: Owner | null): string {
    if (order.directory.kind === 'shared') return order.directory.path;
    const path = workDirectory(this.#settings, order.epochId);
    this.#ports.files.makeDirectory(path, owner, 0o700);
    return path;
  }

  #writeFiles(order: LaunchOrder, owner: Owner | null): void {
    const { files } = this.#ports;
    if (order.program.kind === 'script' && !isInline(order)) {
      files.writeFile(scriptFile(this.#settings, order.epochId), order.program.text, owner, 0o700);
    }
    const path = hostFile(this.#settings, order);
    if (this.#hostFiles.has(path)) return;
    if (order.nodes.length === 1) this.#hostFiles.add(path);
    files.writeFile(path, hostLines(order, this.#settings.node), null, 0o644);
    files.writeFile(slotsFile(path), slotLines(order, this.#settings.node), null, 0o644);
  }

  #environmentOf({ order, account, temporary }: Setting): Environment {
    const settings = this.#settings;
    const of = { order, account, temporary, settings, hostFile: hostFile(settings, order) };
    return buildEnvironment(of, this.#parts);
  }

  #requests(setting: Setting & Leased, firstLaunchId: number): LaunchRequest[] {
    const { order, account, group, owner, directory, leaseMs } = setting;
    const settings = this.#settings;
    const environment = this.#environmentOf(setting);
    const argv = this.#argvWithInput(order, account);
    const cgroupProcs = group?.procs ?? [];
    const { uid, gid, groups } = account;
    const credentials = owner === null ? null : { uid, gid, groups };
    const { cpuCount, memoryBytes } = order.share.resources;
    const wants = { cpuCount, memoryBytes, walltimeMs: order.walltimeMs };
    return Array.from({ length: order.processesPerNode }, (_, rank) => {
      const launchId = firstLaunchId + rank;
      const mark = markOf(settings, launchId);
      const { common } = environment;
      const inItsPlace = this.#inItsPlace({ order, directory, environment: common, mark });
      return {
        launchId,
        argv: inItsPlace ?? argv,
        cwd: directory,
        credentials,
        cgroupProcs,
        nice: 0,
        leaseMs,
        environment: environmentOfProcess(environment, rank, mark),
        ...this.#inputOf(order, rank, inItsPlace === undefined),
        ...this.#outputs(setting, rank),
        append: order.files.append === true || beganBefore(order) > 0 || sharesOutput(order),
        umask: order.umask,
        makeParents: order.files.stdout !== undefined || order.files.stderr !== undefined,
        wants,
        ...foreignOf(order),
      };
    });
  }

  /** What a wing runs instead of the order's program; undefined: nothing. */
  #inItsPlace(start: Start): readonly string[] | undefined {
    for (const part of this.#parts) {
      const argv = part.argv?.(start);
      if (argv !== undefined) return argv;
    }
    return undefined;
  }

  #argvWithInput(order: LaunchOrder, { uid }: UserAccount): readonly string[] {
    const argv = this.#argvOf(order);
    if (order.files.stdin !== ATTACHED_STDIN) return argv;
    return argvWithInput(inputPipe(this.#settings, { uid, epochId: order.epochId }), argv);
  }

  #argvOf(order: LaunchOrder): readonly string[] {
    const program = order.program;
    if (program.kind === 'argv') return program.argv;
    if (program.kind === 'shell') return ['/bin/sh', '-c', program.line];
    if (isInline(order)) return ['/bin/sh', '-c', program.text, 'script', ...program.args];
    const path = scriptFile(this.#settings, order.epochId);
    return program.text.startsWith('#!')
      ? [path, ...program.args]
      : ['/bin/sh', path, ...program.args];
  }

  #inputOf(
    order: LaunchOrder,
    rank: number,
    isOwnProgram: boolean,
  ): Pick<LaunchRequest, 'stdin' | 'isFed'> {
    const { stdin } = order.files;
    if (stdin === CLIENT_STDIN) return { stdin: this.#feeds.pathOf(order.epochId), isFed: true };
    const isFile = stdin !== undefined && stdin !== ATTACHED_STDIN && isOwnProgram;
    return { stdin: isFile ? formatPattern(stdin, order, rank) : '' };
  }

  #outputs(
    { order, account, spool }: Setting,
    rank: number,
  ): Pick<LaunchRequest, 'stdout' | 'stderr'> {
    const { stdout, stderr } = order.files;
    const place = { order, uid: account.uid, spool };
    return {
      stdout:
        stdout === undefined
          ? spoolFile(this.#settings, place, { rank, stream: 'stdout' })
          : formatPattern(stdout, order, rank),
      stderr:
        stderr === undefined
          ? spoolFile(this.#settings, place, { rank, stream: 'stderr' })
          : formatPattern(stderr, order, rank),
    };
  }
}

function foreignOf({ foreign, nodes, nodeRank }: LaunchOrder): Pick<LaunchRequest, 'foreign'> {
  if (foreign === undefined) return {};
  return { foreign: { ...foreign, nodes, isLead: nodeRank === 0 } };
}

/** Several processes may write one file: none of them may cut off what another wrote. */
function sharesOutput(order: LaunchOrder): boolean {
  if (order.processesPerNode === 1 && order.nodes.length === 1) return false;
  return order.files.stdout !== undefined || order.files.stderr !== undefined;
}

/** What ends of tasks give back, by the system's name of the error. */
const LACKS: Readonly<Record<string, string>> = {
  EMFILE: 'the agent has as many files open as it may (ulimit -n)',
  ENFILE: 'too many files are open on this machine',
};

function nodeFault(what: string, error: unknown): PrepareFailure {
  const words = error instanceof Error ? error.message : String(error);
  const lack = LACKS[(error as NodeJS.ErrnoException | null)?.code ?? ''];
  return { detail: `${what}: ${words}`, nodeFault: true, ...(lack === undefined ? {} : { lack }) };
}
