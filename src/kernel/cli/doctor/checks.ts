// The checks of `weft doctor`: each looks at one thing and never throws.

import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import type { NodeView } from '../../api/nodes.ts';
import { withPlaced } from '../../base/placed.ts';
import { plural } from '../../base/plural.ts';
import { quoteWord } from '../../base/shell-word.ts';
import { formatSize } from '../../base/size.ts';
import type { Config } from '../../config/config.ts';
import { whyNotRunnable } from '../../config/health-options.ts';
import { formatValue } from '../../config/value.ts';
import { certificateDay, certificateWords, RENEWAL } from '../../model/certificate-words.ts';
import { Failure } from '../../model/failure.ts';
import type { Check, Context } from '../context.ts';
import { daemonNotes } from '../daemons/daemon-notes.ts';
import { LocalPaths, readJson } from '../daemons/local-paths.ts';
import { otherNameWords } from '../daemons/other-name.ts';
import { clockWords } from '../nodes/clock-words.ts';
import { clockSetWords } from '../output/clock-set.ts';
import { copiedWords } from '../output/copied-words.ts';
import { lossWords } from '../output/loss-words.ts';
import { formatSpan } from '../output/words.ts';
import { containerRuntimes } from './container-runtimes.ts';
import type { Finding } from './finding.ts';
import { cgroupMounts, leftoversHere, removeGroups } from './leftover-groups.ts';
import { openFiles } from './open-files.ts';
import { sharedAccounts } from './shared-accounts.ts';

/** Below this an agent's spool or the head's journal is full within a busy hour. */
const DISK_FREE_MIN_BYTES = 1024 ** 3;
/** Records of different machines are compared by eye to about this. */
const CLOCK_DIFFERENCE_MAX_MS = 1000;
const NODE_MAJOR_MIN = 24;
/** A line for people; the others are in `weft config show`. */
const SETTINGS_SHOWN_MAX = 8;

const OWN: readonly Check[] = [
  { name: 'Node.js', check: nodeVersion },
  { name: 'SQLite', check: sqlite },
  { name: 'compiler', check: compiler },
  { name: 'cgroups', check: cgroups },
  { name: 'old cgroups', check: oldCgroups },
  { name: 'configuration', check: configuration },
  { name: 'health command', check: healthCommand },
  { name: 'containers', check: containerRuntimes },
  { name: 'state directory', check: stateDirectory },
  { name: 'disk space', check: diskSpace },
  { name: 'open files', check: ({ directory }) => openFiles(new LocalPaths(directory)) },
  { name: 'port', check: port },
  { name: 'head', check: head },
  { name: 'weft up', check: daemons },
];

/** All checks, those of wings in their places. */
export function checksOf({ wings }: Context): readonly Check[] {
  return withPlaced(
    OWN,
    wings.flatMap(({ cli }) => cli?.checks ?? []),
  );
}

function ok(text: string): Finding[] {
  return [{ state: 'ok', text }];
}

function nodeVersion(): Finding[] {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= NODE_MAJOR_MIN) return ok(`version ${process.versions.node}`);
  const text = `version ${process.versions.node} is too old`;
  return [{ state: 'bad', text, remedy: `Install Node ${NODE_MAJOR_MIN} or newer.` }];
}

async function sqlite(): Promise<Finding[]> {
  try {
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(':memory:');
    const row = database.prepare('SELECT sqlite_version() AS version').get();
    database.close();
    return ok(`version ${String(row?.['version'])}`);
  } catch (error) {
    const remedy = 'Use a Node.js that was built with SQLite.';
    return [{ state: 'bad', text: `cannot be used: ${(error as Error).message}`, remedy }];
  }
}

async function compiler(): Promise<Finding[]> {
  for (const name of ['musl-gcc', 'cc']) {
    try {
      const { stdout } = await promisify(execFile)(name, ['--version'], { timeout: 5000 });
      return ok(stdout.split('\n')[0] ?? name);
    } catch {
      // Not installed: the next one may be.
    }
  }
  const text = 'none; a slower launcher in Node.js starts the processes';
  return [{ state: 'note', text, remedy: 'Install gcc on the machines that run jobs.' }];
}

function oldCgroups(_: Context, { fix }: { readonly fix: boolean }): Finding[] {
  const found = leftoversHere();
  if (!found.ok) return ok(`not checked: ${found.error}`);
  const left = found.value;
  if (left.length === 0) return ok('no cgroups are left by agents that are gone');
  const kept = fix ? left.filter((directory) => !removeGroups(directory)) : left;
  const gone = fix && kept.length < left.length ? ok(`${left.length - kept.length} removed`) : [];
  if (kept.length === 0) return gone;
  const text = `${plural(kept.length, 'empty cgroup')} left by agents that are gone, such as ${kept[0]}`;
  const remedy = fix ? 'Remove them as root.' : '`weft doctor --fix` removes them.';
  return [...gone, { state: 'note', text, remedy }];
}

