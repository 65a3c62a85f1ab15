// Starts a worker of a pool.

require('./start.cjs').run('bin/weft-worker');
