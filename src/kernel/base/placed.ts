// Where things of wings stand in a list of the kernel: each names a neighbour there.

/** Neither, or one that is not there: behind all. */
export interface Placed {
  readonly name: string;
  readonly after?: string;
  readonly before?: string;
}

/** The kernel's own in their order, those of wings in their places; neighbours keep their order. */
export function withPlaced<T extends { readonly name: string }>(
  own: readonly T[],
  more: readonly (T & Placed)[],
): T[] {
  const names = new Set(own.map(({ name }) => name));
  const isLast = ({ before, after }: Placed) => !names.has(before ?? after ?? '');
  return [
    ...own.flatMap((one) => [
      ...more.filter(({ before }) => before === one.name),
      one,
      ...more.filter(({ after, before }) => before === undefined && after === one.name),
    ]),
    ...more.filter(isLast),
  ];
}
