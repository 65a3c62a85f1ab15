// What the machine's tables of types get from this wing.

import type { Declares } from '../../../kernel/machine/declared.ts';
import type { NoticeCommand, NoticeEvent, NoticeFacts } from './notice.ts';

declare module '../../../kernel/machine/declared.ts' {
  interface Declared {
    readonly notices: Declares<NoticeCommand, NoticeEvent, NoticeFacts>;
  }
}
