// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { stepRoutes } from '../api/steps.ts';
import { listSteps, startStep, stepsOf } from './handlers.ts';
import { Steps } from './steps.ts';
import { openStep, serveStep } from './upgrades.ts';

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly steps: Steps;
  }
}

const handlers: HandlersOf<typeof stepRoutes> = { startStep, listSteps };

export const head: HeadPart = {
  handlers,
  upgrades: { openStep, serveStep },
  viewJob({ steps }, record, isOwner) {
    const all = isOwner ? stepsOf(steps, { jobId: record.id, index: null }) : [];
    return all.length === 0 ? {} : { steps: all };
  },
  openListeners({ engine, clock, agents }) {
    const steps = new Steps({ agents, clock, engine });
    const unsubscribe = engine.onCommitted(({ events }) => steps.committed(events));
    return {
      services: { steps },
      close() {
        unsubscribe();
        steps.close();
      },
    };
  },
};
