// A batch: jobs submitted together with their files and, where there is one, the solver that is
// prepared once per node. All that files of either kind say comes down to this.
/** `alice_wing/sweep_01`. */
export function batchTitle({ namespace, name }) {
  return `${namespace}/${name}`;
}
