// Method and path of each route of the wing, for clients: no schema library is loaded for them.

import { addPaths } from '../../../kernel/api/paths.ts';
import type { StepView } from './step-view.ts';
import type { stepRoutes } from './steps.ts';

type Routes = typeof stepRoutes;

declare module '../../../kernel/api/routes.ts' {
  interface RouteTable extends Routes {}
}

declare module '../../../kernel/api/jobs.ts' {
  interface JobDetail {
    readonly steps?: readonly StepView[];
  }
}

addPaths({
  startStep: 'POST /v1/jobs/:id/steps',
  listSteps: 'GET /v1/jobs/:id/steps',
  listAllSteps: 'GET /v1/steps',
  claimCpus: 'POST /v1/jobs/:id/cpus',
  noteStep: 'POST /v1/jobs/:id/steps/noted',
  endStep: 'POST /v1/jobs/:id/steps/:step/end',
  signalStep: 'POST /v1/jobs/:id/steps/:step/signal',
  openStep: 'GET /v1/jobs/:id/steps/:step/:rank',
  serveStep: 'GET /v1/steps/:step/:rank',
} satisfies Readonly<Record<keyof Routes, string>>);
