// The head's door for schedulers that speak the Maui wiki protocol.

import { readFileSync } from 'node:fs';
import { WikiAnswers } from '../fabric/wiki/answer.ts';
import { parseWikiKey } from '../fabric/wiki/checksum.ts';
import { isRunByWiki, wikiCluster } from '../head/door/wiki-cluster.ts';
import { sendWikiNotices } from '../head/door/wiki-notices.ts';
import { openWikiDoor } from '../head/door/wiki-server.ts';
import type { Head } from '../head/head.ts';
import { systemClock } from '../os/clock.ts';
import type { Log } from '../ports/log.ts';
import type { HeadOptions } from './head-options.ts';

/** Opens it if it is set up; the returned function closes it. Rejects with words. */
export async function openWiki(
  { wiki }: HeadOptions,
  { engine, agents }: Head,
  { log, audit }: { readonly log: Log; readonly audit: Log },
): Promise<() => Promise<void>> {
  if (wiki === undefined) return () => Promise.resolve();
  const { listen, keyFile, unsigned, partitions, rules, events, eventsEveryMs } = wiki;
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
  const door = await openWikiDoor({ ...listen, answers, log });
  const endNotices =
    events === null
      ? () => undefined
      : sendWikiNotices({
          ...{ engine, clock: systemClock, log, to: events, everyMs: eventsEveryMs },
          isMine: (partition) => isRunByWiki(world, partition),
        });
  return () => {
    endNotices();
    return door.close();
  };
}

function readKey(file: string): number {
  const key = parseWikiKey(readFileSync(file, 'utf8'));
  if (key !== null) return key;
  throw new Error(
    `wiki.key_file: ${file} holds no key; expected one number up to 4294967295, as 42 or 0x2a`,
  );
}
