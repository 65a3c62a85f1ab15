// What jobs may need of the agents on their nodes that not every release can do, as labels that a
// node has by its agent alone.

import { isAccountLabel } from './accounts.ts';
import { ATTACHED_STDIN, CLIENT_STDIN } from './job.ts';
import type { Submission } from './submission.ts';

/** What agents say when they connect. An agent that does not say one takes no such order. */
export const NODE_FEATURES = [
  ...([
    'mpi',
    'stdin',
    'warnings',
    'pools',
    'pool_images',
    'pool_python',
    'on_oom',
    'answers',
    'next',
    'bind',
    'claims',
    'attach',
  ] as const),
] as const;
export type NodeFeature = (typeof NODE_FEATURES)[number];

/** What each is for; follows `an agent too old for`. */
export const FEATURE_WORDS: Readonly<Record<NodeFeature, string>> = {
  mpi: 'MPI jobs',
  stdin: 'input that a client sends',
  warnings: 'a signal before the time limit',
  pools: 'workers of pools',
  pool_images: 'workers of pools in containers',
  pool_python: 'workers of pools that run Python',
  on_oom: 'an end when the kernel kills one of its processes',
  answers: 'questions about starts that are over',
  next: 'tasks that wait for a place of their job',
  bind: 'steps that are bound to cpus',
  claims: 'processes of tasks that are bound to cpus',
  attach: 'input that others bring while a task runs',
};

/** The sign stands in no label that people give. */
const PREFIX = 'agent:';

export function featureLabel(feature: NodeFeature): string {
  return `${PREFIX}${feature}`;
}

/** Null: a label of another kind. */
export function featureOf(label: string): NodeFeature | null {
  return NODE_FEATURES.find((feature) => label === featureLabel(feature)) ?? null;
}

/** People see agents by their version, and accounts by their names, not by these. */
export function withoutFeatures(labels: Iterable<string>): string[] {
  return [...labels].filter((label) => featureOf(label) === null && !isAccountLabel(label));
}

/** The features without which an agent would start the job as another one. */
export function featuresNeeded({
  files,
  mpi,
  warning,
  onOom,
}: Pick<Submission, 'files' | 'mpi' | 'warning' | 'onOom'>): NodeFeature[] {
  const needed: NodeFeature[] = [];
  if (mpi !== undefined) needed.push('mpi');
  if (files?.stdin === CLIENT_STDIN) needed.push('stdin');
  if (files?.stdin === ATTACHED_STDIN) needed.push('attach');
  if (warning !== undefined) needed.push('warnings');
  if (onOom === 'end') needed.push('on_oom');
  return needed;
}
