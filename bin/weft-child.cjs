// Starts the process in which a worker of a pool runs functions.

require('./start.cjs').run('wings/calls/functions/child/main');
