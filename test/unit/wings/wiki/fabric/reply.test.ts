// Replies of the wiki protocol, with what trips Maui's reader.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  formatWikiDone,
  formatWikiProblem,
  formatWikiRecord,
  formatWikiRecords,
} from '../../../../../src/wings/wiki/fabric/reply.ts';

test('the state stands first, and a semicolon behind every field', () => {
  const record = {
    id: 'n1',
    state: 'Idle',
    fields: [
      ['CPROC', 2],
      ['FEATURE', ['fast', 'gpu']],
      ['CCLASS', { counts: { batch: 2, long: 1 } }],
    ] as const,
  };
  assert.equal(
    formatWikiRecords([formatWikiRecord(record)]),
    'SC=0 ARG=1#n1:STATE=Idle;CPROC=2;FEATURE=fast:gpu;CCLASS=[batch:2][long:1];',
  );
  assert.equal(formatWikiRecords([]), 'SC=0 ARG=0#');
});

test('what separates is escaped, and nothing of a value ends or begins a reply', () => {
  const fields = [
    ['NAME', 'a;b#c:d\\e'],
    ['COMMENT', 'SC=-1 ARG=9#\nSTATE=Running'],
  ] as const;
  const text = formatWikiRecords([formatWikiRecord({ id: '7', state: 'Idle', fields })]);
  assert.equal(
    text,
    'SC=0 ARG=1#7:STATE=Idle;NAME=a\\;b\\#c\\:d\\\\e;COMMENT=SC_-1 ARG_9\\# STATE_Running;',
  );
  // As Maui finds them: by the first occurrence.
  assert.equal(text.indexOf('SC='), text.lastIndexOf('SC='));
  assert.equal(text.indexOf('ARG='), text.lastIndexOf('ARG='));
});

test('words of a problem stay on one line', () => {
  assert.equal(formatWikiProblem({ code: -700, text: 'no\nSC=0' }), 'SC=-700 RESPONSE=no SC_0');
  assert.equal(formatWikiDone('job 7 starts'), 'SC=0 RESPONSE=job 7 starts');
});
