// The wing in the program of a head.

import type { HeadPart } from '../../../kernel/head/part.ts';
import type { HeadProgram } from '../../../kernel/wing.ts';
import { head } from '../head/part.ts';
import { openWiki } from './head-wiki.ts';

export function headOf({ options, log, audit, onServing, onEnd }: HeadProgram): HeadPart {
  onServing(async (running) => onEnd(await openWiki(options, running, { log, audit })));
  return head;
}
