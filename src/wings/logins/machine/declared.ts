// What the machine's tables of types get from this wing.

import type { Declares } from '../../../kernel/machine/declared.ts';
import type { TrustCommand, TrustEvent, TrustFacts } from './trust.ts';

declare module '../../../kernel/machine/declared.ts' {
  interface Declared {
    readonly trustedNodes: Declares<TrustCommand, TrustEvent, TrustFacts>;
  }
}
