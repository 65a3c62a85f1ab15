// A batch system as pilots need it: an array job is submitted, found by its name, listed and ended.
// There are no other commands, and none of these is about a call or a job of ours.

import { IntervalSet } from '../../../kernel/base/interval-set.ts';
import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { SiteJob } from '../../../kernel/model/site.ts';
import type { Commands } from '../../../kernel/ports/commands.ts';
import type { Adaptor, SiteProblem, SiteQuery } from '../../sites/adaptors/adaptor.ts';
import { runSiteCommand } from '../../sites/fabric/site/command.ts';
import type { SiteUser } from '../../sites/ports/sites.ts';
import { launchName, type PilotRequest } from '../model/pilot.ts';
import { type PilotScript, pilotScript } from './script.ts';

export interface PilotLaunch extends Omit<PilotScript, 'program'> {
  readonly tag: string;
  readonly count: number;
}

/** The account that runs the commands of a batch system. */
export interface PilotAccount {
  /** The account's name at the batch system, by which jobs name their owner. */
  readonly name: string;
  /** Null: this program's own. */
  readonly user: SiteUser | null;
}

/** The submission that a job belongs to: an array of them. */
export function siteOf({ id }: Pick<SiteJob, 'id'>): string {
  return id.replace(/[_.].*$/, '');
}

export type PilotProblem = SiteProblem;

export interface PilotHostOptions {
  readonly adaptor: Adaptor;
  readonly commands: Commands;
  /** The words that start `weft` where pilots run. */
  readonly program: readonly string[];
  readonly timeoutMs: number;
}

/** Characters of a pilot's output that say why it failed. */
const LAST_WORDS = 400;

export class PilotHost {
  readonly #options: PilotHostOptions;

  constructor(options: PilotHostOptions) {
    this.#options = options;
  }

  /** Submits a launch; resolves with its id at the batch system. */
  async submit(launch: PilotLaunch, user: SiteUser | null): Promise<Result<string, PilotProblem>> {
    const { adaptor, program } = this.#options;
    const { wish, tag, count } = launch;
    const words = wordsFor(adaptor.system, wish, count);
    if (!words.ok) return err({ kind: 'refused', text: words.error });
    const query = adaptor.submit({
      name: launchName(tag, launch.launch),
      scriptFile: '',
      script: pilotScript({ ...launch, program }),
      queue: wish.queue,
      account: null,
      walltimeMs: wish.walltimeMs,
      nodeCount: 1,
      cpuCount: wish.cpuCount,
      memoryBytes: wish.memoryBytes,
      // The script opens its own log, which has the pilot's name.
      directory: wish.directory,
      stdout: '/dev/null',
      stderr: '/dev/null',
      options: words.value,
    });
    return await this.#ask(query, user);
  }

  /** Ids of our submissions of this name, not others'; elements of an array are one submission. */
  async named(
    name: string,
    account: PilotAccount,
  ): Promise<Result<readonly string[], PilotProblem>> {
    const listed = await this.list(account.user);
    if (!listed.ok) return listed;
    const own = listed.value.filter((job) => job.name === name && job.owner === account.name);
    return ok([...new Set(own.map(siteOf))]);
  }

  /** What it lists now, of all users. */
  list(user: SiteUser | null): Promise<Result<readonly SiteJob[], PilotProblem>> {
    return this.#ask(this.#options.adaptor.jobs, user);
  }

  /** `index` null: all that is left of the array. */
  async cancel(
    site: string,
    index: number | null,
    user: SiteUser | null,
  ): Promise<Result<null, PilotProblem>> {
    const job = index === null ? site : this.elementOf(site, index);
    const answer = await this.#ask(this.#options.adaptor.cancel(job), user);
    // It has ended meanwhile, which the next listing tells.
    return !answer.ok && answer.error.kind === 'no_such_job' ? ok(null) : answer;
  }

  elementOf(site: string, index: number): string {
    return this.#options.adaptor.system === 'sge' ? `${site}.${index}` : `${site}_${index}`;
  }

  placesIn(jobs: readonly SiteJob[], site: string): (index: number) => Seen {
    return placesOf(jobs, site, (index) => this.elementOf(site, index));
  }

