// What logins add to the web page.

import type { PagePart } from '../../../kernel/page/part.ts';
import { Answer } from './answer.tsx';

export const loginsPage: PagePart = {
  pages: [
    {
      path: 'login',
      title: 'A login',
      isApart: true,
      show: ([code]) => <Answer key={code} code={code ?? ''} />,
    },
  ],
};
