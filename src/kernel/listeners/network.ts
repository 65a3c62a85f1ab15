// Addresses of peers: what of one belongs to one machine or one customer.

const IPV6_GROUPS = 8;
/** Groups of an IPv6 address: what one customer of a provider gets. */
const NETWORK_GROUPS = 4;

/** Without what a socket for both protocols, or a link-local address, has around it. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/, '').replace(/%.*$/, '');
}

const LOOPBACK = 'loopback';

/**
 * The address; of IPv6 the network, as one machine has billions of addresses in it. Those by which
 * a machine reaches itself are one: each of its users has all of them.
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  if (plain.startsWith('127.') || plain === '::1') return LOOPBACK;
  if (!address.includes(':') || address.includes('.')) return address;
  return `${groupsOf(address).slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The eight groups of an IPv6 address without dots. */
export function groupsOf(address: string): string[] {
  const [before = '', after] = address.split('::');
  const groups = before === '' ? [] : before.split(':');
  if (after === undefined) return groups;
  const rest = after === '' ? [] : after.split(':');
  while (groups.length + rest.length < IPV6_GROUPS) groups.push('0');
  return [...groups, ...rest];
}
