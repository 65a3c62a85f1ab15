// Labels by which the program keeps its own accounts: people read of the matter elsewhere, in
// words.

/** A node that could not build the solver of a batch has it, and the jobs of the batch shun it. */
const BUILD_FAILED = /^!?build-failed=/;

/** Those that say something to people. */
export function labelsForPeople(labels: readonly string[]): string[] {
  return labels.filter((label) => !BUILD_FAILED.test(label));
}
