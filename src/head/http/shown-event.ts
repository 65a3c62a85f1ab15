// Events without secrets: hashes, environments and programs stay in the head.

import type { EventKindName } from '../../api/event-kinds.ts';
import type { Event } from '../../core/controller/declared.ts';
import { shownTarget } from '../../core/model/notification.ts';
import { jobIdOf } from './event-subject.ts';

/** What of an event goes out, with the number of the job that it is about. */
export function shownEvent(event: Event): { kind: EventKindName } {
  const jobId = jobIdOf(event);
  return jobId === null ? withoutSecrets(event) : { ...withoutSecrets(event), ...{ jobId } };
}

/** A kind that is not named here goes as it is. */
function withoutSecrets(event: Event): { kind: EventKindName } {
  switch (event.kind) {
    case 'job_submitted': {
      const { spec, environmentId: _, ...rest } = event;
      return { ...rest, ...{ name: spec.name, request: spec.request, array: spec.array } };
    }
    case 'job_changed': {
      const { spec, ...rest } = event;
      const { name, request, array, walltimeMs, partition, nice } = spec;
      return { ...rest, ...{ name, request, array, walltimeMs, partition, nice } };
    }
    case 'notification_due': {
      const { targets, ...rest } = event;
      return { ...rest, ...{ targets: targets.map(shownTarget) } };
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
