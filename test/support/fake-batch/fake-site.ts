// A cluster that is one folder: its jobs run as processes of this machine, one shell each, and each
// of its commands is a program that looks at the folder. There is no daemon.

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

export interface FakeJob {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  /** 0: it waits. */
  readonly pid: number;
  /** Empty: it has none yet. */
  readonly node: string;
  /** Seconds since 1970. */
  readonly submittedAt: number;
  /** Null: it runs. */
  readonly code: number | null;
  readonly isCancelled: boolean;
  /** What else was said of it, in words of its system. */
  readonly said: Readonly<Record<string, string>>;
}

export interface FakeNode {
  readonly name: string;
  readonly isOff: boolean;
  readonly used: number;
}

export interface FakeSubmission {
  readonly name: string;
  /** Shell text. */
  readonly script: string;
  readonly stdout: string;
  readonly stderr: string;
  /** Starts when somebody begins it; absent: at once. */
  readonly waits?: true;
  readonly said?: FakeJob['said'];
}

/** Writes the end in one step, so that nobody reads half of it. */
const WATCHED = 'sh "$1" >"$2" 2>"$3"; echo $? >"$4.new"; mv "$4.new" "$4"';

const NODES = ['n1', 'n2'];
export const CPUS_PER_NODE = 2;

export class FakeSite {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(join(folder, 'jobs'), { recursive: true });
    mkdirSync(join(folder, 'off'), { recursive: true });
  }

  submit({ name, script, stdout, stderr, waits, said = {} }: FakeSubmission): number {
    const id = this.#takeId();
    writeFileSync(`${this.#path(id)}.sh`, script);
    const submittedAt = Math.floor(Date.now() / 1000);
    const known = { id, name, owner: ownName(), pid: 0, node: '', submittedAt, said };
    this.#note(id, { ...known, stdout, stderr });
    if (waits !== true) this.begin(id, NODES[id % NODES.length] ?? '');
    return id;
  }

  /** False: there is none that waits. */
  begin(id: number, node: string): boolean {
    const job = this.job(id);
    if (job === null || job.pid !== 0 || job.code !== null) return false;
    const { stdout = '', stderr = '' } = job as Partial<FakeSubmission>;
    const at = this.#path(id);
    const stdio = openSync('/dev/null', 'r+');
    const child = spawn('sh', ['-c', WATCHED, 'job', `${at}.sh`, stdout, stderr, `${at}.exit`], {
      detached: true,
      stdio: [stdio, stdio, stdio],
      cwd: '/',
    });
    child.unref();
    this.#note(id, { ...job, pid: child.pid, node });
    return true;
  }

  /** False: there is none. */
  say(id: number, words: FakeJob['said']): boolean {
    const job = this.job(id);
    if (job !== null) this.#note(id, { ...job, said: { ...job.said, ...words } });
    return job !== null;
  }

  jobs(): readonly FakeJob[] {
    const names = readdirSync(join(this.#folder, 'jobs'));
    const ids = names.flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? []);
    return ids
      .map((id) => this.job(Number(id)))
      .filter((job) => job !== null)
      .sort((a, b) => a.id - b.id);
  }

  job(id: number): FakeJob | null {
    const at = this.#path(id);
    if (!existsSync(`${at}.json`)) return null;
    const job = JSON.parse(readFileSync(`${at}.json`, 'utf8')) as FakeJob;
    const code = existsSync(`${at}.exit`) ? Number(readFileSync(`${at}.exit`, 'utf8')) : null;
    return { ...job, code, isCancelled: existsSync(`${at}.cancelled`) };
  }

  /** False: there is nothing to cancel. */
  cancel(id: number): boolean {
    const job = this.job(id);
    if (job === null || job.code !== null) return false;
    const at = this.#path(id);
    writeFileSync(`${at}.cancelled`, '');
    // Its shell is told to end with all of its group; the end is noted for it.
    writeFileSync(`${at}.exit`, '143\n');
    if (job.pid !== 0) endGroup(job.pid);
    return true;
  }

  /** Jobs that still run, ended. */
  endAll(): void {
    for (const { id } of this.jobs()) this.cancel(id);
  }

  nodes(): readonly FakeNode[] {
    const running = this.jobs().filter(({ code, pid }) => code === null && pid !== 0);
    return NODES.map((name) => ({
      name,
      isOff: existsSync(join(this.#folder, 'off', name)),
      used: Math.min(CPUS_PER_NODE, running.filter(({ node }) => node === name).length),
    }));
  }

  setOff(name: string, isOff: boolean): void {
    const at = join(this.#folder, 'off', name);
    if (isOff) writeFileSync(at, '');
    else rmSync(at, { force: true });
  }

  /** Nothing of it starts by itself. */
  get isSteered(): boolean {
    return existsSync(join(this.#folder, 'steered'));
  }

  steer(): void {
    writeFileSync(join(this.#folder, 'steered'), '');
  }

  #note(id: number, job: object): void {
    const at = this.#path(id);
    writeFileSync(`${at}.new`, JSON.stringify(job));
    renameSync(`${at}.new`, `${at}.json`);
  }

  #path(id: number): string {
    return join(this.#folder, 'jobs', String(id));
  }

  /** A folder that only one can make. */
  #takeId(): number {
    for (let id = this.jobs().length + 1; ; id += 1) {
      try {
        mkdirSync(this.#path(id));
        return id;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
}

function ownName(): string {
  return process.getuid?.() === 0 ? 'root' : (process.env.USER ?? 'me');
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM');
  } catch (error) {
    // It has just ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
