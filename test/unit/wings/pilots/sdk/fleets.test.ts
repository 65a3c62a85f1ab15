// Waiting for fleets: it ends, and says why when nothing comes of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WeftError } from '../../../../../src/kernel/sdk/errors.ts';
import {
  endFleets,
  type FleetSeen,
  type FleetWatch,
  haveFleet,
  orGiveBack,
  untilGone,
} from '../../../../../src/wings/pilots/sdk/fleets.ts';

/** Shows one listing after the other, and the last one for ever. */
class Watch implements FleetWatch {
  #at = 0;
  looks = 0;
  readonly #listings: readonly (readonly FleetSeen[] | null)[];

  constructor(...listings: readonly (readonly FleetSeen[] | null)[]) {
    this.#listings = listings;
  }
  list(): Promise<readonly FleetSeen[] | null> {
    this.looks += 1;
    assert.ok(this.looks < 1000, 'it comes to an end');
    const at = Math.min(this.looks, this.#listings.length) - 1;
    return Promise.resolve(this.#listings[at] ?? null);
  }
  now(): number {
    return this.#at;
  }
  rest(): Promise<void> {
    this.#at += 500;
    return Promise.resolve();
  }
}

function fleet(state: FleetSeen['state'], of: Partial<FleetSeen> = {}): FleetSeen {
  return { name: 'main', state, trouble: null, pilots: [], ...of };
}

const WISH = { name: 'main', limitMs: 10_000 };
const never = (): Promise<never> => Promise.reject(new Error('nothing is to be started'));

test('[Q5] fleets that go are waited for, and others are not', async () => {
  const other = fleet('active', { name: 'other' });
  const watch = new Watch([fleet('stopping'), other], [other]);
  await untilGone(watch, ['main'], 10_000);
  assert.equal(watch.looks, 2);
  await untilGone(new Watch(null), ['main'], 10_000);
});

test('[Q5] one that does not go ends the waiting, with what the batch system said', async () => {
  const pilots = [{ why: 'ann stopped fleet main; it is not ended yet: slurm is down' }];
  const watch = new Watch([fleet('stopping', { pilots })]);
  await assert.rejects(untilGone(watch, ['main'], 10_000), (error) => {
    assert.ok(error instanceof WeftError);
    assert.equal(error.code, 'allocation.not_released');
    assert.match(error.message, /not gone after 10 s: main: .*slurm is down/);
    return true;
  });
  assert.equal(watch.now(), 10_000);
  const troubled = new Watch([fleet('stopping', { trouble: 'no account' })]);
  await assert.rejects(untilGone(troubled, ['main'], 0), /main: no account/);
});

test('[Q5] a fleet that goes away before it is stopped is stopped; another refusal is thrown', async () => {
  const wish = { names: ['main', 'night'], limitMs: 10_000 };
  const stopped: string[][] = [];
  const stop = (names: readonly string[]) => Promise.resolve(void stopped.push([...names]));
  await endFleets(new Watch([]), { ...wish, names: [] }, stop);
  await endFleets(new Watch([fleet('stopping')], []), wish, stop);
  assert.deepEqual(stopped, [['main', 'night']]);
  const refused = new Error('night: No fleet night.');
  const refuse = () => Promise.reject(refused);
  // The other one is stopped all the same, and is waited for.
  const watch = new Watch([fleet('stopping')], [fleet('stopping')], []);
  await endFleets(watch, wish, refuse);
  assert.equal(watch.looks, 3);
  await assert.rejects(endFleets(new Watch([fleet('active')]), wish, refuse), refused);
  await assert.rejects(endFleets(new Watch(null), wish, refuse), refused);
});

test('[Q1] a fleet that is there is gone on with, and else one is started', async () => {
  await haveFleet(new Watch([fleet('active')]), WISH, never);
  const begun: string[] = [];
  await haveFleet(new Watch([]), WISH, () => Promise.resolve(begun.push('main')));
  assert.deepEqual(begun, ['main']);
});

test('[Q1] a fleet that is being stopped is waited for before another is started', async () => {
  const watch = new Watch([fleet('stopping')], [fleet('stopping')], []);
  const begunAt: number[] = [];
  await haveFleet(watch, WISH, () => Promise.resolve(begunAt.push(watch.looks)));
  assert.deepEqual(begunAt, [3]);
  const stuck = new Watch([fleet('stopping')]);
  await assert.rejects(haveFleet(stuck, WISH, never), { code: 'allocation.not_started' });
});

test('[Q1] a paused fleet is no cluster: its trouble is thrown', async () => {
  const watch = new Watch([fleet('paused', { trouble: 'invalid partition' })]);
  await assert.rejects(haveFleet(watch, WISH, never), (error) => {
    assert.ok(error instanceof WeftError);
    assert.equal(error.code, 'allocation.not_started');
    assert.match(error.message, /invalid partition/);
    return true;
  });
});

test('[Q1] a fleet that somebody starts at the same moment is taken', async () => {
  const watch = new Watch([], [fleet('active')]);
  const taken = (what: string) =>
    new WeftError({ code: 'allocation.not_started', kind: 'failed_precondition', message: what });
  const words = 'weft: There are pilots or nodes of the name main already.';
  await haveFleet(watch, WISH, () => Promise.reject(taken(words)));
  assert.equal(watch.looks, 2);
  const refused = taken('weft: No pilot was started: no such queue');
  await assert.rejects(
    haveFleet(new Watch([]), WISH, () => Promise.reject(refused)),
    refused,
  );
  // Nodes of that name that stay are not waited for without end.
  await assert.rejects(
    haveFleet(new Watch([]), WISH, () => Promise.reject(taken(words))),
    /of the name main already/,
  );
});

test('[Q5] pilots of which nobody gets hold are given back', async () => {
  const away = new Error('no head answers');
  let given = 0;
  const giveBack = (): Promise<void> => {
    given += 1;
    return Promise.resolve();
  };
  await assert.rejects(
    orGiveBack(() => Promise.reject(away), giveBack),
    away,
  );
  assert.equal(given, 1);
  assert.equal(await orGiveBack(() => Promise.resolve(7), giveBack), 7);
  assert.equal(given, 1);
  const down = (): Promise<void> => Promise.reject(new Error('slurm is down.'));
  await assert.rejects(
    orGiveBack(() => Promise.reject(away), down),
    { code: 'allocation.not_released', message: /slurm is down\. .*no head answers/ },
  );
});
