// What the page keeps in the browser: whatever stands there, the page opens, and what somebody
// typed is shown to nobody else.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  forgetMe,
  hasEnded,
  keepKey,
  keepMe,
  lastMe,
  me,
  onStored,
  pageKey,
  TYPED,
} from '../../../../src/kernel/page/data/session.ts';
import { EMPTY_FORM } from '../../../../src/kernel/page/pure/job-form.ts';
import { readForm, readKey, readMe, writeForm } from '../../../../src/kernel/page/pure/kept.ts';

const BROKEN = [
  '',
  'null',
  '{',
  '[]',
  '7',
  '"x"',
  '{"name":5}',
  '{"name":"a","role":"king"}',
  '\u0000',
];

test('[D9] what is broken in the storage is as if it were not there', () => {
  for (const text of BROKEN) {
    assert.equal(readMe(text), null, text);
    assert.deepEqual(readForm(text, 'alice'), EMPTY_FORM, text);
  }
  assert.deepEqual(readMe('{"name":"a","role":"admin","more":1}'), { name: 'a', role: 'admin' });
  for (const text of ['', 'a\nb', 'a b', 'ä', 'x'.repeat(201)])
    assert.equal(readKey(text), null, text);
  assert.equal(readKey('aZ_-9'), 'aZ_-9');
});

test('[D9] a typed form is shown to who typed it, field by field', () => {
  const form = { ...EMPTY_FORM, command: 'hostname', cpus: '4' };
  assert.deepEqual(readForm(writeForm(form, 'alice'), 'alice'), form);
  assert.deepEqual(readForm(writeForm(form, 'alice'), 'bob'), EMPTY_FORM);
  const odd = JSON.stringify({ of: 'alice', form: { ...form, cpus: 4, memory: {}, more: 'x' } });
  assert.deepEqual(readForm(odd, 'alice'), { ...form, cpus: EMPTY_FORM.cpus });
});

const forbidden = {
  get(): never {
    throw new DOMException('The operation is insecure.', 'SecurityError');
  },
  configurable: true,
};

afterEach(() => {
  Reflect.deleteProperty(globalThis, 'localStorage');
  Reflect.deleteProperty(globalThis, 'sessionStorage');
});

test('[D9] in a browser that keeps nothing the page remembers as long as it is open', () => {
  Object.defineProperty(globalThis, 'localStorage', forbidden);
  assert.deepEqual([pageKey(), lastMe()], [null, null]);
  keepKey('key');
  keepMe({ name: 'alice', role: 'user' });
  assert.deepEqual([pageKey(), lastMe()?.name, me.value?.name], ['key', 'alice', 'alice']);
  keepKey(null);
  assert.deepEqual([pageKey(), lastMe()], [null, null]);
});

test('[D9] who logs out in another tab is gone in this one, with what they typed', () => {
  const texts = new Map<string, string>();
  const storage = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, text: string) => void texts.set(name, text),
    removeItem: (name: string) => void texts.delete(name),
  };
  for (const name of ['localStorage', 'sessionStorage']) {
    Object.defineProperty(globalThis, name, { value: storage, configurable: true });
  }
  keepMe({ name: 'alice', role: 'user' });
  texts.set(TYPED, writeForm({ ...EMPTY_FORM, command: 'secret' }, 'alice'));
  onStored('weft.me', null);
  assert.equal(me.value?.name, 'alice', 'not by whatever changes');
  onStored('weft.page-key', null);
  assert.deepEqual([me.value, texts.has(TYPED)], [null, false]);
});

test('[D9] whose session the head refuses hears that it has ended, who logs out does not', () => {
  const known = { name: 'alice', role: 'user' } as const;
  forgetMe('refused');
  assert.equal(hasEnded.value, false, 'there was none');
  keepKey('aZ9');
  keepMe(known);
  forgetMe('refused');
  forgetMe('refused');
  assert.deepEqual([hasEnded.value, me.value, pageKey()], [true, null, null]);
  keepMe(known);
  assert.equal(hasEnded.value, false, 'logged in again');
  keepKey('aZ9');
  forgetMe('logged_out');
  assert.equal(hasEnded.value, false);
});
