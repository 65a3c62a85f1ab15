// Where an epoch's files are, and the mark its processes carry.

import type { EpochId } from '../model/ids.ts';
import type { LaunchOrder } from '../model/orders.ts';
import type { Stream } from '../wire/messages.ts';
import { ranksPerNode } from './host-lines.ts';
import type { AgentSettings } from './ports.ts';

/** Little of what a launcher's frame has for all that a node adds. */
const INLINE_BYTES_MAX = 16 * 1024;

/** `42[7]#2` as a file name: `42.7-2`. */
export function fileNameOf(epochId: EpochId): string {
  return epochId.replace('[', '.').replace(']', '').replace('#', '-');
}

export function workDirectory(settings: AgentSettings, epochId: EpochId): string {
  return `${settings.stateDir}/work/${fileNameOf(epochId)}`;
}

/**
 * Whether the shell gets the script of a task as an argument: those of a batch's jobs are alike and
 * look at no name of theirs, and a file for each of thousands is more work for a node than the
 * argument.
 */
export function isInline({ program, batch }: LaunchOrder): boolean {
  if (program.kind !== 'script' || batch === undefined) return false;
  const { text } = program;
  return text.startsWith('#!/bin/sh\n') && Buffer.byteLength(text) <= INLINE_BYTES_MAX;
}

export function scriptFile(settings: AgentSettings, epochId: EpochId): string {
  return `${settings.stateDir}/scripts/${fileNameOf(epochId)}`;
}

export function hostFile(settings: AgentSettings, order: LaunchOrder): string {
  // Tasks of one node need not write a file each: all with as many processes read the same lines.
  const name = order.nodes.length === 1 ? `1x${ranksPerNode(order)}` : fileNameOf(order.epochId);
  return `${settings.stateDir}/hosts/${name}`;
}

/** The same for Open MPI, which takes no lines without `slots=` at their word. */
export function slotsFile(path: string): string {
  return `${path}.slots`;
}

export function spoolDirectory(settings: AgentSettings, uid: number): string {
  return `${settings.stateDir}/spool/${uid}`;
}

/** What this user's solvers were built into, for as long as they are used. */
export function buildsDirectory(settings: AgentSettings, uid: number): string {
  return `${settings.stateDir}/builds/${uid}`;
}

export interface SpoolPlace {
  readonly order: LaunchOrder;
  readonly uid: number;
  /** A name that is used again and again; undefined for one of the epoch's own. */
  readonly spool: string | undefined;
}

/** A captured output file. */
export function spoolFile(
  settings: AgentSettings,
  { order, uid, spool }: SpoolPlace,
  of: { readonly rank: number; readonly stream: Stream },
): string {
  const name = spool ?? `${fileNameOf(order.epochId)}.${order.nodeRank}`;
  const end = of.stream === 'stdout' ? 'out' : 'err';
  return `${spoolDirectory(settings, uid)}/${name}.${of.rank}.${end}`;
}

/** Value of WEFT_LAUNCH: tells whose process it is, even when launcher and agent are gone. */
export function markOf(settings: AgentSettings, launchId: number): string {
  return `${settings.instance}:${launchId}`;
}
