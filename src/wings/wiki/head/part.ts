// What the wing adds to a head.

import type { HandlersOf } from '../../../kernel/head/http/call.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { startRoutes } from '../api/start-job.ts';
import { startJob } from './start-job.ts';

const handlers: HandlersOf<typeof startRoutes> = { startJob };

export const head: HeadPart = { handlers };
