// The count of gpus that tasks hold. Gpus that are ill, or used outside of Weft, are not free
// either, and no task holds them.

interface Counted {
  readonly total: { readonly gpuCount: number };
  readonly free: { readonly gpuCount: number };
  readonly gpusUnusable?: number;
}

/** Gpus that are neither free nor unusable. */
export function gpusInUse({ total, free, gpusUnusable = 0 }: Counted): number {
  return total.gpuCount - free.gpuCount - gpusUnusable;
}
