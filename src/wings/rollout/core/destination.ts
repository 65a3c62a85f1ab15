// Machines that are to be nodes, as people name them: what `ssh` takes, and the name as a node.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { parseNodeName } from '../../../kernel/model/ids.ts';

export interface Destination {
  /** What `ssh` is given: `ann@lab3`, `lab3`, `ssh://ann@lab3:2222`, an alias of its configuration. */
  readonly ssh: string;
  /** Null: the machine's own name. */
  readonly name: string | null;
}

/** No blank, no control character; a leading dash would be an option of ssh. */
const SSH = /^[A-Za-z0-9_[\]][A-Za-z0-9._@:[\]/%-]{0,300}$/;

export function parseDestination(
  text: string,
  name: string | null = null,
): Result<Destination, string> {
  if (!SSH.test(text)) {
    return err(`'${text}' is no destination of ssh; write host, user@host or ssh://user@host:port`);
  }
  if (name === null) return ok({ ssh: text, name });
  const read = parseNodeName(name);
  return read.ok ? ok({ ssh: text, name: read.value }) : err(read.error);
}

/** A file of hosts: a destination in each line, the node's name behind it if it is another. */
export function parseHosts(text: string): Result<Destination[], { line: number; what: string }> {
  const found: Destination[] = [];
  for (const [index, whole] of text.split('\n').entries()) {
    const [destination, name, ...rest] = whole.replace(/#.*/, '').trim().split(/\s+/);
    if (destination === undefined || destination === '') continue;
    const line = index + 1;
    if (rest.length > 0)
      return err({ line, what: `expected HOST [NAME], and there is '${rest[0]}'` });
    const read = parseDestination(destination, name ?? null);
    if (!read.ok) return err({ line, what: read.error });
    if (found.some(({ ssh }) => ssh === destination)) {
      return err({ line, what: `'${destination}' is there twice` });
    }
    found.push(read.value);
  }
  return ok(found);
}
