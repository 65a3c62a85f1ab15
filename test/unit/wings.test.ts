// What each wing gives, held against what it has: no event of a wing is missing in its lists.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HEAD_MACHINE } from '../../sim/head-machine.ts';
import { openWings } from '../../src/bin/head-wings.ts';
import { eventKindsOf } from '../../src/kernel/api/event-kinds.ts';
import { PublicEvents } from '../../src/kernel/head/http/public-events.ts';
import type { HeadProgram } from '../../src/kernel/wing.ts';
import { APIS } from '../support/wings.ts';
import { KeptLog } from './kernel/head/http/fixture.ts';

const NO_NOTIFIERS = { matrix: null, webhook: null, commands: {}, mail: null, timeoutMs: 1000 };
const RECORDED = Object.keys(HEAD_MACHINE.events).sort();

test('[D18] every kind of event that the head records is in the list of kinds, and no other', () => {
  assert.deepEqual(Object.keys(eventKindsOf(APIS)).sort(), RECORDED);
});

test('[D18] a head shows every kind of event of that list', async (t) => {
  // A wing may make folders of its own in it.
  const directory = mkdtempSync(join(tmpdir(), 'weft-wings-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const options = {
    directory,
    clusterName: 'test',
    notify: NO_NOTIFIERS,
  } as unknown as HeadProgram['options'];
  const log = new KeptLog();
  const { parts } = await openWings({ options, log, audit: log });
  const shown = new PublicEvents(parts.flatMap(({ events }) => events ?? []));
  assert.deepEqual(
    RECORDED.filter((kind) => !shown.has(kind)),
    [],
  );
});
