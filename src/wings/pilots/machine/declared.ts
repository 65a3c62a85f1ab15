// What the machine's tables of types get from this wing.

import type { Declares } from '../../../kernel/machine/declared.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { PilotCommand } from './commands.ts';
import type { PilotEvent } from './events.ts';
import type { PilotsFacts } from './facts.ts';

declare module '../../../kernel/machine/declared.ts' {
  interface Declared {
    readonly pilots: Declares<PilotCommand, PilotEvent, PilotsFacts>;
  }
}

declare module '../../../kernel/machine/scratch.ts' {
  interface Scratch {
    /** Since when each of these pilots has had no work, and there was none for it. */
    readonly idlePilots: Map<NodeName, number>;
  }
}
