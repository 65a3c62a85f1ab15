// The documents as pages: for everybody who reaches the head, as they hold nothing of a cluster.

import { z } from 'zod';
import { PUBLIC, type RouteShape } from '../../../kernel/api/route-shape.ts';

/** Empty: `/docs/` was asked for. */
const file = z.string().regex(/^([A-Za-z0-9_-]{1,80}\.(html|css|js|json|svg|png))?$/, {
  error: 'expected a page, as install.html',
});
const folder = z.string().regex(/^[a-z0-9-]{1,40}$/, { error: 'expected a folder, as commands' });

export const manualRoutes = {
  manual: {
    summary: 'The first page of the documents.',
    access: PUBLIC,
    produces: 'html',
  },
  manualFile: {
    summary: 'A page of the documents, or what pages need.',
    access: PUBLIC,
    params: z.strictObject({ file }),
    produces: 'bytes',
  },
  manualFileIn: {
    summary: 'The same in a folder: of commands, pictures and the like.',
    access: PUBLIC,
    params: z.strictObject({ folder, file }),
    produces: 'bytes',
  },
} as const satisfies Readonly<Record<string, RouteShape>>;
