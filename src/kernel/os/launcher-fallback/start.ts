// Starting one process: two small shell scripts around the program, the first as ourselves
// (cgroups, limits), the second as the user (files). They tell on descriptor 3 where they failed;
// when it closes silently the program runs.

import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, readFileSync } from 'node:fs';
import { constants as os } from 'node:os';
import { delimiter, join } from 'node:path';
import { SPAWN_FLAG, STAGE } from '../../ports/launcher-frames.ts';
import type { SpawnRequest } from './wire.ts';

const OUTER = `
nice=$1; shift
while [ "$1" != -- ]; do echo 0 2>/dev/null >"$1" || { echo 2 >&3; exit 127; }; shift; done; shift
[ -z "$WEFT_CPUSET" ] || [ -z "$WEFT_LAUNCH" ] ||
  taskset -pc "$WEFT_CPUSET" $$ >/dev/null 2>&1 || unset WEFT_CPUSET
renice -n "$nice" -p $$ >/dev/null 2>&1 || [ "$nice" = 0 ] || { echo 3 >&3; exit 127; }
exec "$@"`;

const INNER = `
cwd=$1 in=$2 out=$3 err=$4 how=$5 mode=$6 mask=$7 parents=$8; shift 8
cd -- "$cwd" 2>/dev/null || { echo 5 >&3; exit 127; }
true 2>/dev/null <"$in" || { echo 6 >&3; exit 127; }
umask "$mask"
if [ "$parents" = make ]; then
  mkdir -p -- "$(dirname -- "$out")" "$(dirname -- "$err")" 2>/dev/null
fi
umask "$mode"
[ -L "$out" ] && { echo 7 >&3; exit 127; }
[ -L "$err" ] && { echo 8 >&3; exit 127; }
[ "$how" = append ] || [ ! -s "$out" ] || true 2>/dev/null >"$out" || { echo 7 >&3; exit 127; }
[ "$how" = append ] || [ ! -s "$err" ] || true 2>/dev/null >"$err" || { echo 8 >&3; exit 127; }
true 2>/dev/null >>"$out" || { echo 7 >&3; exit 127; }
true 2>/dev/null >>"$err" || { echo 8 >&3; exit 127; }
case $1 in
*/*) [ -f "$1" ] && [ -x "$1" ];;
*) command -v -- "$1" >/dev/null 2>&1;;
esac || { echo 9 >&3; exit 127; }
umask "$mask"
unset OLDPWD
if [ "$err" = "$out" ]; then exec <"$in" >>"$out" 2>&1 3>&-
else exec <"$in" >>"$out" 2>>"$err" 3>&-; fi
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
    env: environmentOf(request),
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
  readonly options: { uid?: number; gid?: number };
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
  const inner = ['/bin/sh', '-c', INNER, 'sh', ...innerArguments(request), ...request.argv];
  const asUser = setpriv ? [setpriv, ...idFlags(request), '--', ...inner] : inner;
  const limited = prlimit ? [prlimit, ...limitFlags(request), '--', ...asUser] : asUser;
  const outer = ['-c', OUTER, 'sh', String(request.nice), ...request.cgroupProcs, '--'];
  const { uid, gid } = request;
  return {
    argv: ['/bin/sh', ...outer, ...limited],
    options: setIds && !setpriv ? { uid, gid } : {},
  };
}

function innerArguments(request: SpawnRequest): string[] {
  const { flags, cwd, stdin, stdout, stderr } = request;
  const createMask = (flags & SPAWN_FLAG.byUmask ? 0 : 0o177) | (request.umask & 0o777);
  return [
    cwd,
    ...[stdin, stdout, stderr].map((path) => path || '/dev/null'),
    flags & SPAWN_FLAG.append ? 'append' : 'truncate',
    createMask.toString(8),
    (request.umask & 0o777).toString(8),
    flags & SPAWN_FLAG.makeParents ? 'make' : '',
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

function environmentOf(request: SpawnRequest): Record<string, string> {
  const entries = request.environment.map((entry) => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
  return Object.fromEntries(entries);
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
