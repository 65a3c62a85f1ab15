// The end of the head's certificate, in words.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificateWords } from '../../../../src/kernel/model/certificate-words.ts';

const END = Date.UTC(2036, 10, 25);
const DAY = 86_400_000;

test('[Y25] an end that is near is told, before and after it, and a far one is not', () => {
  assert.equal(certificateWords(END, END - 91 * DAY), null);
  assert.match(certificateWords(END, END - 89 * DAY) ?? '', /ends on 2036-11-25$/);
  assert.match(certificateWords(END, END + DAY) ?? '', /has ended on 2036-11-25$/);
  assert.equal(certificateWords(null, END), null);
  assert.equal(certificateWords(undefined, END), null);
});
