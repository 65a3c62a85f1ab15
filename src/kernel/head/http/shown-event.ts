// Events as readers see them: the fields that are public by name. Hashes, environments and programs
// stay in the head.

import { EVENT_KINDS, type EventKind, type EventKindName } from '../../api/event-kinds.ts';
import type { Event } from '../../machine/declared.ts';
import { shownTarget } from '../../model/notification.ts';
import { jobIdOf } from './event-subject.ts';

type EventOf<K extends EventKindName> = Extract<Event, { kind: K }>;
type KeysOf<T> = T extends unknown ? Exclude<keyof T, 'kind' | 'jobId'> & string : never;

/** Events that are shown otherwise than they are recorded. */
const VIEWS = {
  job_submitted: ({ spec: { name, request, array }, ...rest }) => ({
    ...rest,
    name,
    request,
    array,
  }),
  job_changed: ({ spec, ...rest }) => {
    const { name, request, array, walltimeMs, partition, nice } = spec;
    return { ...rest, name, request, array, walltimeMs, partition, nice };
  },
  notification_due: ({ targets, ...rest }) => ({ ...rest, targets: targets.map(shownTarget) }),
  maintenance_planned: ({ maintenance: { program: _, ...maintenance }, by }) => ({
    maintenance,
    by,
  }),
} satisfies { [K in EventKindName]?: (event: EventOf<K>) => object };

type ViewOf<K extends EventKindName> = K extends keyof typeof VIEWS
  ? ReturnType<(typeof VIEWS)[K]>
  : EventOf<K>;

/** The compiler compares the names that are public with what there is. */
const PUBLIC: { readonly [K in EventKindName]: EventKind<KeysOf<ViewOf<K>>> } = EVENT_KINDS;

/** What of an event goes out, with the number of the job that it is about. */
export function shownEvent(event: Event): { kind: EventKindName } {
  const view = (VIEWS as Partial<Record<string, (event: Event) => object>>)[event.kind];
  const values: Readonly<Record<string, unknown>> = { ...(view?.(event) ?? event) };
  const shown: Record<string, unknown> = {};
  for (const name of PUBLIC[event.kind].fields) {
    if (values[name] !== undefined) shown[name] = values[name];
  }
  const jobId = jobIdOf(event);
  return { kind: event.kind, ...(jobId === null ? {} : { jobId }), ...shown };
}
