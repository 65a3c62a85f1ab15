// The wing `steps` as the kernel sees it.

import type { Wing } from '../../kernel/wing.ts';
import './api/paths.ts';

export const steps: Wing = {
  name: 'steps',
  needs: ['sites'],
  cli: {
    verbs: [
      {
        group: 'Jobs:',
        name: 'exec',
        after: 'logs',
        summary: 'run a program inside of a running task',
        load: () => import('./cli/exec-verb.ts'),
      },
      {
        group: 'Jobs:',
        name: 'shell',
        after: 'exec',
        summary: 'a shell inside of a running task',
        load: () => import('./cli/shell-verb.ts'),
      },
      {
        group: 'Jobs:',
        name: 'attach',
        after: 'shell',
        summary: 'follow the output of a job to its end',
        load: () => import('./cli/attach-verb.ts'),
      },
      {
        group: 'Jobs:',
        name: 'alloc',
        after: 'attach',
        summary: 'hold nodes while a command runs here',
        load: () => import('./cli/alloc-verb.ts'),
      },
    ],
    ofJob: async () => ({ below: (await import('./cli/step-lines.ts')).stepLines }),
    endStep: async (context, step, signal) =>
      (await import('./cli/end-step.ts')).endStep(context, step, signal),
    runAtTerminal: async (context, submission) =>
      (await import('./cli/terminal-run.ts')).runAtTerminal(context, submission),
  },
  api: async () => (await import('./api/part.ts')).api,
  head: async (program) => (await import('./bin/head.ts')).headOf(program),
  agent: async () => (await import('./bin/agent.ts')).stepsOnNode,
};
