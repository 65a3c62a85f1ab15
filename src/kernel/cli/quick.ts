// The commands of `weft` that are typed all day: a package has them in a file of their own, because
// the time to load a file grows with what else is in it.

export const QUICK: ReadonlySet<string> = new Set([
  ...[
    'run',
    'submit',
    'wait',
    'logs',
    'cancel',
    'kill',
    'hold',
    'release',
    'suspend',
    'resume',
    'requeue',
  ],
  ...['change', 'retry', 'info', 'jobs', 'job', 'status', 'why', 'history', 'node'],
]);
