// The head's program: gives the real store, sockets and clock to the head, and stops it in good
// order on a signal.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fingerprintOf } from '../kernel/head/auth/certificate.ts';
import { type Head, startHead } from '../kernel/head/head.ts';
import { startHttp } from '../kernel/head/http/server.ts';
import { LogFiles } from '../kernel/head/logs/log-files.ts';
import { logJobsOf } from '../kernel/head/logs/log-jobs.ts';
import { saveInQuiet } from '../kernel/head/snapshots.ts';
import { addressesBehind } from '../kernel/listeners/own-addresses.ts';
import { systemChance } from '../kernel/os/chance.ts';
import { systemBootClock, systemClock } from '../kernel/os/clock.ts';
import { systemCommands } from '../kernel/os/commands.ts';
import { readBootId } from '../kernel/os/detect.ts';
import { type FileLog, openLog } from '../kernel/os/log.ts';
import { collectWhenIdle, growFreely, ownHeap } from '../kernel/os/spare-memory.ts';
import type { Chance } from '../kernel/ports/chance.ts';
import type { StoreFailure } from '../kernel/ports/store.ts';
import { openSqliteStore } from '../kernel/store/sqlite/open.ts';
import { certificateOf } from './head-certificate.ts';
import { EXIT_BUG, headFailure } from './head-failure.ts';
import { type HeadFiles, openHeadFiles } from './head-files.ts';
import { type HeadOptions, readHeadOptions } from './head-options.ts';
import { type HeadWings, openWings } from './head-wings.ts';
import { keep, noteExit } from './keep.ts';
import { namingRelease, noteRelease, refuseOlder } from './last-release.ts';
import { uidsByCompiled } from './local-peers.ts';
import { loadMachine } from './machine.ts';
import { reloadOf, reloadOnHangUp } from './reload.ts';

/** Longer than agents take to dial again; a submission waits no longer for nodes that are away. */
const FIRST_WORD_MS = 6_000;
/** The built page lies in the same place for the sources and for a package. */
const PAGE = new URL('../../dist/dashboard/', import.meta.url);

/**
 * Runs a head until SIGTERM or SIGINT. Jobs go on without it. `onServing` is called once both
 * listeners are open. Rejects with a `Failure` whose exit code is for a supervisor when the head
 * cannot start, and when the thread of its store has died; the log has it too.
 */
export async function runHead(options: HeadOptions, onServing = () => {}): Promise<void> {
  let when: 'start' | 'run' = 'start';
  const logs = openLogs(options);
  const { log } = logs;
  const sparing = collectWhenIdle(systemClock, ownHeap());
  const growAsAsked = growFreely();
  const endWatch = endOnBug(log);
  try {
    await serve(options, logs, {
      onServing() {
        when = 'run';
        growAsAsked();
        noteRelease(options.directory, readVersion());
        onServing();
      },
      // Making it leaves as much garbage as the state is large.
      onSnapshotInQuiet: () => sparing.allowOne(),
    });
    log.info({}, 'head stopped');
  } catch (error) {
    const failure = headFailure(namingRelease(error, options.directory), when);
    const fields = { cause: failure.message, exit: failure.exitCode };
    // A stack helps only where the program itself is wrong.
    const stack = failure.exitCode === EXIT_BUG ? { error } : {};
    log.error({ ...fields, ...stack }, 'the head ends because of a failure');
    throw failure;
  } finally {
    endWatch();
    sparing.end();
    log.close();
    logs.audit.close();
  }
}

interface Logs {
  readonly log: FileLog;
  readonly audit: FileLog;
}

function openLogs({ directory, logFile, auditFile }: HeadOptions): Logs {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const log = openLog({ file: logFile, name: 'head' });
    return { log, audit: openLog({ file: auditFile, name: 'audit' }) };
  } catch (error) {
    throw headFailure(error, 'start');
  }
}

