// The wing in the program of a head.

import { readFileSync } from 'node:fs';
import type { HeadOptions } from '../../../kernel/config/daemon-options.ts';
import { Accounts } from '../../../kernel/head/auth/accounts.ts';
import type { Head } from '../../../kernel/head/head.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { PeerUids } from '../../../kernel/listeners/peer-uid.ts';
import { systemClock } from '../../../kernel/os/clock.ts';
import { systemCommands } from '../../../kernel/os/commands.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import type { WikiListenerSettings } from '../config/wiki-options.ts';
import { WikiAnswers } from '../fabric/answer.ts';
import { parseWikiKey } from '../fabric/checksum.ts';
import { admissionBy } from '../head/admission.ts';
import { head } from '../head/part.ts';
import type { SocketPlace } from '../head/private-socket.ts';
import { isRunByWiki, wikiCluster } from '../head/wiki-cluster.ts';
import { sendWikiNotices } from '../head/wiki-notices.ts';
import { openWikiListener, type WikiPort } from '../head/wiki-server.ts';

export function headOf({ options, log, audit, onServing, onEnd }: HeadProgram): HeadPart {
  onServing(async (running) => onEnd(await openWiki(options, running, { log, audit })));
  return head;
}

/** A directory service that does not answer must not hang the start. */
const GETENT_TIMEOUT_MS = 5000;

/** Opens it if it is set up; the returned function closes it. Rejects with words. */
async function openWiki(
  { wiki }: HeadOptions,
  { engine, agents }: Head,
  { log, audit }: { readonly log: Log; readonly audit: Log },
): Promise<() => Promise<void>> {
  if (wiki === undefined) return () => Promise.resolve();
  const { keyFile, unsigned, partitions, rules, events, eventsEveryMs } = wiki;
  const world = {
    engine,
    partitions,
    rules,
    audit,
    load: (name: Parameters<typeof agents.load>[0]) => agents.load(name),
  };
  const now = (): number => engine.now();
  const key = keyFile === null ? null : readKey(keyFile);
  const answers = new WikiAnswers({ cluster: wikiCluster(world), key, unsigned, now });
  const door = await openWikiListener({ at: await placeOf(wiki, now), answers, log });
  const endNotices =
    events === null
      ? () => undefined
      : sendWikiNotices({
          engine,
          clock: systemClock,
          log,
          to: events,
          everyMs: eventsEveryMs,
          isMine: (partition) => isRunByWiki(world, partition),
        });
  return () => {
    endNotices();
    return door.close();
  };
}

async function placeOf(
  { listen, group }: WikiListenerSettings,
  now: () => number,
): Promise<SocketPlace | WikiPort> {
  const gid = group === null ? null : await gidOf(group);
  if ('path' in listen) return { path: listen.path, gid };
  const accounts = new Accounts();
  const isUser = async (uid: number): Promise<boolean> => {
    if (uid === 0 || uid === process.getuid?.()) return true;
    const name = group === null ? null : await accounts.nameOf(uid, now());
    return name !== null && (await accounts.groupsOf(name, now())).includes(group ?? '');
  };
  const admission = admissionBy({ allow: listen.allow, isUser, peers: new PeerUids() });
  return { ...listen, admission };
}

async function gidOf(group: string): Promise<number> {
  const { succeeded, output } = await systemCommands.run({
    argv: ['getent', 'group', '--', group],
    timeoutMs: GETENT_TIMEOUT_MS,
    keep: { part: 'first', length: 65_536 },
    apart: true,
  });
  const gid = output.split(':')[2];
  if (succeeded && gid !== undefined) return Number(gid);
  throw new Error(`wiki.group: this machine has no group '${group}'`);
}

function readKey(file: string): number {
  const key = parseWikiKey(readFileSync(file, 'utf8'));
  if (key !== null) return key;
  throw new Error(
    `wiki.key_file: ${file} holds no key; expected one number up to 4294967295, as 42 or 0x2a`,
  );
}
