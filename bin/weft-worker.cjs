// Starts a worker of a pool.

require('./start.cjs').run('wings/calls/bin/weft-worker');