function cgroups(): Finding[] {
  const found = cgroupMounts(/memory|cpu/);
  const writable = found.filter((place) => canWrite(place));
  if (writable.length > 0) return ok(`can be made in ${writable.join(', ')}`);
  const text = found.length === 0 ? 'there are none' : `cannot be made in ${found.join(', ')}`;
  const remedy =
    'Limits are checked twice a second instead. Run the agent as root, or delegate a cgroup to it.';
  return [{ state: 'note', text, remedy }];
}

async function configuration(context: Context): Promise<Finding[]> {
  try {
    const config = await context.config();
    const found = ok(`${config.file ?? 'there is no file; the defaults apply'}${inForce(config)}`);
    return [...found, ...otherName(context, config)];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [{ state: 'bad', text: error.message, remedy: 'docs/config.md lists all keys.' }];
  }
}

function otherName({ directory }: Context, config: Config): Finding[] {
  const joined = joinedAs(new LocalPaths(directory));
  const text = joined === null ? null : otherNameWords(config, joined.name);
  if (text === null) return [];
  const remedy = `A token (\`weft token join\`, on the head) and \`weft join --again\` here give it that name; or correct node.name.`;
  return [{ state: 'note', text, remedy }];
}

/** `; in force beside the defaults: head.listen none (weft.yaml:3)`. */
function inForce(config: Config): string {
  const given = config.all().filter(({ key }) => config.isGiven(key.name));
  const shown = given.slice(0, SETTINGS_SHOWN_MAX).map(({ key, value, source }) => {
    return `${key.name} ${formatValue(key, value) || '(none)'} (${source})`;
  });
  if (shown.length === 0) return '';
  const more = given.length - shown.length;
  const rest = more > 0 ? `, and ${more} more: weft config show` : '';
  return `; in force beside the defaults: ${shown.join(', ')}${rest}`;
}

async function healthCommand(context: Context): Promise<Finding[]> {
  const [program] = (await safeConfig(context))?.texts('health.command') ?? [];
  if (program === undefined) return ok('none is used');
  const why = whyNotRunnable(program);
  if (why === null) return ok(program);
  const remedy = 'Change health.command; agents refuse to start with it.';
  return [{ state: 'bad', text: `it cannot be run: ${why}`, remedy }];
}

function stateDirectory({ directory }: Context): Finding[] {
  if (!existsSync(directory)) {
    const above = firstExisting(directory);
    if (canWrite(above)) return ok(`${directory} will be made`);
    return [
      {
        state: 'bad',
        text: `${above} cannot be written`,
        remedy: 'Choose another directory with --dir.',
      },
    ];
  }
  const { mode, uid } = statSync(directory);
  if ((mode & 0o022) !== 0) {
    const remedy = `chmod go-w ${quoteWord(directory)}`;
    return [{ state: 'bad', text: `others can write into ${directory}`, remedy }];
  }
  if (canWrite(directory)) return ok(directory);
  const text = `${directory} belongs to user ${uid}`;
  return [{ state: 'note', text, remedy: 'You can use its cluster, not start or stop it.' }];
}

function diskSpace({ directory }: Context): Finding[] {
  const { bavail, bsize } = statfsSync(firstExisting(directory));
  const free = bavail * bsize;
  if (free >= DISK_FREE_MIN_BYTES) return ok(`${formatSize(free)} free for the state`);
  const text = `only ${formatSize(free)} free at ${directory}`;
  return [{ state: 'bad', text, remedy: 'Free some space; without it the head accepts no jobs.' }];
}

async function port(context: Context): Promise<Finding[]> {
  const address = (await safeConfig(context))?.address('head.listen') ?? null;
  if (address === null) return ok('none is used');
  const where = `${address.host}:${address.port}`;
  const code = await new Promise<string | null>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    server.listen({ host: address.host, port: address.port }, () =>
      server.close(() => resolve(null)),
    );
  });
  if (code === null) return ok(`${where} is free`);
  if (code === 'EADDRINUSE') return ok(`${where} is in use; by the head, if it runs`);
  return [
    { state: 'bad', text: `${where} cannot be used (${code})`, remedy: 'Change head.listen.' },
  ];
}

