// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { stepRoutes } from '../api/steps.ts';
import { STEPS_SHOWN_MAX } from '../core/limits.ts';
import type { StepShelf } from '../ports/shelf.ts';
import { claimCpus, listAllSteps, listSteps, signalStep, startStep } from './handlers.ts';
import { endStep, noteStep } from './noted.ts';
import { Steps } from './steps.ts';
import { openStep, serveStep } from './upgrades.ts';

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly steps: Steps;
  }
}

const handlers: HandlersOf<typeof stepRoutes> = {
  startStep,
  claimCpus,
  noteStep,
  endStep,
  listSteps,
  listAllSteps,
  signalStep,
};

export function stepsHead(shelf: StepShelf, log: Log): HeadPart {
  return {
    handlers,
    upgrades: { openStep, serveStep },
    viewJob({ steps: { book, past } }, { id: jobId }, isOwner) {
      const wanted = { jobId, index: undefined };
      const all = isOwner ? past.ofJob(book, wanted, STEPS_SHOWN_MAX) : [];
      return all.length === 0 ? {} : { steps: all };
    },
    openListeners({ engine, clock, agents }) {
      const steps = new Steps({ agents, clock, engine, shelf, log });
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
}
