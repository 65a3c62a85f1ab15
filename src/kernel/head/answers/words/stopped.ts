// What is said of a task that was stopped to make room.

import type { ShortNode, StoppedTask } from '../../../machine/answers/stopped.ts';
import { sayWindow } from './reason.ts';

/** Lists of nodes and of jobs end here. */
const NAMES_MAX = 3;

/** `who`: `It`, or a task of an array by its id. */
export function sayStopped(who: string, { preempted, waitsFor }: StoppedTask): string {
  return `${who} was ${preempted}. ${sayWait(waitsFor)}`;
}

function sayWait(waitsFor: StoppedTask['waitsFor']): string {
  switch (waitsFor.kind) {
    case 'maintenance':
      return `It resumes after the maintenance of ${waitsFor.node}.`;
    case 'cpus': {
      const { cpuCount, nodes } = waitsFor;
      const words = nodes.slice(0, NAMES_MAX).map((node) => sayLack(node, cpuCount));
      return `It resumes when ${words.join(' and ')}${nodes.length > NAMES_MAX ? ' and so on' : ''}.`;
    }
    case 'window':
      return `There is room, but ${sayWindow(waitsFor.reason)}.`;
    default:
      return 'There is room: it resumes unless a higher tier takes that.';
  }
}

/** `n1 has 2 cpus free (0 now; used by job 3)`. */
function sayLack({ name, cpusFree, jobs }: ShortNode, cpuCount: number): string {
  const some = jobs.slice(0, NAMES_MAX).join(', ');
  const users =
    jobs.length === 0
      ? ''
      : `; used by ${jobs.length === 1 ? 'job' : 'jobs'} ${some}${jobs.length > NAMES_MAX ? ', …' : ''}`;
  return `${name} has ${cpuCount} cpus free (${cpusFree} now${users})`;
}
