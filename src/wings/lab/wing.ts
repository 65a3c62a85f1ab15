// The wing `lab` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';

export const lab: Wing = {
  name: 'lab',
  needs: [],
  cli: {
    completions: {
      options: {
        template: {
          offers: async () =>
            (await import('./cli/templates/templates.ts')).TEMPLATES.map(({ name, summary }) => [
              name,
              summary,
            ]),
        },
      },
    },
    templates: async () => (await import('./cli/templates/templates.ts')).TEMPLATES,
  },
};
