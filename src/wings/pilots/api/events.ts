// Events of fleets of pilots as the stream shows them.

import { type EventKinds, shownTo } from '../../../kernel/api/event-kinds.ts';

export const pilotEvents = {
  fleet_started: shownTo(
    'admin',
    'Pilots were asked for: nodes that a batch system hosts.',
    'fleet min max idleMs',
  ),
  fleet_scaled: shownTo(
    'admin',
    'A fleet of pilots may have another number of them, and tries again.',
    'fleet min max idleMs by',
  ),
  fleet_stopped: shownTo('admin', 'The pilots of a fleet are to end.', 'fleet by'),
  fleet_paused: shownTo(
    'admin',
    'A fleet starts no more pilots, as its batch system kept failing.',
    'fleet why',
  ),
  fleet_removed: shownTo(
    'admin',
    'All pilots of a fleet are gone, and no more are wanted.',
    'fleet',
  ),
  pilots_asked: shownTo(
    'admin',
    'Pilots are to be submitted to their batch system.',
    'fleet launch count',
  ),
  pilots_submitted: shownTo(
    'admin',
    'The batch system has taken them, as this job of its own.',
    'fleet launch site',
  ),
  pilots_refused: shownTo('admin', 'The batch system has not taken them.', 'fleet launch why'),
  pilot_seen: shownTo(
    'admin',
    'A pilot waits or runs there, until when it says.',
    'fleet launch index isRunning endsAt',
  ),
  pilot_up: shownTo('admin', 'The node of a pilot gets work from now on.', 'fleet launch index'),
  pilot_leaving: shownTo('admin', 'A pilot is to end.', 'fleet launch index why'),
  pilot_gone: shownTo(
    'admin',
    'A pilot has ended, and its node with it.',
    'fleet launch index why failed',
  ),
} as const satisfies EventKinds;
