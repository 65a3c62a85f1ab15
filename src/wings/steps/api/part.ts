// What the wing adds to the API.

import { z } from 'zod';
import type { ApiPart } from '../../../kernel/api/part.ts';
import { stepView } from './step-view.ts';
import { stepRoutes } from './steps.ts';

export const api: ApiPart = {
  routes: stepRoutes,
  jobFields: {
    /**
     * Owner only: programs inside of its tasks, as far as the head knows them since it started;
     * missing: none.
     */
    steps: z.array(stepView).exactOptional(),
  },
  tags: { steps: { description: 'Programs inside of running tasks.', words: ['steps'] } },
};
