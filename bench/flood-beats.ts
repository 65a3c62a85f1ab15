// A node that takes no work and says again and again that it is alive: how long the head's answers
// to its heartbeats take, which is how late they can be at most.

import type { NodeName } from '../src/kernel/model/ids.ts';
import { headDialer } from '../src/kernel/os/dialer.ts';
import { decodeHeadMessage, encode } from '../src/kernel/wire/codec.ts';
import { AGENT_FEATURES, PROTOCOL_VERSION } from '../src/kernel/wire/messages.ts';
import type { Call } from '../test/support/local-client.ts';
import { hello } from './support.ts';

const NAME = 'beats' as NodeName;
/** Nothing fits on it. */
const SMALL = { cpuCount: 1, memoryBytes: 1_048_576, gpuCount: 0, counted: {} };
const LOAD = { load1: 0, memoryFreeBytes: 0, diskFreeBytes: 0 };

/** Ends with how long each answer took, in ms. */
export async function beat(call: Call, socketPath: string, betweenMs: number) {
  const body = { name: NAME, resources: SMALL, labels: [], replace: true };
  const { secret } = await call<{ secret: string }>('POST', '/v1/nodes', body);
  const dialer = headDialer({
    head: { socketPath },
    name: NAME,
    secret,
    messageBytesMax: 64 * 1_048_576,
  });
  const session = await dialer.dial();
  const took: number[] = [];
  session.onMessage((bytes) => {
    const message = decodeHeadMessage(bytes);
    if (!message.ok) throw new Error(message.error);
    if (message.value.kind === 'heartbeat_ack') took.push(performance.now() - message.value.sentAt);
  });
  let isOver = false;
  session.onClose((why) => {
    if (!isOver) throw new Error(`the head hears no heartbeats: ${why}`);
  });
  const say = (message: object): void => session.send(encode(message));
  say({
    kind: 'hello',
    protocol: PROTOCOL_VERSION,
    dialedAt: performance.now(),
    hello: { ...hello(NAME, 1), resources: SMALL },
    features: AGENT_FEATURES,
  });
  const timer = setInterval(() => {
    say({ kind: 'heartbeat', sentAt: performance.now(), at: Date.now(), load: LOAD });
  }, betweenMs);
  return (): number[] => {
    clearInterval(timer);
    isOver = true;
    session.close('measured');
    return took;
  };
}
