// Refusals about logins from elsewhere; `errors.ts` has all others.

export const LOGIN_CODES = {
  'login.not_found': {
    kind: 'not_found',
    text: 'No login waits with the code {code}: it is over, was answered, or was never asked for.',
  },
  'login.too_many': {
    kind: 'resource_exhausted',
    text: 'Too many logins wait {where}.',
  },
} as const;
