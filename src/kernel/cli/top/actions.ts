// What `weft top` does to a job or a node, and the command that does the same.

import type { RouteName } from '../../api/paths.ts';
import { plural } from '../../base/plural.ts';
import { quoteWord } from '../../base/shell-word.ts';
import type { Api } from '../../connect/api.ts';
import type { ActionKind, TopAction } from './view.ts';

type JobActionKind = Exclude<ActionKind, 'drain' | 'undrain'>;
type JobRoute = Extract<RouteName, `${JobActionKind}Job`>;

const VERBS: Readonly<Record<JobActionKind, string>> = {
  cancel: 'cancel',
  hold: 'hold',
  release: 'release',
  suspend: 'suspend',
  resume: 'resume',
  requeue: 'requeue',
};
const DONE: Readonly<Record<JobActionKind, string>> = {
  cancel: 'cancelled',
  hold: 'held',
  release: 'released',
  suspend: 'suspended',
  resume: 'resumed',
  requeue: 'requeued',
};

/** Does it. Resolves with what has happened, and how the command line says it; throws a failure. */
export async function perform(
  api: Api,
  { kind, subject, reason = '' }: TopAction,
): Promise<string> {
  if (kind === 'drain') {
    await api.call('drainNode', { params: { name: subject }, body: { reason } });
    return `Node ${subject} gets no new work (weft node drain -r ${quoteWord(reason)} ${subject})`;
  }
  if (kind === 'undrain') {
    await api.call('undrainNode', { params: { name: subject } });
    return `Node ${subject} gets work again (weft node undrain ${subject})`;
  }
  const route: JobRoute = `${kind}Job`;
  const { count } = await api.call(route, { params: { id: subject } });
  return `Job ${subject}: ${plural(count, 'task')} ${DONE[kind]} (weft ${VERBS[kind]} ${subject})`;
}
