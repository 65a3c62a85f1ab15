// Starting one process: two small shell scripts around the program, the first as ourselves
// (cgroups, limits), the second as the user (files). They tell on descriptor 3 where they failed;
// when it closes silently the program runs.

import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { constants as os } from 'node:os';
import { delimiter, join } from 'node:path';
import { SPAWN_FLAG, STAGE } from '../../ports/launcher-frames.ts';
import type { SpawnRequest } from './wire.ts';

/** What runs as ourselves: only our own environment may be looked at here. */
const OUTER = `
nice=$1 cpus=$2 cpuset=$3; shift 3
while [ "$1" != -- ]; do echo 0 2>/dev/null >"$1" || { echo 2 >&3; exit 127; }; shift; done; shift
[ -z "$cpus" ] || taskset -pc "$cpus" $$ >/dev/null 2>&1 || unset "$cpuset"
renice -n "$nice" -p $$ >/dev/null 2>&1 || [ "$nice" = 0 ] || { echo 3 >&3; exit 127; }
exec "$@"`;

/**
 * What runs as the user. The environment comes as w_e0, w_e1 … and takes effect here; env(1) sets
 * what a shell cannot hold, or changes itself.
 */
const INNER = `
w_cwd=$1 w_in=$2 w_out=$3 w_err=$4 w_how=$5 w_mode=$6 w_mask=$7 w_parents=$8 w_count=$9; shift 9
w_at=0 w_odd=
while [ "$w_at" -lt "$w_count" ]; do
  eval "w_entry=\\$w_e$w_at"
  case \${w_entry%%=*} in
  ''|[0-9]*|*[!A-Za-z0-9_]*|w_*|IFS|PS4|OPT*|LINENO|*UID|PPID|SHELLOPTS|BASH*) w_odd="$w_at $w_odd";;
  *) export "$w_entry"; unset "w_e$w_at";;
  esac
  w_at=$((w_at + 1))
done
cd -- "$w_cwd" 2>/dev/null || { echo 5 >&3; exit 127; }
true 2>/dev/null <"$w_in" || { echo 6 >&3; exit 127; }
umask "$w_mask"
if [ "$w_parents" = make ]; then
  mkdir -p -- "$(dirname -- "$w_out")" "$(dirname -- "$w_err")" 2>/dev/null
fi
umask "$w_mode"
[ -L "$w_out" ] && { echo 7 >&3; exit 127; }
[ -L "$w_err" ] && { echo 8 >&3; exit 127; }
if [ "$w_how" != append ]; then
  [ ! -s "$w_out" ] || true 2>/dev/null >"$w_out" || { echo 7 >&3; exit 127; }
  [ ! -s "$w_err" ] || true 2>/dev/null >"$w_err" || { echo 8 >&3; exit 127; }
fi
true 2>/dev/null >>"$w_out" || { echo 7 >&3; exit 127; }
true 2>/dev/null >>"$w_err" || { echo 8 >&3; exit 127; }
case $1 in
*/*) [ -f "$1" ] && [ -x "$1" ];;
*) command -v -- "$1" >/dev/null 2>&1;;
esac || { echo 9 >&3; exit 127; }
umask "$w_mask"
unset OLDPWD
if [ "$w_err" = "$w_out" ]; then exec <"$w_in" >>"$w_out" 2>&1 3>&-
else exec <"$w_in" >>"$w_out" 2>>"$w_err" 3>&-; fi
for w_at in $w_odd; do
  eval "w_entry=\\$w_e$w_at"; unset "w_e$w_at"
  [ -z "$w_entry" ] || set -- "$w_entry" "$@"
done
[ -z "$w_odd" ] || set -- /usr/bin/env "$@"
exec "$@"`;

const RESOURCES =
  'cpu fsize data stack core rss nproc nofile memlock as locks sigpending msgqueue nice rtprio rttime';

export interface Failure {
  readonly errno: number;
  readonly stage: number;
}

export interface StartHandlers {
  onStarted(): void;
  onFailed(failure: Failure): void;
  onExited(status: number): void;
}

/** Exactly one of onStarted and onFailed is called, then, if started, onExited once. Returns the
 * process id at once, 0 when there is no process. */
export function start(request: SpawnRequest, handlers: StartHandlers): number {
  const plan = planOf(request);
  if ('errno' in plan) {
    handlers.onFailed(plan);
    return 0;
  }
  const [program = 'sh', ...args] = plan.argv;
  const child = spawn(program, args, {
    detached: true,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    ...plan.options,
  });
  watch(child, request, handlers);
  return child.pid ?? 0;
}

function watch(child: ChildProcess, request: SpawnRequest, handlers: StartHandlers): void {
  let told = '';
  let state: 'starting' | 'started' | 'failed' = 'starting';
  let status: number | undefined;
  const settle = (failure: Failure | null): void => {
    if (state !== 'starting') return;
    state = failure ? 'failed' : 'started';
    if (failure) {
      handlers.onFailed(failure);
      return;
    }
    handlers.onStarted();
    if (status !== undefined) handlers.onExited(status);
  };
  child.once('error', () => settle({ errno: os.errno.EAGAIN, stage: STAGE.fork }));
  child.once('exit', (code, signal) => {
    status = signal ? os.signals[signal] : (code ?? 0) << 8;
    if (state === 'started') handlers.onExited(status);
  });
  const pipe = child.stdio[3];
  pipe?.on('data', (bytes: Buffer) => {
    told += bytes.toString();
  });
  pipe?.once('close', () => {
    const stage = Number.parseInt(told, 10);
    settle(stage > 0 ? { errno: errnoOf(stage, request), stage } : null);
  });
}

