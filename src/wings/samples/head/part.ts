// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { sampleRoutes } from '../api/samples.ts';
import { WING } from '../model/wing-name.ts';
import { gpuMap } from './gpu-map.ts';
import { nodeSamples, usedByOwners } from './handlers.ts';
import type { IdleGpus } from './idle-gpus.ts';
import { measure } from './measure.ts';
import type { Samples } from './samples.ts';
import { settingsNotes } from './settings-notes.ts';

declare module '../../../kernel/head/http/services.ts' {
  interface Services {
    readonly samples: Samples;
    readonly idleGpus: IdleGpus;
  }
}

const handlers: HandlersOf<typeof sampleRoutes> = { nodeSamples, gpuMap, usedByOwners };

export function samplesHead(samples: Samples, idle: IdleGpus): HeadPart {
  return {
    handlers,
    begin: ({ engine, clock }) => ({
      tick: () => {
        samples.tick(engine.state);
        idle.tick(engine, clock.now());
      },
    }),
    openListeners: ({ agents, engine }) => {
      agents.hearWing(WING, (node, said) => {
        idle.hear(engine, node, samples.hear(engine.state, node, said));
      });
      return { services: { samples, idleGpus: idle } };
    },
    viewJob: (services, { id }, isOwner) => (isOwner ? { used: services.samples.jobUse(id) } : {}),
    measure,
    settingsNotes,
  };
}
