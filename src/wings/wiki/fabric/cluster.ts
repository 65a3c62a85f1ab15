// What the wiki protocol asks of the cluster behind it.

import type { Result } from '../../../kernel/base/result.ts';
import type { WikiProblem } from './codes.ts';
import type { WikiRecord } from './reply.ts';
import type { WikiRequest } from './request.ts';

/** A request that changes something. */
export type WikiAction = Exclude<WikiRequest, { kind: 'get_nodes' | 'get_jobs' }>;

export interface WikiCluster {
  nodes(): Iterable<WikiRecord>;
  /** What matters most first: what a reply has no room for is left out. */
  jobs(): Iterable<WikiRecord>;
  /** In words what was done; null: the command came without a signature. */
  act(action: WikiAction, user: string | null): Promise<Result<string, WikiProblem>>;
}
