// From the configuration to the head's options.

import { hostname } from 'node:os';
import { goalOptions } from '../../wings/goals/config/goal-options.ts';
import { notifyOptions, notifyRules } from '../../wings/notify/config/notify-options.ts';
import { wikiOptions } from '../../wings/wiki/config/wiki-options.ts';
import { usage } from '../model/failure.ts';
import type { Settings } from '../model/settings.ts';
import { writtenOf } from './compare.ts';
import type { Config } from './config.ts';
import type { HeadOptions } from './daemon-options.ts';
import { schedulingFrom } from './scheduling.ts';
import type { Address } from './value.ts';

export interface HeadPlace {
  /** The state directory, the head's own one in it, and the head's audit log. */
  readonly paths: { readonly directory: string; readonly head: string; readonly auditLog: string };
  readonly socketPath: string;
  readonly listen: Address | null;
  readonly multiUser: boolean;
  /** Null = standard error, for a head in the foreground. */
  readonly logFile: string | null;
}

/** Everything the head needs, from the configuration and where it runs. */
export function headOptions(config: Config, place: HeadPlace): HeadOptions {
  const names = config.texts('head.names');
  return {
    directory: place.paths.head,
    clusterName: config.text('cluster.name') ?? 'weft',
    socketPath: place.socketPath,
    listen: place.listen,
    publicNames: names.length > 0 ? names : namesFor(place.listen),
    multiUser: place.multiUser,
    capacity: capacityOf(config),
    config: { ...config.origin, directory: place.paths.directory, written: writtenOf(config) },
    ...liveOptions(config),
    fence: fenceOf(config),
    ...wikiDoor(config),
    ...goalFile(config),
    tickMs: config.number('head.tick'),
    logFile: place.logFile,
    auditFile: place.paths.auditLog,
    requestRateMax: config.number('head.request_rate'),
    logBytesMax: config.number('head.log_limit'),
    logBytesTotalMax: config.number('head.log_total'),
    blobBytesMax: config.number('head.blobs_max'),
    userFilesBytesMax: config.optionalNumber('head.user_files'),
    archiveBytesMax: config.number('head.archive_max'),
    archiveAgeMs: config.number('head.archive_age'),
  };
}

/** What may change while the head runs. Throws a failure when the configuration is wrong. */
export function liveOptions(
  config: Config,
): Pick<HeadOptions, 'settings' | 'heartbeatMs' | 'notify'> {
  fenceOf(config);
  wikiOptions(config);
  return {
    settings: settingsOf(config),
    notify: notifyOptions(config),
    // Three may be lost before a healthy node looks silent, whatever the two settings say.
    heartbeatMs: Math.min(
      config.number('head.heartbeat'),
      Math.floor(config.number('head.node_timeout') / 4),
    ),
  };
}

// A head on loopback only can be reached by no other name.
function namesFor(listen: Address | null): string[] {
  const local = listen === null || /^(127\.|localhost$|::1$)/.test(listen.host);
  return local ? ['localhost'] : [hostname()];
}

function capacityOf(config: Config): NonNullable<HeadOptions['capacity']> {
  const cpuCount = config.optionalNumber('head.cpus');
  const memoryBytes = config.optionalNumber('head.memory');
  return {
    ...(cpuCount === null ? {} : { cpuCount }),
    ...(memoryBytes === null ? {} : { memoryBytes }),
  };
}

function wikiDoor(config: Config): Pick<HeadOptions, 'wiki'> {
  const wiki = wikiOptions(config);
  return wiki === null ? {} : { wiki };
}

function goalFile(config: Config): Pick<HeadOptions, 'goals'> {
  const goals = goalOptions(config);
  return goals === null ? {} : { goals };
}

function fenceOf(config: Config): HeadOptions['fence'] {
  const command = config.texts('fence.command');
  if (command.length === 0) return null;
  if (!command.some((word) => word.includes('{node}'))) {
    throw usage('fence.command does not name the node; write {node} where its name goes');
  }
  return { command, timeoutMs: config.number('fence.timeout') };
}

function settingsOf(config: Config): Settings {
  return {
    nodeTimeoutMs: config.number('head.node_timeout'),
    killGraceMs: config.number('head.kill_grace'),
    crashLimit: config.number('head.crash_limit'),
    defaults: {
      nodeCount: config.number('defaults.nodes'),
      processesPerNode: config.number('defaults.procs'),
      perNode: {
        cpuCount: config.number('defaults.cpus'),
        memoryBytes: config.optionalNumber('defaults.memory'),
        gpuCount: 0,
        counted: {},
      },
      walltimeMs: config.optionalNumber('defaults.time'),
    },
    scheduling: schedulingFrom(config),
    usersMayReserve: config.flag('reservations.users'),
    notify: notifyRules(config),
    retainedJobsMax: config.number('head.retain_jobs'),
    archiveDefaultBytes: config.number('head.archive_default'),
    buildMsMax: config.number('head.build_time'),
  };
}
