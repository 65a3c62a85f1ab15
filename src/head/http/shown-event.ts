// Events without secrets: hashes, environments and programs stay in the head.

import type { Event } from '../../core/controller/events.ts';

/** What of an event goes out; a kind that is not named here goes as it is. */
export function shownEvent(event: Event): { kind: string } {
  switch (event.kind) {
    case 'job_submitted': {
      const { spec, environmentId: _, ...rest } = event;
      return { ...rest, ...{ name: spec.name, request: spec.request, array: spec.array } };
    }
    case 'environment_added':
      return { kind: event.kind };
    case 'node_enrolled': {
      const { secretHash: _, ...rest } = event;
      return rest;
    }
    case 'maintenance_planned': {
      const { program: _, ...rest } = event.maintenance;
      return { ...event, ...{ maintenance: rest } };
    }
    case 'token_created': {
      const { hash: _, ...rest } = event;
      return rest;
    }
    default:
      return event;
  }
}