interface Plan {
  readonly argv: readonly string[];
  readonly options: { env: Record<string, string>; uid?: number; gid?: number };
}

function planOf(request: SpawnRequest): Plan | Failure {
  const setIds = (request.flags & SPAWN_FLAG.setIds) !== 0;
  const setpriv = setIds ? findProgram('setpriv', process.env['PATH']) : undefined;
  const prlimit =
    request.limits.length > 0 ? findProgram('prlimit', process.env['PATH']) : undefined;
  if (request.argv.length === 0) return { errno: os.errno.EINVAL, stage: STAGE.exec };
  if (request.limits.length > 0 && !prlimit) return { errno: os.errno.ENOSYS, stage: STAGE.limits };
  if (setIds && process.getuid?.() !== 0)
    return { errno: os.errno.EPERM, stage: STAGE.credentials };
  const environment = environmentOf(request);
  const inner = ['/bin/sh', '-c', INNER, 'sh', ...innerArguments(request, environment)];
  const asUser = setpriv ? [setpriv, ...idFlags(request), '--', ...inner] : inner;
  const limited = prlimit ? [prlimit, ...limitFlags(request), '--', ...asUser] : asUser;
  const { uid, gid, nice, cgroupProcs } = request;
  const places = [...boundTo(environment), ...cgroupProcs];
  const env = carried(environment);
  return {
    argv: ['/bin/sh', '-c', OUTER, 'sh', String(nice), ...places, '--', ...limited],
    options: setIds && !setpriv ? { env, uid, gid } : { env },
  };
}

/** The cpus, or nothing, and what says so: it is taken back where the kernel refuses them. */
function boundTo(environment: readonly string[]): [cpus: string, name: string] {
  const at = environment.findIndex((entry) => entry.startsWith('WEFT_CPUSET='));
  const isOurs = environment.some((entry) => /^WEFT_LAUNCH=./.test(entry));
  const cpus = isOurs ? environment[at]?.slice('WEFT_CPUSET='.length) : undefined;
  return [cpus ?? '', `w_e${at}`];
}

/**
 * A user's variables under names that mean nothing: LD_PRELOAD, or a PATH, would have what runs
 * here as root do whatever the user likes.
 */
function carried(environment: readonly string[]): Record<string, string> {
  const entries = environment.map((entry, at) => [`w_e${at}`, entry] as const);
  return { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...Object.fromEntries(entries) };
}

function innerArguments(request: SpawnRequest, environment: readonly string[]): string[] {
  const { flags, cwd, stdin, stdout, stderr } = request;
  const createMask = (flags & SPAWN_FLAG.byUmask ? 0 : 0o177) | (request.umask & 0o777);
  return [
    cwd,
    ...[stdin, stdout, stderr].map((path) => path || '/dev/null'),
    flags & SPAWN_FLAG.append ? 'append' : 'truncate',
    createMask.toString(8),
    (request.umask & 0o777).toString(8),
    flags & SPAWN_FLAG.makeParents ? 'make' : '',
    String(environment.length),
    ...request.argv,
  ];
}

function idFlags({ uid, gid, groups }: SpawnRequest): string[] {
  const kept = groups.length > 0 ? ['--groups', groups.join(',')] : ['--clear-groups'];
  return ['--reuid', String(uid), '--regid', String(gid), ...kept];
}

/** Never above our own hard limit, as the kernel would refuse it. */
function limitFlags(request: SpawnRequest): string[] {
  const names = RESOURCES.split(' ');
  const rows = readFileSync('/proc/self/limits', 'utf8').split('\n').slice(1);
  return request.limits.map(({ resource, soft, hard }) => {
    const word = rows[resource]?.slice(47).trim().split(/\s+/)[0];
    const most = word === undefined || word === 'unlimited' ? 2n ** 64n - 1n : BigInt(word);
    const hardest = hard < most ? hard : most;
    return `--${names[resource]}=${limitText(soft < hardest ? soft : hardest)}:${limitText(hardest)}`;
  });
}

function limitText(value: bigint): string {
  return value === 2n ** 64n - 1n ? 'unlimited' : String(value);
}

/** Each name once: of several the last counts. */
function environmentOf(request: SpawnRequest): string[] {
  const named = request.environment.map((entry) => {
    const [name = ''] = entry.split('=', 1);
    return [name, entry] as const;
  });
  return [...new Map(named).values()];
}

/** The shells say where, not why; a look at the same path, as ourselves, says why. */
function errnoOf(stage: number, request: SpawnRequest): number {
  const paths: Record<number, string | undefined> = {
    2: request.cgroupProcs[0],
    5: request.cwd,
    6: request.stdin,
    7: request.stdout,
    8: request.stderr,
    9: request.argv[0],
  };
  if (stage === STAGE.limits) return os.errno.EACCES;
  try {
    accessSync(paths[stage] ?? '');
  } catch (error) {
    return -((error as { errno?: number }).errno ?? -os.errno.EIO);
  }
  return stage === STAGE.chdir ? os.errno.ENOTDIR : os.errno.EACCES;
}

function findProgram(name: string, path: string | undefined): string | undefined {
  const folders = (path ?? '/usr/bin:/bin').split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