/** What nobody caught ends the process, as without this; the log tells of it as well. */
function endOnBug(log: FileLog): () => void {
  const onBug = (error: unknown): void => {
    log.error({ error }, 'the head ends because of a bug; its journal keeps all that was accepted');
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', onBug);
  return () => process.off('uncaughtException', onBug);
}

/** Made by a head that has a store, and by none without: its key, and output of its first jobs. */
const TRACES = ['tls/key.pem', 'tls/certificate.pem', 'logs/0'];

interface Moments {
  readonly onServing: () => void;
  readonly onSnapshotInQuiet: () => void;
}

async function serve(options: HeadOptions, { log, audit }: Logs, moments: Moments) {
  const { directory, acceptLoss = false } = options;
  refuseOlder(directory, readVersion());
  const wings = await openWings({ options, log, audit });
  const warn = (words: string): void => log.warn({}, words);
  const store = await openSqliteStore({ directory, acceptLoss, traces: TRACES, warn });
  let head: Head | null = null;
  let endQuietLooks = (): void => undefined;
  const logs = new LogFiles({
    directory: join(options.directory, 'logs'),
    fileBytesMax: options.logBytesMax,
    totalBytesMax: options.logBytesTotalMax,
    jobs: logJobsOf(() => head?.engine ?? null),
    log,
  });
  const files = openHeadFiles(options, {
    logs,
    log,
    parts: wings.parts,
    // Nothing goes before the head serves.
    certainNow: () => head?.engine.certainNow() ?? systemClock.now(),
  });
  try {
    await logs.prepare();
    await files.blobs.prepare();
    await files.archive.prepare();
    const { settings, heartbeatMs, tickMs, logBytesMax } = options;
    head = await startHead(
      {
        machine: await loadMachine(),
        store,
        clock: systemClock,
        bootClock: systemBootClock(readBootId()),
        log,
        logs,
        lives: {
          chance: systemChance,
          key: stampKey(directory, systemChance),
          firstWordMs: FIRST_WORD_MS,
        },
        acceptLoss,
        jobIdSeen: async () => Math.max(await logs.jobIdSeen(), await files.archive.jobIdSeen()),
        ...fencingOf(options, audit),
        parts: wings.parts,
      },
      { settings, heartbeatMs, tickMs, logBytesMax },
    );
    endQuietLooks = saveInQuiet(systemClock, head.engine, moments.onSnapshotInQuiet);
    files.blobs.attach(head.engine);
    files.jobFiles.attach(head.engine);
    files.archive.attach(head.engine);
    const { gone } = store;
    const { onServing } = moments;
    const started = { options, head, wings, logs, files, log, audit, gone, onServing };
    await serveUntilStopped(started);
  } finally {
    endQuietLooks();
    await files.archive.close();
    // Also when it could not start: nothing may keep the directory's lock, nor the process.
    await (head === null ? store.close() : head.stop());
    await logs.close();
    await files.blobs.close();
  }
}

interface Started extends Logs {
  readonly options: HeadOptions;
  readonly head: Head;
  readonly wings: HeadWings;
  readonly logs: LogFiles;
  readonly files: HeadFiles;
  /** Resolves when the store's thread has ended. */
  readonly gone: Promise<StoreFailure>;
  readonly onServing: () => void;
}

async function serveUntilStopped(started: Started): Promise<void> {
  const { options, head, wings, logs, files, log, audit, gone, onServing } = started;
  const { engine, agents } = head;
  const reload = reloadOf(options, { head, wings }, log);
  const ports = {
    engine,
    agents,
    logs,
    ...files,
    clock: systemClock,
    chance: systemChance,
    log,
    audit,
    reload,
  };
  const http = await startHttp(ports, {
    clusterName: options.clusterName,
    version: readVersion(),
    multiUser: options.multiUser,
    capacity: options.capacity ?? {},
    socketPath: options.socketPath,
    secure: await secureListener(options, head, log),
    page: { files: fileURLToPath(PAGE), state: options.directory },
    loginDirectory: join(tmpdir(), `weft-login-${process.getuid?.() ?? 0}`),
    requestRateMax: options.requestRateMax,
    // Elsewhere its socket is its own user's alone.
    ...(options.multiUser ? { uidsOf: uidsByCompiled(log) } : {}),
    wings,
  });
  agents.beginHearing();
  log.info({ socket: options.socketPath, port: http.port, seq: engine.seq }, 'head serves');
  await wings.serving(head, http);
  onServing();
  logs.begin();
  files.blobs.begin();
  files.archive.begin();
  const endReloading = reloadOnHangUp(reload, log);
  const failure = await Promise.race([stopSignal(), gone]);
  endReloading();
  if (failure !== null)
    log.error({ error: failure.message }, 'the head stops although its store cannot be written');
  await wings.end();
  await http.close();
  rmSync(options.socketPath, { force: true });
  // Only a new process has a new store's thread: whoever watches this one starts it again.
  if (failure !== null) throw failure;
}

function fencingOf({ fence }: HeadOptions, audit: FileLog) {
  return fence === null ? {} : { fencing: { ...fence, commands: systemCommands, audit } };
}

/** Null when it comes. */
function stopSignal(): Promise<null> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(null));
  });
}

async function secureListener(options: HeadOptions, { engine }: Head, log: FileLog) {
  if (options.listen === null) return null;
  const { host, port, orNear = false } = options.listen;
  const certificate = await certificateOf(options, engine.state.identity, (fields, words) => {
    log.warn(fields, words);
  });
  const fingerprint = fingerprintOf(certificate.certificatePem);
  // Kept with the jobs, so that a head whose files are gone knows that there were some.
  engine.perform({ kind: 'identity', fingerprint }, () => undefined);
  const ownAddresses = () => addressesBehind(host);
  return { host, port, orNear, certificate, publicNames: options.publicNames, ownAddresses };
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

// The key by which the head knows again what it told its nodes of itself. It lies beside the store,
// and is put back with it.

const KEY_BYTES = 32;

/** Made where there is none, or one of which nothing can be read: nodes then begin anew to keep. */
function stampKey(directory: string, chance: Chance): Uint8Array {
  const path = join(directory, 'stamp.key');
  const known = read(path);
  if (known?.length === KEY_BYTES) return known;
  const key = chance.bytes(KEY_BYTES);
  writeFileSync(`${path}.new`, key, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
  return key;
}

function read(path: string): Uint8Array | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Started as a program, not imported by the command line. */
const isProgram = import.meta.url === pathToFileURL(process.argv[1] ?? '').href;
if (isProgram) {
  const options = readHeadOptions(process.argv.slice(2));
  keep(options);
  try {
    await runHead(options);
    process.exit(0);
  } catch (error) {
    const failure = headFailure(error, 'start');
    noteExit(options, failure.exitCode);
    const hint = failure.hint === null ? '' : `\n  ${failure.hint}`;
    process.stderr.write(`weft head: ${failure.message}${hint}\n`);
    process.exit(failure.exitCode);
  }
}
