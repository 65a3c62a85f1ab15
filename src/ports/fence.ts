// The site's own means to make sure that a node is off: power switch, hypervisor, cloud.

export interface FenceAnswer {
  /** True is evidence: nothing runs on the node any more. */
  readonly off: boolean;
  /** What came of it, for the log. */
  readonly words: string;
}

export interface Fence {
  /** Takes bounded time and never rejects: what goes wrong is no evidence. */
  run(node: string): Promise<FenceAnswer>;
}
