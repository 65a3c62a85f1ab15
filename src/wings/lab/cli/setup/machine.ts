// What a set-up does on the machine itself: looks, runs programs, installs units, one set-up at a
// time.

import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Context } from '../../../../kernel/cli/context.ts';
import { fileProblem } from '../../../../kernel/config/file-problem.ts';
import { homeOf } from '../../../../kernel/config/home.ts';
import { takeLock } from '../../../../kernel/connect/lock-file.ts';
import { type Failure, usage } from '../../../../kernel/model/failure.ts';
import type { MachineSeen, Whose } from '../../core/setup/plan.ts';
import { agentUnit, headUnit, type UserService } from '../../core/setup/user-units.ts';
import { programInPath, stepEnvironment } from './root-programs.ts';

/** From the sources as from dist/. */
const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
const UNITS = path.join('/etc', 'systemd', 'system');
const PACKAGED = ['/usr/lib/systemd/system', '/lib/systemd/system'];
const LINGER = '/var/lib/systemd/linger';
const STEP_MS = 120_000;
const LOOK_MS = 300;

/** In the order in which they are stopped. */
const UNIT_NAMES = ['weft-agent', 'weft-jobs', 'weft-head'] as const;
type UnitName = (typeof UNIT_NAMES)[number];

/** A machine, or what one user has of it. */
export class Machine {
  readonly whose: Whose;
  readonly state: string;
  readonly #context: Context;
  /** Where units are installed. */
  readonly #units: string;

  constructor(
    context: Context,
    { whose, state }: { readonly whose: Whose; readonly state: string },
  ) {
    this.whose = whose;
    this.state = state;
    this.#context = context;
    this.#units = whose === 'machine' ? UNITS : path.join(configFolder(context), 'systemd', 'user');
  }

  look(): MachineSeen {
    const { bavail, bsize } = statfsSync(nearest(this.state));
    return {
      whose: this.whose,
      isRoot: process.getuid?.() === 0,
      hasSudo: succeeds('sh', '-c', 'command -v sudo'),
      hasSystemd: this.whose === 'machine' ? isBooted() : this.#reachesManager(),
      state: this.state,
      freeBytes: bavail * bsize,
    };
  }

