// A call as a client sends it, with nothing special in it.

import type { ClientCall } from '../../../../src/wings/calls/core/messages.ts';

export const PLAIN_CALL: Omit<ClientCall, 'call' | 'payload'> = {
  kind: 'call',
  asset: 1,
  retriesMax: 0,
  timeoutMs: 0,
  since: null,
  attempt: 0,
  shared: [],
};
