// The head's program: gives the real store, sockets and clock to the head, and stops it in good
// order on a signal.

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JobId } from '../core/model/ids.ts';
import { type HeadCertificate, makeCertificate } from '../head/auth/certificate.ts';
import { type Head, startHead } from '../head/head.ts';
import { startHttp } from '../head/http/server.ts';
import { LogFiles } from '../head/logs/log-files.ts';
import { systemChance } from '../os/chance.ts';
import { systemClock } from '../os/clock.ts';
import { systemFence } from '../os/fence.ts';
import { type FileLog, openLog } from '../os/log.ts';
import { collectWhenIdle, ownHeap } from '../os/spare-memory.ts';
import { StoreFailure } from '../ports/store.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { type HeadOptions, readHeadOptions } from './head-options.ts';
import { reloadOf, reloadOnHangUp } from './reload.ts';

/**
 * Runs a head until SIGTERM or SIGINT. Jobs go on without it. Rejects with words when it cannot
 * start: store locked, full, corrupt or foreign; port taken; directory not writable. And when the
 * thread of its store has died.
 */
export async function runHead(options: HeadOptions): Promise<void> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const endSparing = collectWhenIdle(systemClock, ownHeap());
  const log = openLog({ file: options.logFile, name: 'head' });
  const audit = openLog({ file: options.auditFile, name: 'audit' });
  try {
    await serve(options, log, audit);
    log.info({}, 'head stopped');
  } finally {
    endSparing();
    log.close();
    audit.close();
  }
}

async function serve(options: HeadOptions, log: FileLog, audit: FileLog): Promise<void> {
  const clock = systemClock;
  const store = await openSqliteStore({ directory: options.directory });
  let head: Head | null = null;
  const logs = new LogFiles({
    directory: join(options.directory, 'logs'),
    fileBytesMax: options.logBytesMax,
    totalBytesMax: options.logBytesTotalMax,
    isDone: (jobId) => head !== null && isDone(head, jobId as JobId),
    log,
  });
  await logs.prepare();
  const { settings, heartbeatMs, tickMs, logBytesMax } = options;
  head = await startHead(
    { store, clock, log, logs, ...fencingOf(options, audit) },
    { settings, heartbeatMs, tickMs, logBytesMax },
  );
  const { engine, agents } = head;
  const reload = reloadOf(options, head, log);
  const ports = { engine, agents, logs, clock, chance: systemChance, log, audit, reload };
  const http = await startHttp(ports, {
    clusterName: options.clusterName,
    version: readVersion(),
    multiUser: options.multiUser,
    socketPath: options.socketPath,
    secure: await secureDoor(options),
    loginDirectory: join(tmpdir(), `weft-login-${process.getuid?.() ?? 0}`),
    requestRateMax: options.requestRateMax,
  });
  log.info({ socket: options.socketPath, port: http.port, seq: engine.seq }, 'head serves');
  const endReloading = reloadOnHangUp(reload, log);
  const failure = await Promise.race([stopSignal(), store.gone]);
  endReloading();
  if (failure !== null) log.error({ error: failure.message }, 'head stops without its store');
  await http.close();
  await head.stop();
  rmSync(options.socketPath, { force: true });
  // Only a new process has a new store's thread: whoever watches this one starts it again.
  if (failure !== null) throw failure;
}

function fencingOf({ fence }: HeadOptions, audit: FileLog) {
  return fence === null ? {} : { fencing: { fence: systemFence(fence), audit } };
}

/** Done jobs leave memory: one that was given out and is not there is done. */
function isDone({ engine: { state } }: Head, jobId: JobId): boolean {
  const job = state.jobs.get(jobId);
  return job === undefined ? jobId < state.nextJobId : job.outcome !== null;
}

/** Null when it comes. */
function stopSignal(): Promise<null> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(null));
  });
}

async function secureDoor(options: HeadOptions) {
  if (options.listen === null) return null;
  const { host, port } = options.listen;
  const certificate = await certificateOf(options);
  return { host, port, certificate, publicNames: options.publicNames };
}

/** Made at the first start and kept: agents and users know the head by it. */
async function certificateOf(options: HeadOptions): Promise<HeadCertificate> {
  const directory = join(options.directory, 'tls');
  const certificateFile = join(directory, 'certificate.pem');
  const keyFile = join(directory, 'key.pem');
  if (!existsSync(certificateFile) || !existsSync(keyFile)) {
    const names = [...new Set([...options.publicNames, hostname(), 'localhost', '127.0.0.1'])];
    const { clusterName } = options;
    const made = await makeCertificate({
      clusterName,
      names,
      now: systemClock.now(),
      chance: systemChance,
    });
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(keyFile, made.keyPem, { mode: 0o600 });
    writeFileSync(certificateFile, made.certificatePem);
  }
  chmodSync(keyFile, 0o600);
  const keyPem = readFileSync(keyFile, 'utf8');
  return { certificatePem: readFileSync(certificateFile, 'utf8'), keyPem };
}

function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Started as a program, not imported by the command line. */
const isProgram = import.meta.url === pathToFileURL(process.argv[1] ?? '').href;
if (isProgram) {
  try {
    await runHead(readHeadOptions(process.argv.slice(2)));
    process.exit(0);
  } catch (error) {
    const words = error instanceof StoreFailure ? error.message : String(error);
    process.stderr.write(`weft head: ${words}\n`);
    process.exit(1);
  }
}
