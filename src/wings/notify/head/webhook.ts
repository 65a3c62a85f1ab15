// Notifications by webhook: a signed POST to a host of the site's choice, into no network that the
// site has not opened.

import { createHmac } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { type Attempt, hostOf } from '../../../kernel/model/notification.ts';
import { httpCall } from './http-call.ts';
import type { Message } from './message.ts';
import { readSecret } from './secret.ts';

export interface WebhookOptions {
  /** Private networks that are open, as `10.1.0.0/16`. */
  readonly networks: readonly string[];
  readonly secretFile: string;
}

export async function tellWebhook(
  { networks, secretFile, timeoutMs }: WebhookOptions & { readonly timeoutMs: number },
  to: string,
  { id, data }: Message,
): Promise<Attempt> {
  const url = new URL(to);
  // What the rules allowed is what is called: `0x7f.1` was no address when they looked at it.
  if (url.hostname !== hostOf({ kind: 'webhook', to })) {
    return { kind: 'failed', why: 'the host is written in a form that is not allowed' };
  }
  const opened = listOf(networks);
  const isSecure = url.protocol === 'https:';
  const secret = await readSecret(secretFile);
  const { status, retryAfterMs } = await httpCall({
    method: 'POST',
    url,
    body: data,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'weft',
      'weft-delivery': id,
      'weft-signature': `sha256=${createHmac('sha256', secret).update(data).digest('hex')}`,
    },
    timeoutMs,
    mayReach: (address) => isIn(opened, address) || (isSecure && isPublic(address)),
  });
  if (status >= 200 && status < 300) return { kind: 'told' };
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : '';
  const later = retryAfterMs === undefined ? {} : { afterMs: retryAfterMs };
  return { kind: 'failed', why: `the webhook answered with status ${status}${redirect}`, ...later };
}

/** Networks of IPv4 that are not the public internet (IANA special-purpose registry). */
const SPECIAL_V4 = listOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
  ...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
]);
/** The only part of IPv6 that is given out, and what leads elsewhere: Teredo, examples, 6to4. */
const GLOBAL_V6 = listOf(['2000::/3']);
const SPECIAL_V6 = listOf(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);

/** Exported for its test: a mistake here opens the site's own network. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !isIn(SPECIAL_V4, address);
  return isIn(GLOBAL_V6, address) && !isIn(SPECIAL_V6, address);
}

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}
