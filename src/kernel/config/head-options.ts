// From the configuration to the head's options.

import { hostname } from 'node:os';
import { usage } from '../model/failure.ts';
import type { NotifyRules } from '../model/notification.ts';
import type { Settings } from '../model/settings.ts';
import { parseOnNodeLoss } from '../model/submission-values.ts';
import { writtenOf } from './compare.ts';
import type { Config } from './config.ts';
import type { HeadAddress, HeadOptions } from './daemon-options.ts';
import type { OptionsPart } from './part.ts';
import { schedulingFrom } from './scheduling.ts';
import type { Address } from './value.ts';

export interface HeadPlace {
  /** The state directory, the head's own one in it, and the head's audit log. */
  readonly paths: { readonly directory: string; readonly head: string; readonly auditLog: string };
  readonly socketPath: string;
  readonly listen: HeadAddress | null;
  readonly multiUser: boolean;
  /** Null = standard error, for a head in the foreground. */
  readonly logFile: string | null;
}

/** Everything the head needs, from the configuration and where it runs; `parts`: of wings. */
export function headOptions(
  config: Config,
  place: HeadPlace,
  parts: readonly OptionsPart[],
): HeadOptions {
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
    ...liveOptions(config, parts),
    fence: fenceOf(config),
    ...together(parts.map((part) => part.head?.(config))),
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
  parts: readonly OptionsPart[],
): Pick<HeadOptions, 'settings' | 'heartbeatMs'> & Partial<HeadOptions> {
  fenceOf(config);
  return {
    ...together(parts.map((part) => part.live?.(config))),
    settings: { ...settingsOf(config), ...together(parts.map((part) => part.settings?.(config))) },
    // Three may be lost before a healthy node looks silent, whatever the two settings say.
    heartbeatMs: Math.min(
      config.number('head.heartbeat'),
      Math.floor(config.number('head.node_timeout') / 4),
    ),
  };
}

/** Throws a failure when a head would not start with the configuration. */
export function checkAsHead(config: Config, parts: readonly OptionsPart[]): void {
  liveOptions(config, parts);
  for (const part of parts) part.head?.(config);
}

function together<T extends object>(parts: readonly (Partial<T> | undefined)[]): Partial<T> {
  return Object.assign({}, ...parts);
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

function fenceOf(config: Config): HeadOptions['fence'] {
  const command = config.texts('fence.command');
  if (command.length === 0) return null;
  if (!command.some((word) => word.includes('{node}'))) {
    throw usage('fence.command does not name the node; write {node} where its name goes');
  }
  return { command, timeoutMs: config.number('fence.timeout') };
}

/** Whom no wing can tell anything. */
const NOBODY: NotifyRules = {
  matrix: null,
  webhook: null,
  command: null,
  mail: null,
  giveUpMs: 0,
};

/** What would be refused with each submission is refused here. */
function lossOf(config: Config): Pick<Settings['defaults'], 'onNodeLoss'> {
  const text = config.text('defaults.on_node_loss');
  if (text === null) return {};
  const read = parseOnNodeLoss(text);
  if (!read.ok) throw usage(`defaults.on_node_loss: ${read.error}`);
  const loss = read.value;
  if (loss.kind === 'lease' && loss.leaseMs < config.number('head.node_timeout')) {
    throw usage('defaults.on_node_loss: a lease is at least head.node_timeout');
  }
  return { onNodeLoss: loss };
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
      ...lossOf(config),
    },
    scheduling: schedulingFrom(config),
    usersMayReserve: config.flag('reservations.users'),
    notify: NOBODY,
    retainedJobsMax: config.number('head.retain_jobs'),
    archiveDefaultBytes: config.number('head.archive_default'),
    buildMsMax: config.number('head.build_time'),
  };
}
