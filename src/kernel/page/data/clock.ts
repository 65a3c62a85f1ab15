// The present, for times that grow on the page: once a second, and only while it is seen.

import { signal } from '@preact/signals';
import { headNow } from '../../api/head-time.ts';

const BEAT_MS = 1000;

/** Ms since 1970, by the head's clock: the reader's may be another. */
export const now = signal(headNow());

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = headNow();
}, BEAT_MS);

document.addEventListener('visibilitychange', () => {
  now.value = headNow();
});
