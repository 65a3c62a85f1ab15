// What the owner of a machine says of standing aside, over what the configuration says.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settingsOver } from '../../../../../src/wings/owner/bin/agent.ts';
import type { OwnerRules } from '../../../../../src/wings/owner/model/owner-file.ts';

const PLACE = { path: '/none', resumeAfterMs: 60_000, vacateAfterMs: null };
const PRESENCE = { look: () => [], close: () => undefined };
const CONFIGURED = {
  idleBelowMs: 300_000,
  sessions: true,
  loadAbove: null,
  gpus: true,
  hours: null,
  resumeAfterMs: 5000,
  vacateAfterMs: 9000,
};

function rules(own: OwnerRules['yield']): OwnerRules {
  return { users: null, cpuCount: 0, gpuCount: 0, yield: own };
}

test('[O10] what the owner says of standing aside goes before the configuration, the rest stays', () => {
  const over = settingsOver(PLACE, CONFIGURED, PRESENCE);
  const found = over(rules({ sessions: false, hours: '08:00-18:00' }))?.rules;
  assert.deepEqual(
    [found?.sessions, found?.idleBelowMs, found?.gpus, found?.resumeAfterMs, found?.vacateAfterMs],
    [false, 300_000, true, 5000, 9000],
  );
  assert.notEqual(found?.hours, null);
});

test('[O10] without a word of either the node stands aside for nobody', () => {
  assert.equal(settingsOver(PLACE, undefined, PRESENCE)(rules({})), null);
  const only = settingsOver(PLACE, undefined, PRESENCE)(rules({ loadAbove: 0.5 }))?.rules;
  assert.deepEqual([only?.loadAbove, only?.sessions, only?.resumeAfterMs], [0.5, false, 60_000]);
});

test('[O10] the same rules give the same settings, which nothing begins anew for', () => {
  const over = settingsOver(PLACE, CONFIGURED, PRESENCE);
  const same = rules({ sessions: false });
  assert.equal(over(same), over(same));
  assert.notEqual(over(same), over(rules({ sessions: false })));
});
