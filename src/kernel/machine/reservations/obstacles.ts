// Why something cannot be set aside, in words.

import { unreachable } from '../../base/assert.ts';
import { formatDuration } from '../../base/duration.ts';
import { formatInstant } from '../../base/instant.ts';
import { plural } from '../../base/plural.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { formatTaskId } from '../../model/ids.ts';
import { describeResources } from '../../model/request-words.ts';
import type { ReservationRequest } from '../../model/reservation.ts';
import { NO_RESOURCES } from '../../model/resources.ts';
import { couldHold } from '../../scheduler/answers/explain.ts';
import { describeNearest } from '../../scheduler/answers/nearest.ts';
import type { Obstacle } from '../../scheduler/room/reserve.ts';
import { viewOf } from '../nodes/view.ts';
import type { Step } from '../step.ts';

type ShareRequest = Pick<ReservationRequest, 'perNode' | 'nodeCount' | 'nodeNames' | 'labels'>;

/** What is in the way, as whoever asks reads it. */
export function refusalOf(
  { state }: Pick<Step, 'state'>,
  obstacle: Obstacle,
  part: ShareRequest,
): Refusal {
  switch (obstacle.kind) {
    case 'never': {
      const details = { request: describePart(part), able: String(obstacle.able) };
      return refuse('reservation.unsatisfiable', details, unableWords(state, part));
    }
    case 'reserved': {
      const { name, from, to } = obstacle.window;
      const times = { from: formatInstant(from), until: formatInstant(to) };
      const details = { other: name, node: obstacle.node, ...times };
      return refuse('reservation.conflict', details, 'Choose other nodes or another time.');
    }
    case 'busy': {
      const { task, until, node } = obstacle;
      const job = state.jobs.get(task.jobId);
      const index = job?.spec.array === null ? null : task.index;
      return refuse(
        'reservation.busy',
        {
          task: job === undefined ? 'of an unknown job' : formatTaskId(task.jobId, index),
          node,
          until: untilWords(until, job?.spec.walltimeMs ?? null),
        },
        'Choose a later time, or use --force: tasks that run then go on.',
      );
    }
    case 'no_slot': {
      const { earliest, durationMs, until } = obstacle;
      return refuse('reservation.no_slot', {
        request: describePart(part),
        duration: formatDuration(durationMs),
        until: formatInstant(until),
        earliest:
          earliest === null
            ? 'tasks without a time limit are in the way'
            : `the earliest one starts at ${formatInstant(earliest)}`,
      });
    }
    default:
      return unreachable(obstacle);
  }
}

/** Words for a task's end. Of those with a time limit only stopped ones have none that is known. */
function untilWords(until: number | null, walltimeMs: number | null): string {
  if (until !== null) return `until ${formatInstant(until)}`;
  if (walltimeMs === null) return 'for ever: it has no time limit';
  return 'at any time: it was preempted, and no gap is as long as the time that it still needs';
}

/** What comes nearest, or that drained nodes are not looked at. */
function unableWords({ nodes }: Step['state'], part: ShareRequest): string {
  const { nodeNames, labels, perNode } = part;
  const seen = [...nodes.values()].filter((node) => node.total.cpuCount > 0);
  const drained = nodeNames.length > 0 ? [] : seen.filter((node) => node.drain !== null);
  if (drained.length > 0) {
    const names = drained.map(({ name }) => name).join(', ');
    return `Drained nodes are used only when named: ${names}.`;
  }
  const asked = { nodeNames, labels, perNode: perNode === 'whole' ? NO_RESOURCES : perNode };
  const outlines = seen.map(viewOf);
  const able = outlines.filter((node) => couldHold(node, asked)).length;
  return `${describeNearest(outlines, able, asked)}.`;
}

function describePart({ perNode, nodeCount, nodeNames, labels }: ShareRequest): string {
  const count = plural(nodeCount, 'node');
  const names = nodeNames.length > 0 ? ` of ${nodeNames.join(', ')}` : '';
  const labelled = labels.length > 0 ? ` labelled ${labels.join(', ')}` : '';
  const share = perNode === 'whole' ? ' as a whole' : ` with ${describeResources(perNode)}`;
  return `${count}${names}${labelled}${share}`;
}
