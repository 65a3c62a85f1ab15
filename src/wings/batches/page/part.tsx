// What batches add to the web page.

import type { PagePart } from '../../../kernel/page/part.ts';
import { Batch } from './batch.tsx';
import { Batches } from './batches.tsx';

export const batchesPage: PagePart = {
  pages: [
    {
      path: 'batches',
      title: 'Batches',
      show: ([namespace, name]) =>
        namespace === undefined || name === undefined ? (
          <Batches />
        ) : (
          <Batch key={`${namespace}/${name}`} namespace={namespace} name={name} />
        ),
    },
  ],
};
