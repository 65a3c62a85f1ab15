// The present, for times that grow on the page: once a second, and only while it is seen.

import { signal } from '@preact/signals';

const BEAT_MS = 1000;

/** Ms since 1970, by the reader's clock. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now();
}, BEAT_MS);

document.addEventListener('visibilitychange', () => {
  now.value = Date.now();
});
