// Refusals about steps; `errors.ts` has all others.

export const STEP_CODES = {
  'step.not_found': { kind: 'not_found', text: 'There is no step {step}.' },
  'step.lost': {
    kind: 'failed_precondition',
    text: 'Step {step} is over, and nobody knows how it ended: {why}.',
  },
  'step.too_many': {
    kind: 'resource_exhausted',
    text: 'Task {task} has {count} steps, which is as many as it may have at once.',
  },
  'step.not_running': {
    kind: 'failed_precondition',
    text: 'Task {task} is {state}; a step needs a task that runs.',
  },
  'step.not_here': { kind: 'failed_precondition', text: 'Task {task} takes no steps: {why}.' },
  'step.node_away': {
    kind: 'unavailable',
    text: 'Node {node} cannot be told of a step now.',
  },
} as const;
