// Refusals about steps; `errors.ts` has all others.

export const STEP_CODES = {
  'step.not_found': { kind: 'not_found', text: 'There is no step {step}.' },
  'step.lost': {
    kind: 'failed_precondition',
    text: 'Step {step} is over without an exit code: {why}.',
  },
  'step.over': {
    kind: 'failed_precondition',
    text: 'Step {step} has ended with {exit}, and its stream is no longer kept.',
  },
  'step.ended': { kind: 'failed_precondition', text: 'Step {step} is over: {exit}.' },
  'step.too_many': {
    kind: 'resource_exhausted',
    text: 'Task {task} has {what}.',
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
