// Refusals about pilots; `errors.ts` has all others.

export const PILOT_CODES = {
  'pilot.not_found': { kind: 'not_found', text: 'There is no fleet of pilots {fleet}.' },
  'pilot.name_taken': {
    kind: 'already_exists',
    text: 'There are pilots or nodes of the name {fleet} already.',
  },
  'pilot.too_many': {
    kind: 'resource_exhausted',
    text: 'There are {count} fleets of pilots, which is as many as a head takes care of.',
  },
  'pilot.refused': { kind: 'failed_precondition', text: 'No pilot was started: {why}' },
  'pilot.no_address': {
    kind: 'failed_precondition',
    text: 'No pilot can join: this head listens on no port.',
  },
} as const;
