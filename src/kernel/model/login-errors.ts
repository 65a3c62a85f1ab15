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
  'login.not_vouched': {
    kind: 'permission_denied',
    text: 'Node {node} does not vouch for {user}: {why}.',
  },
  'node.not_trusted': {
    kind: 'failed_precondition',
    text: 'Node {node} cannot be trusted with logins: {why}.',
  },
} as const;
