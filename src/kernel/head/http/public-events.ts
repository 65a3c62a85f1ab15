// Events as readers see them: those that are public by name, with the fields that are. Hashes,
// environments and programs stay in the head.

import type { EventAudience, EventKind, EventKinds } from '../../api/event-kinds.ts';
import { EVENT_KINDS } from '../../api/event-kinds.ts';
import { believed } from '../../base/believed.ts';
import type { Event, OwnEvent } from '../../machine/declared.ts';
import type { JobId } from '../../model/ids.ts';
import type { Maintenance } from '../../model/maintenance.ts';

type EventOf<E extends Event, K> = Extract<E, { readonly kind: K }>;
type KeysOf<T> = T extends unknown ? Exclude<keyof T, 'kind' | 'jobId'> & string : never;

/** Fields that are shown otherwise than they are recorded, by kind. */
type Views<E extends Event> = {
  readonly [K in E['kind']]?: (event: EventOf<E, K>) => object;
};

type ViewOf<V, K> = K extends keyof V
  ? V[K] extends (event: never) => infer R
    ? R
    : never
  : never;

/** The events of the kernel or a wing. The compiler compares public names with what there is. */
export interface EventsPart<E extends Event, V extends Views<E> = object> {
  readonly kinds: {
    readonly [K in E['kind']]: EventKind<KeysOf<EventOf<E, K>> | KeysOf<ViewOf<V, K>>>;
  };
  readonly views?: V;
  /** Which job it is about, where no field of the event says so by itself. */
  readonly jobIdOf?: (event: E) => JobId | null;
}

/** Those of any wing. */
export interface AnyEventsPart {
  readonly kinds: EventKinds;
  /** By kind. */
  readonly views?: object;
  readonly jobIdOf?: (event: never) => JobId | null;
}

const VIEWS = {
  job_submitted: ({ spec: { name, request, array } }) => ({ name, request, array }),
  job_changed: ({ spec }) => {
    const { name, request, array, walltimeMs, partition, nice } = spec;
    return { name, request, array, walltimeMs, partition, nice };
  },
  maintenance_planned: ({ maintenance }) => ({ maintenance: shownMaintenance(maintenance) }),
} satisfies Views<OwnEvent>;

const OWN: EventsPart<OwnEvent, typeof VIEWS> = { kinds: EVENT_KINDS, views: VIEWS };

/** Without its program. */
function shownMaintenance(one: Maintenance): Omit<Maintenance, 'program'> {
  return {
    id: one.id,
    nodes: one.nodes,
    from: one.from,
    until: one.until,
    running: one.running,
    warning: one.warning,
    ...(one.goal === undefined ? {} : { goal: one.goal }),
    reason: one.reason,
    createdBy: one.createdBy,
    createdAt: one.createdAt,
    phase: one.phase,
    cancelledBy: one.cancelledBy,
    works: one.works,
    ...(one.stops === undefined ? {} : { stops: one.stops }),
    ...(one.takenBack === undefined ? {} : { takenBack: one.takenBack }),
    endedAt: one.endedAt,
    detail: one.detail,
  };
}

/** Which events of a head go out, to whom, and as what. */
export class PublicEvents {
  readonly #parts = new Map<string, AnyEventsPart>();

  /** `wings`: theirs, besides those of the kernel. */
  constructor(wings: readonly AnyEventsPart[]) {
    for (const part of [OWN, ...wings]) {
      for (const kind of Object.keys(part.kinds)) this.#parts.set(kind, part);
    }
  }

  has(kind: string): boolean {
    return this.#parts.has(kind);
  }

  /** A kind of no list is for admins, who see that it happened. */
  audienceOf({ kind }: Event): EventAudience {
    return this.#parts.get(kind)?.kinds[kind]?.audience ?? 'admin';
  }

  /** Null when it is about no single job. */
  jobIdOf(event: Event): JobId | null {
    if ('place' in event) return event.place.jobId;
    if ('jobId' in event) return event.jobId;
    // `42[7]#2` begins with the job's id.
    if ('epochId' in event) return Number.parseInt(event.epochId, 10) as JobId;
    // The part of a kind takes the events of that kind.
    return this.#parts.get(event.kind)?.jobIdOf?.(believed(event)) ?? null;
  }

  /** What of an event goes out, with the number of the job that it is about. */
  show(event: Event): { readonly kind: string } {
    const { kind } = event;
    const part = this.#parts.get(kind);
    const views = part?.views as Readonly<Record<string, (event: Event) => object>> | undefined;
    const own = event as Readonly<Record<string, unknown>>;
    const view = views?.[kind]?.(event) as typeof own | undefined;
    const jobId = this.jobIdOf(event);
    const shown: { kind: string; [name: string]: unknown } = { kind };
    if (jobId !== null) shown['jobId'] = jobId;
    for (const name of part?.kinds[kind]?.fields ?? []) {
      const value = view !== undefined && name in view ? view[name] : own[name];
      if (value !== undefined) shown[name] = value;
    }
    return shown;
  }
}
