/** Commands of `weft` that commands of Slurm run in their place. */
export const LINES = [
  ...(['hold', 'release', 'requeue', 'suspend', 'resume'] as const),
  ...(['wait', 'attach', 'change', 'node', 'reserve'] as const),
] as const;