async function head(context: Context): Promise<Finding[]> {
  try {
    const api = await context.api();
    const before = Date.now();
    const info = await api.call('info', { timeoutMs: 3000 });
    const after = Date.now();
    // Its clock was read between our two readings: only what is outside of them is a difference.
    const difference = Math.max(0, before - info.head.now, info.head.now - after);
    const up = info.nodes['up'] ?? 0;
    const found: Finding[] = ok(
      `answers at ${api.address}: ${plural(up, 'node')} up, Weft ${info.version}`,
    );
    if (difference > CLOCK_DIFFERENCE_MAX_MS) {
      const text = `its clock differs from that of this machine by ${formatSpan(difference)}`;
      found.push({
        state: 'note',
        text,
        remedy: 'Synchronise the clocks of both machines with NTP.',
      });
    }
    const losses = info.losses.map((loss) => ({
      state: 'note' as const,
      text: `its store lost ${lossWords(loss, info.head.now)}`,
      remedy: 'Submit the missing jobs again, and check the disk.',
    }));
    const steps = clockSetWords(info).map((text) => ({
      state: 'note' as const,
      text,
      remedy: 'Synchronise it with NTP; look at reservations, maintenance and begin times.',
    }));
    const unmet = (info.settingsNotes ?? []).map((text) => ({
      state: 'note' as const,
      text,
      remedy: 'Correct the configuration, then `weft config reload`.',
    }));
    const { certificateUntil: end } = info.head;
    if (typeof end === 'number') found.push(certificateFinding(end, info.head.now));
    const copiedTo = copiedWords(info);
    const copied = copiedTo === null ? [] : [copyFinding(copiedTo)];
    const behind = typeof info.behind === 'string' ? [behindFinding(info.behind)] : [];
    const stuck = typeof info.obstacle === 'string' ? [stuckFinding(info.obstacle)] : [];
    return [
      ...found,
      ...stuck,
      ...behind,
      ...losses,
      ...copied,
      ...steps,
      ...unmet,
      ...(await nodes(context)),
    ];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const paths = new LocalPaths(context.directory);
    const isOwn = error.message.includes(paths.socket);
    const joined = isOwn ? membershipFinding(paths) : null;
    if (joined !== null) return [joined];
    const remedy = error.hint ?? '';
    return [{ state: 'note', text: error.message, ...(remedy === '' ? {} : { remedy }) }];
  }
}

/** A machine that has joined has no head of its own, and needs none. */
function membershipFinding(paths: LocalPaths): Finding | null {
  const joined = joinedAs(paths);
  if (joined === null) return null;
  const { name, url, clusterName } = joined;
  const text = `this machine is node ${name} of ${clusterName}, whose head is at ${url}`;
  const remedy = `On the head, \`weft node show ${name}\` tells whether it is connected; where the head does not know it, \`weft join --again\` here.`;
  return { state: 'note', text, remedy };
}

/** Membership of this machine; null where it has not joined, or where we may not read the file. */
function joinedAs({ membership }: LocalPaths) {
  try {
    return readJson<Record<'name' | 'url' | 'clusterName', string>>(membership);
  } catch {
    return null;
  }
}

function stuckFinding(words: string): Finding {
  const remedy = 'Free some space where the head keeps its state; it goes on by itself.';
  return { state: 'bad', text: words, remedy };
}

function behindFinding(words: string): Finding {
  const remedy = 'Put the newer store back, or start the head once with --accept-loss.';
  return { state: 'bad', text: words, remedy };
}

function certificateFinding(end: number, now: number): Finding {
  const text = certificateWords(end, now);
  if (text === null)
    return { state: 'ok', text: `its certificate is good until ${certificateDay(end)}` };
  return { state: end > now ? 'note' : 'bad', text, remedy: RENEWAL };
}

function copyFinding(words: string): Finding {
  const remedy =
    'If the head ran after the copy was made, submit again what it accepted then; if the copy was made of a stopped head, nothing is missing.';
  return { state: 'note', text: words, remedy };
}

function daemons(context: Context): Finding[] {
  const paths = new LocalPaths(context.directory);
  if (!existsSync(paths.cluster)) return ok('no cluster of `weft up` in the state directory');
  const notes = daemonNotes(context, null);
  if (notes.length === 0) return ok('no head or agent has died');
  return notes.map(({ isBad, text }) => ({ state: isBad ? 'bad' : 'note', text }));
}

async function nodes(context: Context): Promise<Finding[]> {
  const { nodes: all } = await (await context.api()).call('listNodes', { timeoutMs: 3000 });
  const remarks = all
    .filter(({ reason }) => reason !== null)
    .map((node) => (node.fault === 'cloned' ? clonedFinding(node) : nodeFinding(node)));
  const users = await sharedAccounts(context, all);
  return [...remarks, ...all.flatMap(clockFinding), ...users];
}

function nodeFinding({ name, reason }: NodeView): Finding {
  return { state: 'note', text: `node ${name}: ${reason}` };
}

function clonedFinding({ name, reason }: NodeView): Finding {
  const gone = `\`weft node undrain ${name}\` if the other machine is gone`;
  const remedy = `Run \`weft node reenroll\` on the copy, or ${gone}.`;
  return { state: 'bad', text: `node ${name}: ${reason}`, remedy };
}

function clockFinding(node: NodeView): Finding[] {
  const words = clockWords(node);
  if (words === '') return [];
  const text = `node ${node.name}: its clock is ${words}`;
  return [{ state: 'note', text, remedy: 'Synchronise the clocks of all machines with NTP.' }];
}

async function safeConfig(context: Context) {
  try {
    return await context.config();
  } catch {
    return null; // Said by the check of the configuration.
  }
}

function canWrite(file: string): boolean {
  try {
    accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function firstExisting(directory: string): string {
  return existsSync(directory) ? directory : firstExisting(path.dirname(directory));
}
