// What sites add to the web page.

import type { PagePart } from '../../../kernel/page/part.ts';
import { Site } from './site.tsx';
import { Sites } from './sites.tsx';

export const sitesPage: PagePart = {
  pages: [
    {
      path: 'sites',
      title: 'Sites',
      show: ([name]) => (name === undefined ? <Sites /> : <Site key={name} name={name} />),
    },
  ],
};
