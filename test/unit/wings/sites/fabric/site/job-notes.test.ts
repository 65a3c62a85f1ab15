// Why a job of a site's user is held by us is written at the job, only when it changes, and no
// longer than it is so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { err, ok, type Result } from '../../../../../../src/kernel/base/result.ts';
import type { SiteJob } from '../../../../../../src/kernel/model/site.ts';
import type { NotePlace } from '../../../../../../src/wings/sites/adaptors/adaptor.ts';
import { JobNotes } from '../../../../../../src/wings/sites/fabric/site/job-notes.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';

type Noted = Parameters<JobNotes['look']>[0][number];

const held = (id: string, reason: string, note?: string | null): Noted => ({
  id,
  state: 'held',
  reason,
  isHeldByUs: true,
  ...(note === undefined ? {} : { note }),
});
const free = (id: string, state: SiteJob['state'], note?: string | null): Noted => ({
  id,
  state,
  reason: null,
  ...(note === undefined ? {} : { note }),
});

class Place {
  readonly ran: string[] = [];
  readonly log = new KeptLog();
  readonly notes: JobNotes;
  answer: Result<null, { kind: 'away' | 'refused' | 'no_such_job'; text: string }> = ok(null);
  /** How often it was asked what a gateway before this one has written. */
  asked = 0;
  isSilent = false;
  /** @param written by a gateway before this one; absent: listings have it */
  constructor(written?: ReadonlyMap<string, string>) {
    const place: NotePlace = {
      write: (job, words) => [{ argv: ['note', job, words ?? ''] }],
      ...(written === undefined
        ? {}
        : { written: { command: { argv: ['notes'] }, read: () => ok(written) } }),
    };
    this.notes = new JobNotes({
      place,
      log: this.log,
      run: async (commands) => {
        this.ran.push(...commands.map(({ argv }) => argv.slice(1).join(' ')));
        return this.answer;
      },
      ask: async (query) => {
        this.asked += 1;
        const silence = { kind: 'away', text: 'no answer in time' } as const;
        return this.isSilent ? err(silence) : query.read({ stdout: '', stderr: '', code: 0 });
      },
    });
  }

  async look(now: number, ...jobs: Noted[]): Promise<string[]> {
    await this.notes.look(jobs, now);
    return this.ran.splice(0);
  }
}

test('[G20] a reason is written once, anew when it is another, and taken away when it is over', async () => {
  const place = new Place(new Map([['9', 'of long ago']]));
  assert.deepEqual(await place.look(0, held('7', 'no room'), free('8', 'waiting')), ['7 no room']);
  assert.deepEqual(await place.look(1, held('7', 'no room')), []);
  assert.deepEqual(await place.look(2, held('7', 'a licence')), ['7 a licence']);
  assert.deepEqual(await place.look(3, free('7', 'waiting')), ['7 ']);
  assert.deepEqual(await place.look(4, free('7', 'running')), []);
  const before = new Place(new Map([['9', 'of long ago']]));
  assert.deepEqual(await before.look(0, free('9', 'running')), ['9 ']);
});

test("[G20] where listings have them they count, and others' words stay", async () => {
  const place = new Place();
  const jobs = [held('1', 'why', 'why'), held('2', 'why', null), free('3', 'running', 'why')];
  assert.deepEqual(await place.look(0, ...jobs, free('4', 'ended', 'why')), ['3 ']);
  assert.deepEqual(await place.look(1, held('1', 'why')), ['1 why']);
});

test('[G20] words are one line of ASCII that is no longer than others read', async () => {
  const place = new Place();
  const [line = ''] = await place.look(0, held('1', `a\nb\u{1f600}${'c'.repeat(400)}`));
  assert.match(line, /^1 a\?b\?c{196}$/);
});

test('[G20] what a site refuses is asked of it again much later, and logged', async () => {
  const place = new Place();
  place.answer = { ok: false, error: { kind: 'refused', text: 'Access denied' } };
  assert.deepEqual(await place.look(0, held('1', 'why'), held('2', 'why')), ['1 why', '2 why']);
  assert.deepEqual(await place.look(299_999, held('1', 'why')), []);
  assert.deepEqual(await place.look(300_000, held('1', 'why')), ['1 why']);
  assert.ok(place.log.lines.every(({ level }) => level === 'info'));
  place.answer = { ok: false, error: { kind: 'away', text: 'no answer' } };
  const later = await place.look(900_000, held('3', 'why'), held('4', 'why'));
  assert.deepEqual(later, ['3 why']);
});

test('[G20] at one look a few of many are written, the next at the next', async () => {
  const place = new Place(new Map());
  const jobs = Array.from({ length: 15 }, (_, at) => held(String(at), 'why'));
  assert.equal((await place.look(0, ...jobs)).length, 10);
  assert.equal((await place.look(1, ...jobs)).length, 5);
  assert.equal((await place.look(2, ...jobs)).length, 0);
});

test('[G20] what nobody says of a gateway before this one keeps no job from its words', async () => {
  const place = new Place(new Map([['9', 'of long ago']]));
  place.isSilent = true;
  assert.deepEqual(await place.look(0, held('1', 'why'), free('9', 'waiting')), ['1 why']);
  place.isSilent = false;
  assert.deepEqual(await place.look(299_999, held('1', 'why'), free('9', 'waiting')), []);
  const later = await place.look(300_000, held('1', 'why'), free('9', 'waiting'));
  assert.deepEqual([later, place.asked], [['9 '], 2]);
});