  hasUnits(...names: readonly UnitName[]): boolean {
    const places = this.whose === 'machine' ? [this.#units, ...PACKAGED] : [this.#units];
    return names.every((name) =>
      places.some((place) => existsSync(path.join(place, `${name}.service`))),
    );
  }

  /** Whole or not at all. */
  installUnits(...names: readonly UnitName[]): void {
    const weft = programInPath(this.whose === 'machine');
    mkdirSync(this.#units, { recursive: true });
    for (const name of names) {
      const file = this.#fileOf(name);
      writeFileSync(`${file}.new`, this.#unitText(name, { weft, state: this.state }));
      renameSync(`${file}.new`, file);
    }
    this.systemctl('daemon-reload');
  }

  /** Units that are installed or belong to the package. */
  ownUnits(): string[] {
    return UNIT_NAMES.filter((name) => this.hasUnits(name) && this.#isUsed(name));
  }

  #isUsed(name: UnitName): boolean {
    return existsSync(this.#fileOf(name)) || this.isActive(name) || this.isEnabled(name);
  }

  #fileOf(name: UnitName): string {
    return path.join(this.#units, `${name}.service`);
  }

  /** What an installed unit says; null: there is none. */
  unit(name: UnitName): string | null {
    const file = this.#fileOf(name);
    return existsSync(file) ? readFileSync(file, 'utf8') : null;
  }

  stopUnits(): void {
    for (const name of UNIT_NAMES) {
      if (this.hasUnits(name)) this.systemctl('disable', '--now', name);
    }
  }

  /** Those of a package stay with it. */
  removeUnits(): void {
    for (const name of UNIT_NAMES) rmSync(this.#fileOf(name), { force: true });
    this.systemctl('daemon-reload');
  }

  #unitText(name: UnitName, service: UserService): string {
    if (this.whose === 'user' && name === 'weft-head') return headUnit(service);
    if (this.whose === 'user' && name === 'weft-agent') return agentUnit(service);
    const text = readFileSync(path.join(ROOT, 'deploy', 'systemd', `${name}.service`), 'utf8');
    // The unit names the program by its usual place.
    return text.replaceAll('/usr/bin/weft', service.weft);
  }

  systemctl(...args: readonly string[]): void {
    run('systemctl', ...this.#manager(), ...args);
  }

  /** Whether it is started at each boot. */
  isEnabled(name: UnitName): boolean {
    return succeeds('systemctl', ...this.#manager(), 'is-enabled', '--quiet', name);
  }

  isActive(name: UnitName): boolean {
    return succeeds('systemctl', ...this.#manager(), 'is-active', '--quiet', name);
  }

  lingers(): boolean {
    return existsSync(path.join(LINGER, userInfo().username));
  }

  /** May be refused, and all works while the user is logged in. */
  linger(): void {
    if (succeeds('loginctl', 'enable-linger')) return;
    const command = `loginctl enable-linger ${userInfo().username}`;
    this.#context.note(`it ends when you log out; an admin changes that: ${command}`);
  }

  #reachesManager(): boolean {
    return succeeds('systemctl', '--user', 'show', '--property=Version');
  }

  #manager(): string[] {
    return this.whose === 'user' ? ['--user'] : [];
  }

  /** Keeps other set-ups of this machine away until this process ends. Throws if there is one. */
  claim(): void {
    const folder = this.whose === 'machine' ? '/run' : configFolder(this.#context);
    try {
      mkdirSync(folder, { recursive: true });
      const taken = takeLock(path.join(folder, 'weft-setup.lock'), 'user');
      if (taken.ok) process.once('exit', taken.release);
      else throw inUse(taken.holder?.pid);
    } catch (error) {
      if (!(error instanceof Error && 'syscall' in error)) throw error;
      throw usage(`${folder} cannot be written: ${fileProblem(error)}`);
    }
  }
}

function inUse(pid: number | undefined): Failure {
  const who = pid === undefined ? '' : ` (process ${pid})`;
  const hint = 'Let it end, or end it; the same typed again goes on from there.';
  return usage(`another \`weft setup\` is at work on this machine${who}`, hint);
}

function configFolder({ environment }: Context): string {
  const home = homeOf(environment);
  if (home === null) throw usage('HOME is not set', 'Set it to a directory of yours.');
  return environment['XDG_CONFIG_HOME'] || path.join(home, '.config');
}

const isBooted = (): boolean => existsSync('/run/systemd/system');

/** The folder, or the one above it that is there. */
function nearest(folder: string): string {
  try {
    accessSync(folder, constants.F_OK);
    return folder;
  } catch {
    return nearest(path.dirname(folder));
  }
}

export const succeeds = (program: string, ...args: readonly string[]): boolean =>
  spawnSync(program, args, { stdio: 'ignore', timeout: STEP_MS, env: stepEnvironment() }).status ===
  0;

export function run(program: string, ...args: readonly string[]): void {
  runWith('', program, ...args);
}

/** A step that others do; `input` is what it reads. Its last words are told when it fails. */
export function runWith(input: string, program: string, ...args: readonly string[]): void {
  const env = stepEnvironment();
  const done = spawnSync(program, args, { encoding: 'utf8', input, timeout: STEP_MS, env });
  if (done.status === 0) return;
  const why = done.error?.message ?? done.stderr.trim().split('\n').at(-1) ?? '';
  const what = `${path.basename(program)} ${args[0]} failed: ${why}`;
  throw usage(what, 'Mend that, and type the same again: it goes on from there.');
}

/** This program itself. */
export const ownProgram = (): readonly [string, string] => [
  process.execPath,
  process.argv[1] ?? '',
];

/** What `look` returns when it returns something; null: it has not in that time. */
export async function untilSeen<T>(
  look: () => Promise<T | null>,
  timeoutMs: number,
): Promise<T | null> {
  const end = performance.now() + timeoutMs;
  while (performance.now() < end) {
    const seen = await look();
    if (seen !== null) return seen;
    await sleep(LOOK_MS);
  }
  return null;
}
