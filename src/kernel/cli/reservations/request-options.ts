// The options of `weft reserve create` and `change`, and what is asked of the head by them.

import type { Command } from 'commander';
import { DURATION_FORMS } from '../../base/duration.ts';
import { usage } from '../../model/failure.ts';
import { parseNodeName } from '../../model/ids.ts';
import { CPUS_PER_NODE_MAX, GPUS_PER_NODE_MAX, NODES_PER_TASK_MAX } from '../../model/limits.ts';
import { parseCount, parseCounted, parseMemory, parseNeed } from '../../model/submission-values.ts';
import {
  dropUndefined,
  listed,
  read,
  readAll,
  readInstant,
  readLength,
  readWindow,
  WINDOW_FORMS,
} from '../submit/read.ts';

/** The options as commander leaves them. */
export interface RequestOptions {
  readonly name?: string;
  readonly users?: string;
  readonly groups?: string;
  readonly jobs?: string;
  readonly at?: string;
  readonly within?: string;
  readonly duration?: string;
  readonly nodes?: string;
  readonly nodesNamed?: string;
  readonly cpus?: string;
  readonly memory?: string;
  readonly gpus?: string;
  readonly resource?: string[];
  readonly needs?: string[];
  readonly force?: boolean;
  readonly cron?: string;
  readonly zone?: string;
}

/** Adds the options that say what is to be set aside. */
export function defineRequest(command: Command): void {
  command.option('--name <name>', 'what jobs call it (default: its id)');
  command.option('--users <names>', 'who may use it, separated by commas (default: you)');
  command.option('--groups <names>', 'groups that may use it, separated by commas');
  command.option('--jobs <ids>', 'waiting jobs to put into it, separated by commas');
  command.option('--at <time>', 'when it begins: +2h, 18:30, 2026-01-31T18:30 (default: now)');
  command.option('--within <times>', `as early as there is room: ${WINDOW_FORMS}`);
  command.option('-t, --duration <time>', `how long: ${DURATION_FORMS}`);
  command.option('-n, --nodes <count>', 'how many nodes (default: 1)');
  command.option(
    '--nodes-named <names>',
    'of these nodes, separated by commas (default: all of them)',
  );
  command.option('--cpus <count>', 'cpus of each node (default: whole nodes; of a part: none)');
  command.option('--memory <size>', 'memory of each node (default: whole nodes; of a part: none)');
  command.option('--gpus <count>', 'gpus of each node');
  command.option('--resource <name=count...>', 'other counted resources of each node');
  command.option('--needs <labels...>', "only nodes with this label, or 'gpu & !old | big'");
  command.option('--force', 'even if running tasks may still run then; they run to their end');
  command.option('--cron <pattern>', "repeat it, by five fields of cron: '0 9 * * 1-5'");
  command.option(
    '--zone <name>',
    'time zone of --cron, such as Europe/Berlin (default: the one here)',
  );
}

/** What of the body the options say; throws a usage failure that names the option. */
export function readRequest(options: RequestOptions) {
  const now = Date.now();
  const { name, force, nodes } = options;
  const { at, within, duration, cron } = options;
  if (options.zone === '') throw usage('--zone: give a time zone, such as Europe/Berlin');
  if (options.zone !== undefined && cron === undefined) {
    throw usage('--zone needs --cron, whose time zone it is');
  }
  if (at !== undefined && within !== undefined) {
    throw usage('--at and --within exclude each other: give a start or a window');
  }
  return dropUndefined({
    name,
    force,
    labels: readAll('--needs', options.needs, parseNeed),
    users: listed(options.users),
    groups: listed(options.groups),
    jobs: readAll('--jobs', listed(options.jobs), (text) => parseCount(text, 1, 1e15)),
    nodeNames: readAll('--nodes-named', listed(options.nodesNamed), parseNodeName),
    at: at === undefined || at === 'now' ? undefined : readInstant('--at', at, now),
    within: within === undefined ? undefined : readWindow('--within', within, now),
    durationMs: duration === undefined ? undefined : readLength('--duration', duration),
    nodeCount: read('--nodes', nodes, (text) => parseCount(text, 1, NODES_PER_TASK_MAX)),
    share: readShare(options),
    recurrence: cron === undefined ? undefined : { cron, zone: options.zone ?? zoneHere() },
  });
}

function readShare({ cpus, memory, gpus, resource }: RequestOptions) {
  if ([cpus, memory, gpus, resource].every((one) => one === undefined)) return undefined;
  return {
    cpuCount: read('--cpus', cpus, (text) => parseCount(text, 0, CPUS_PER_NODE_MAX)) ?? 0,
    memoryBytes: read('--memory', memory, parseMemory) ?? 0,
    gpuCount: read('--gpus', gpus, (text) => parseCount(text, 0, GPUS_PER_NODE_MAX)) ?? 0,
    counted: Object.fromEntries(readAll('--resource', resource, parseCounted) ?? []),
  };
}

function zoneHere(): string {
  // As Node has it: nothing where TZ names no zone.
  const zone: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone !== undefined) return zone;
  throw usage(`TZ names no time zone: '${process.env['TZ']}'`, 'Give one with --zone, or set TZ.');
}
