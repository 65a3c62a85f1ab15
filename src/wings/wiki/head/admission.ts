// Who may connect to a listener by TCP: from this machine by the uid that the kernel tells, from
// others by their address. What a connection then says of itself is another matter.

import { BlockList, isIPv6 } from 'node:net';
import { plainAddress } from '../../../kernel/listeners/network.ts';
import {
  isOwnAddress,
  type PeerUids,
  type SocketEnds,
} from '../../../kernel/listeners/peer-uid.ts';

export interface AdmissionRules {
  /** Addresses and networks of other machines. */
  readonly allow: readonly string[];
  /** Whether a user of this machine may. */
  readonly isUser: (uid: number) => Promise<boolean>;
  readonly peers: Pick<PeerUids, 'of'>;
}

/** Why not, in words; null: it may. */
export type Admission = (ends: SocketEnds) => Promise<string | null>;

export function admissionBy({ allow, isUser, peers }: AdmissionRules): Admission {
  const networks = new BlockList();
  for (const text of allow) {
    const [address = '', bits] = text.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  return async (ends) => {
    const address = plainAddress(ends.remoteAddress ?? '');
    if (!isOwnAddress(address)) {
      const family = isIPv6(address) ? 'ipv6' : 'ipv4';
      return networks.check(address, family) ? null : `${address} is not in wiki.allow`;
    }
    // Before the list: an address of this machine would let in each of its users.
    const uid = await peers.of(ends);
    if (uid === null) return 'the kernel does not tell whose process this is';
    const words = `uid ${uid} may not use this listener; the members of wiki.group may`;
    return (await isUser(uid)) ? null : words;
  };
}
