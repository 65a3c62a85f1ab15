// What a gateway says of its site, as a head decides it: all of a look, part by part.

import { partsOf, type SiteLook } from '../../src/wings/sites/machine/look.ts';
import type { TestHead } from './controller.ts';

export function hearSite(head: TestHead, look: SiteLook): void {
  for (const part of partsOf(look)) head.perform({ kind: 'site', part });
}
