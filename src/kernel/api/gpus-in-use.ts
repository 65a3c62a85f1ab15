// What of gpus tasks have: those that may be given to none, as others use them, are not theirs.

interface Counted {
  readonly total: { readonly gpuCount: number };
  readonly free: { readonly gpuCount: number };
  readonly gpusUnusable?: number;
}

/** Gpus that tasks have: neither free, nor such as nobody may be given. */
export function gpusInUse({ total, free, gpusUnusable = 0 }: Counted): number {
  return total.gpuCount - free.gpuCount - gpusUnusable;
}
