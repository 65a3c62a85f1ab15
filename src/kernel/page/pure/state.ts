// The word for where a job or node is, and the tone in which it is shown. The word always stands
// beside the colour.

import type { JobView, TaskView } from '../../api/jobs.ts';
import type { NodeView } from '../../api/nodes.ts';

/** Names of colours in style.css. */
export const TONES = [
  ...(['wait', 'run', 'stop', 'move', 'good', 'bad', 'dim', 'warn'] as const),
  ...(['rest', 'care', 'fault'] as const),
] as const;
export type Tone = (typeof TONES)[number];

const TONE_OF: Readonly<Record<string, Tone>> = {
  pending: 'wait',
  held: 'dim',
  staging_in: 'move',
  starting: 'move',
  running: 'run',
  suspended: 'stop',
  staging_out: 'move',
  completing: 'move',
  completed: 'good',
  cancelled: 'dim',
};

/** `held` and the outcome say more than `pending` and `done`. */
export function stateWord(
  view: Pick<JobView | TaskView, 'state' | 'outcome'> & { held?: boolean },
): string {
  if (view.state === 'done') return view.outcome?.kind ?? 'done';
  return view.state === 'pending' && view.held === true ? 'held' : view.state;
}

/** Every other word is of a bad end. */
export function toneOf(word: string): Tone {
  return TONE_OF[word] ?? 'bad';
}

export type NodeWord =
  | 'lost'
  | 'away'
  | 'never seen'
  | 'maintenance'
  | 'drained'
  | 'fault'
  | 'paused'
  | 'full'
  | 'busy'
  | 'idle';

/** One word: the first of these that is so. */
export function nodeWord(node: NodeView): NodeWord {
  if (node.state === 'unreachable') return 'lost';
  if (node.state === 'never_seen') return 'never seen';
  if (node.state === 'away') return 'away';
  if (node.maintenance?.begun === true) return 'maintenance';
  if (node.fault !== null) return 'fault';
  if (node.drained !== null) return 'drained';
  if (node.paused !== null) return 'paused';
  if (node.free.cpuCount === 0) return 'full';
  return node.free.cpuCount < node.total.cpuCount ? 'busy' : 'idle';
}

/** One for each word: they stand side by side. */
export const NODE_TONES: Readonly<Record<NodeWord, Tone>> = {
  lost: 'bad',
  fault: 'fault',
  away: 'warn',
  'never seen': 'dim',
  maintenance: 'care',
  drained: 'stop',
  paused: 'rest',
  full: 'run',
  busy: 'move',
  idle: 'good',
};

export function nodeTone(word: NodeWord): Tone {
  return NODE_TONES[word];
}

/** What needs somebody: the node gets no work, and not because it is new. */
export function needsCare(node: NodeView): boolean {
  return ['lost', 'fault', 'away', 'drained'].includes(nodeWord(node));
}

/** How many tasks of a job ended, and neither completed nor were cancelled. */
export function failedCount({ outcomeCounts }: Pick<JobView, 'outcomeCounts'>): number {
  const counts = Object.entries(outcomeCounts);
  return counts.reduce((sum, [kind, count]) => sum + (isFailure(kind) ? count : 0), 0);
}

/** Whether a job or task that ended so failed: it neither completed, nor did somebody cancel it. */
export function isFailure(outcome: string): boolean {
  return outcome !== 'completed' && outcome !== 'cancelled';
}
