// The agents' path asked for without a WebSocket handshake.

import { err } from '../../../core/base/result.ts';
import { refuse } from '../../../core/model/errors.ts';
import type { Handler } from '../call.ts';

export const upgradeNeeded: Handler<'agent'> = () => {
  const what = 'this path speaks WebSocket only (RFC 6455)';
  return err(refuse('request.malformed', { what }));
};
