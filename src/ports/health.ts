// The site's own judgement of a node: a program that looks at what Weft knows nothing of.

export interface HealthAnswer {
  readonly isWell: boolean;
  /** What is wrong, on one line; empty while it is well. */
  readonly words: string;
}

export interface HealthCheck {
  /** Takes bounded time and never rejects: a check that cannot be made is no good news. */
  run(): Promise<HealthAnswer>;
}
