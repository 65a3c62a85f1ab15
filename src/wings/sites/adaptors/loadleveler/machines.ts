// Machines as `llstatus -r` lists them, a line of fields between exclamation marks for each; classes
// as `llclass` does, in a table.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteNode, SiteNodeState, SiteQueue } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { unreadable } from '../read.ts';
import { failure } from './failure.ts';

/** The last field is one digit, so that a line that was cut is seen. */
export const NODES_COMMAND = {
  argv: ['llstatus', '-r', '%n', '%sts', '%cpu', '%r', '%m', '%a', '%o', '%sta'],
};
export const QUEUES_COMMAND = { argv: ['llclass'] };

const MIB = 1_048_576;
const FIELDS = 8;

export function readNodes(output: SiteOutput): Result<readonly SiteNode[], SiteProblem> {
  if (output.code !== 0) return failure('llstatus', output);
  if (!output.stdout.endsWith('\n')) return unreadable('llstatus', 'its last line is not whole');
  const lines = output.stdout.split('\n').filter((line) => line.trim() !== '');
  const nodes = lines.map(nodeOf);
  const known = nodes.filter((node) => node !== null);
  if (known.length === nodes.length && known.length > 0) return ok(known);
  return unreadable('llstatus', `a line has not ${FIELDS} fields, or there is none`);
}

function nodeOf(line: string): SiteNode | null {
  const fields = line.split('!').map((field) => field.trim());
  const [name = '', word = '', cpus = '', running = '', memory = '', arch = '', system = ''] =
    fields;
  const startd = fields.at(-1);
  if (fields.length !== FIELDS || !/^\S+$/.test(name) || word === '') return null;
  if ((startd !== '0' && startd !== '1') || !/^\d{1,6}$/.test(cpus)) return null;
  const [cpuCount, steps] = [Number(cpus), /^\d{1,6}$/.test(running) ? Number(running) : 0];
  const cpusUsed = Math.min(cpuCount, steps);
  const [, size] = /^(\d{1,9})(?: *mb)?$/i.exec(memory) ?? [];
  return {
    name,
    word,
    reason: null,
    cpuCount,
    cpusUsed,
    state: startd === '0' ? 'down' : stateOf(word),
    memoryBytes: size === undefined ? null : Number(size) * MIB,
    memoryFreeBytes: null,
    queues: [],
    features: [arch, system].filter((one) => one !== ''),
  };
}

/** In full or as they are cut for the table: `Drained`, `Drned`. */
function stateOf(word: string): SiteNodeState {
  if (/^(down|none)$/i.test(word)) return 'down';
  if (/^(dr(ai)?n|dr(ni|ne)|flush|sus)/i.test(word)) return 'stopped';
  if (/^idle$/i.test(word)) return 'idle';
  if (/^busy$/i.test(word)) return 'busy';
  return /^run/i.test(word) ? 'running' : 'unknown';
}

/** Rows with a name, two limits of cpu time, and free and all slots; headings have no numbers there. */
const ROW = /^(\S+) +\S+ +\S+ +-?\d+ +(\d+)(?: .*)?$/;

export function readQueues(output: SiteOutput): Result<readonly SiteQueue[], SiteProblem> {
  if (output.code !== 0) return failure('llclass', output);
  const rows = output.stdout.split('\n').flatMap((line) => {
    const [, name, slots] = ROW.exec(line.trimEnd()) ?? [];
    return name === undefined ? [] : [{ name, isStarted: slots !== '0' }];
  });
  if (rows.length === 0) return unreadable('llclass', 'no line has a name and slots');
  return ok(rows.map((row) => ({ ...row, isOpen: true, walltimeMaxMs: null, nodes: [] })));
}