  /** Why it ended, of one that is listed no more; null: nobody knows. */
  async endOf(site: string, index: number, user: SiteUser | null): Promise<string | null> {
    const query = this.#options.adaptor.end?.(this.elementOf(site, index));
    if (query === undefined) return null;
    const end = await this.#ask(query, user);
    if (!end.ok || end.value === null) return null;
    const { exit, reason } = end.value;
    const how = exit.signal === undefined ? `exit code ${exit.code}` : `signal ${exit.signal}`;
    return reason === null ? how : `${reason} (${how})`;
  }

  /** The last of its output, as one line; null: it cannot be read here. */
  async lastWords(path: string, user: SiteUser | null): Promise<string | null> {
    const { code, output } = await this.#options.commands.run({
      argv: ['tail', '-c', String(LAST_WORDS), '--', path],
      timeoutMs: this.#options.timeoutMs,
      apart: true,
      keep: { part: 'last', length: LAST_WORDS },
      ...(user === null ? {} : { user }),
    });
    const lines = output.split('\n').filter((line) => line.trim() !== '');
    return code !== 0 || lines.length === 0 ? null : lines.slice(-3).join(' / ');
  }

  async #ask<T>(query: SiteQuery<T>, user: SiteUser | null): Promise<Result<T, PilotProblem>> {
    const { commands, timeoutMs } = this.#options;
    const how = { before: [], timeoutMs, user };
    return query.read(await runSiteCommand(commands, query.command, how));
  }
}

/** Those that make an array of the submission, and each element one pilot. */
function wordsFor(system: string, wish: PilotRequest, count: number): Result<string[], string> {
  const { isolated, options, cpuCount } = wish;
  if (system !== 'sge') {
    return ok([`--array=1-${count}`, ...(isolated ? ['--exclusive'] : []), ...options]);
  }
  if (cpuCount > 1 && !options.includes('-pe')) {
    const words = `a pilot of ${cpuCount} cpus needs a parallel environment`;
    return err(`${words}; name it, as in --options '-pe smp ${cpuCount}'`);
  }
  // It is told before it is killed, and leaves at once.
  return ok([
    '-notify',
    '-t',
    `1-${count}`,
    ...(isolated ? ['-l', 'exclusive=true'] : []),
    ...options,
  ]);
}

// Where the elements of an array job are, by one listing of its batch system. What is not listed is
// gone: the listing was whole, and asked for after the job was known to be there.

type Seen =
  | { readonly state: 'waiting' }
  | { readonly state: 'running'; readonly endsAt: number | null }
  /** `why` null: the listing does not say. */
  | { readonly state: 'gone'; readonly why: string | null };

/** Slurm lists a job without a limit as one of 365 days. */
const NO_LIMIT_MS = 365 * 86_400_000;

function placesOf(
  jobs: readonly SiteJob[],
  site: string,
  elementOf: (index: number) => string,
): (index: number) => Seen {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const rest = byId.get(site);
  const waiting = rest === undefined ? null : waitingOf(rest);
  return (index) => {
    const own = byId.get(elementOf(index));
    if (own !== undefined) return seenAs(own);
    if (rest !== undefined && waiting?.(index) === true) return seenAs(rest);
    return { state: 'gone', why: null };
  };
}

/** Elements that wait are often listed together, under the id of the array. */
function waitingOf({ elements }: SiteJob): (index: number) => boolean {
  if (elements === null) return () => true;
  const set = new IntervalSet();
  for (const part of elements.split(',')) {
    const [, from, to = from] = /^(\d+)(?:-(\d+))?/.exec(part) ?? [];
    // A form that is not known keeps all: nothing is taken for gone because it cannot be read.
    if (from === undefined) return () => true;
    set.addRange(Number(from), Number(to));
  }
  return (index) => set.has(index);
}

function seenAs({ state, startedAt, walltimeMs, word, reason }: SiteJob): Seen {
  switch (state) {
    case 'ended':
      return { state: 'gone', why: reason === null ? word : `${word}, ${reason}` };
    case 'running':
    case 'suspended':
    case 'completing': {
      const isKnown = startedAt !== null && walltimeMs !== null && walltimeMs < NO_LIMIT_MS;
      return { state: 'running', endsAt: isKnown ? startedAt + walltimeMs : null };
    }
    default:
      return { state: 'waiting' };
  }
}
