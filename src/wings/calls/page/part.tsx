// What calls add to the web page.

import type { PagePart } from '../../../kernel/page/part.ts';
import { Pools } from './pools.tsx';

export const callsPage: PagePart = {
  pages: [{ path: 'pools', title: 'Pools', show: () => <Pools /> }],
};
