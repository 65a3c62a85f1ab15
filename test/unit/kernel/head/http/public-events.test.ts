// What of an event goes out: the fields that are public by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_KINDS, shownTo } from '../../../../../src/kernel/api/event-kinds.ts';
import {
  type AnyEventsPart,
  PublicEvents,
} from '../../../../../src/kernel/head/http/public-events.ts';
import type { Event } from '../../../../../src/kernel/machine/declared.ts';
import type { JobId } from '../../../../../src/kernel/model/ids.ts';

const events = new PublicEvents([]);
const shownEvent = (event: Event) => events.show(event);

test('[D18] a field that nobody has named as public stays in the head', () => {
  const event = { kind: 'node_removed', node: 'n1', by: 'root', password: 'hush' } as const;
  assert.deepEqual(shownEvent(event as unknown as Event), {
    kind: 'node_removed',
    node: 'n1',
    by: 'root',
  });
});

test('[D18] programs, environments, hashes and the secrets of targets do not go out', () => {
  const hushed = (event: object): string => JSON.stringify(shownEvent(event as Event));
  const spec = { name: 'a', request: {}, array: null, program: 'hush', environment: 'hush' };
  const submitted = { kind: 'job_submitted', jobId: 3, owner: 'bob', environmentId: 9, spec };
  assert.deepEqual(JSON.parse(hushed(submitted)), {
    kind: 'job_submitted',
    jobId: 3,
    owner: 'bob',
    name: 'a',
    request: {},
    array: null,
  });
  for (const event of [
    { kind: 'job_changed', jobId: 3, by: 'bob', spec },
    { kind: 'environment_added', environmentId: 9, variables: { PASSWORD: 'hush' } },
    { kind: 'node_enrolled', node: 'n1', resources: {}, labels: [], secretHash: 'hush' },
    { kind: 'token_created', tokenId: 't', user: 'bob', by: 'root', hash: 'hush' },
    { kind: 'maintenance_planned', maintenance: { id: 'm1', program: 'hush' }, by: 'root' },
  ]) {
    assert.doesNotMatch(hushed(event), /hush|environmentId/);
    assert.match(hushed(event), new RegExp(`^{"kind":"${event.kind}"`));
  }
});

test('what is absent in an event is absent outside', () => {
  assert.deepEqual(shownEvent({ kind: 'head_started' } as Event), { kind: 'head_started' });
  assert.deepEqual(EVENT_KINDS.head_started.fields, ['life']);
});

test('[D18] an event of no list shows that it happened, to admins', () => {
  const event = { kind: 'unheard_of', password: 'hush' } as unknown as Event;
  assert.deepEqual(events.show(event), { kind: 'unheard_of' });
  assert.equal(events.audienceOf(event), 'admin');
  assert.equal(events.has('unheard_of'), false);
});

test('[D18] the list of a wing says what of its events goes out, and about which job', () => {
  const part: AnyEventsPart = {
    kinds: { tea_made: shownTo('job', 'Tea.', 'cups by') },
    views: { tea_made: ({ by }: { by: string }) => ({ by: by.slice(0, 1) }) },
    jobIdOf: ({ pot }: { pot: number }) => pot as JobId,
  };
  const withTea = new PublicEvents([part]);
  const event = { kind: 'tea_made', cups: 2, by: 'bob', pot: 7, sugar: 1 } as unknown as Event;
  assert.deepEqual(withTea.show(event), { kind: 'tea_made', jobId: 7, cups: 2, by: 'b' });
  assert.equal(withTea.audienceOf(event), 'job');
});
