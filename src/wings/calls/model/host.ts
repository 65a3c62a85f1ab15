// The header by which clients and workers of pools say on which host they are.

/** A hash: equal for those that can read each other's memory (`NearMemory.host`). */
export const HOST_HEADER = 'weft-host';
