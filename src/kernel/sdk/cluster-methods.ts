// How a wing adds methods to `Cluster`: it declares them on `ClusterMethods`, in a `declare
// module`, and says here what they do.

import { Cluster, type ClusterMethods, lineOf } from './cluster.ts';
import type { HeadConnection } from './line.ts';

/** What each method does: it gets the line of its cluster before what the program has given. */
type Methods<Name extends keyof ClusterMethods> = {
  readonly [N in Name]: ClusterMethods[N] extends (...given: infer Given) => infer Result
    ? (line: HeadConnection, ...given: Given) => Result
    : never;
};

/** Gives all clusters these methods. */
export function addMethods<Name extends keyof ClusterMethods>(methods: Methods<Name>): void {
  for (const [name, method] of Object.entries<(line: HeadConnection, ...given: never[]) => unknown>(
    methods,
  )) {
    Object.defineProperty(Cluster.prototype, name, {
      value(this: Cluster, ...given: never[]) {
        return method(lineOf(this) as HeadConnection, ...given);
      },
      writable: true,
      configurable: true,
    });
  }
}
