// Who may ask: signatures, stamps, and requests without either.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWikiEnvelope } from '../../../../../src/wings/wiki/fabric/envelope.ts';

const TRUST = { key: 42, unsigned: false, nowS: 1_000_000_100 };
const SIGNED = 'CK=4b30d6b8ea5615d1 TS=1000000000 AUTH=maui DT=CMD=GETNODES ARG=0:ALL';

function codeOf(text: string, trust: Parameters<typeof openWikiEnvelope>[1]) {
  const opened = openWikiEnvelope(text, trust);
  return opened.ok ? 0 : opened.error.code;
}

test('what was signed with the key is opened', () => {
  const value = { user: 'maui', client: null, data: 'CMD=GETNODES ARG=0:ALL' };
  assert.deepEqual(openWikiEnvelope(SIGNED, TRUST), { ok: true, value });
});

test('one changed character, another key, and no key are wrong checksums', () => {
  assert.equal(codeOf(SIGNED.replace('NODES', 'NODEX'), TRUST), -422);
  assert.equal(codeOf(SIGNED, { ...TRUST, key: 43 }), -422);
  assert.equal(codeOf(SIGNED, { ...TRUST, key: null }), -422);
});

test('a stamp may differ by five minutes, either way', () => {
  for (const [nowS, code] of [
    [1_000_000_300, 0],
    [1_000_000_301, -350],
    [999_999_700, 0],
    [999_999_699, -350],
  ] as const) {
    assert.equal(codeOf(SIGNED, { ...TRUST, nowS }), code, String(nowS));
  }
});

test('unsigned requests are taken only where that is set', () => {
  assert.equal(codeOf('CMD=GETNODES ARG=0:ALL', TRUST), -422);
  const opened = openWikiEnvelope('CMD=GETNODES ARG=0:ALL', { ...TRUST, unsigned: true });
  const value = { user: null, client: null, data: 'CMD=GETNODES ARG=0:ALL' };
  assert.deepEqual(opened, { ok: true, value });
});

test('what is neither signed nor a command is malformed', () => {
  for (const wrong of ['', 'hello', 'CK=12 TS=1 AUTH=x DT=CMD=X', `${SIGNED.slice(0, 30)}`]) {
    assert.equal(codeOf(wrong, TRUST), -300, wrong);
  }
});
