// Which processes end with a call, of calls that were given to their process at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CALL_VARIABLE,
  callMark,
} from '../../../../../../src/wings/calls/functions/child/stdio.ts';
import { StartedBy } from '../../../../../../src/wings/calls/functions/supervisor/started-by.ts';
import type { SeenProcess } from '../../../../../../src/wings/calls/ports/processes.ts';

const OWN = 10;

test('[C22] what has no mark of its call is that of the later one only when it began after the end of the other', (t) => {
  let now = 5_000;
  t.mock.method(performance, 'now', () => now);
  const running = new Map<number, SeenProcess & { readonly environment: string }>();
  const startedBy = new StartedBy(
    {
      list: () => [...running.values()],
      environmentOf: (pid) => running.get(pid)?.environment ?? null,
      ticksNow: () => Math.floor(now / 10),
      isStillThere: ({ pid }) => running.has(pid),
      send: (pid, signal) => (signal === 'SIGKILL' ? running.delete(pid) : running.has(pid)),
    },
    undefined,
  );
  const start = (pid: number, mark: string | null, parent = OWN) => {
    const environment = mark === null ? 'HOME=/\0' : `${CALL_VARIABLE}=${mark}\0`;
    running.set(pid, { pid, parent, startTicks: Math.floor(now / 10), environment });
  };
  startedBy.given(1);
  startedBy.given(2);
  now += 50;
  startedBy.starting(1);
  now += 1_000;
  start(11, startedBy.mark);
  start(12, null);
  start(13, callMark(startedBy.mark, 1));
  now += 3;
  startedBy.over(1);
  startedBy.starting(2);
  start(21, callMark(startedBy.mark, 2));
  now += 20;
  start(22, startedBy.mark);
  start(23, null);
  // A child of what the first has left.
  start(14, null, 12);
  startedBy.stop(OWN);
  startedBy.end();
  assert.deepEqual([...running.keys()], [11, 12, 13, 14]);
});
