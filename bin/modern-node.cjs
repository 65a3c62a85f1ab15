// Finds a Node new enough for Weft, or has npm install one for Weft alone, and runs a script with it.
// Plain JavaScript that Node 18 can read, because it is what runs when the machine's own Node is too
// old. What jobs, workers and notifications find on PATH stays the machine's own Node.

// What is needed is loaded when it is needed: every command comes through here, and few go on.
const MAJOR_MIN = 24;
const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const VERSION = '24.21.0';
/** Of packages with that Node alone, by system and processor: what npm's registry is to send. */
const INTEGRITY = {
  'linux-x64':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'linux-arm64':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
};

/** True when the Node running this is new enough. */
function isModern() {
  return Number(process.versions.node.split('.')[0]) >= MAJOR_MIN;
}

/** Path of a Node >= 24: this one, or one of Weft's own, installed now if need be. Throws when none. */
function findNode() {
  return isModern() ? process.execPath : ownNode(folders());
}

/** Root's is the package's own, for all users of it; others' is in their cache, which npm leaves alone. */
function folders() {
  const path = require('node:path');
  const cache = cacheFolder();
  const own = cache === null ? [] : [path.join(cache, 'weft', 'node')];
  const shared = path.resolve(__dirname, '..', '.node');
  return process.getuid?.() === 0 ? [shared, ...own] : [...own, shared];
}

/**
 * The user's, of which programs are run. Null: HOME is not set and the uid has no account, or
 * another user may put programs there: HOME was kept by `su` or `sudo -E`, or it is a place of all.
 */
function cacheFolder() {
  const { XDG_CACHE_HOME, HOME } = process.env;
  const { join } = require('node:path');
  try {
    return ofOurs(XDG_CACHE_HOME || join(HOME || require('node:os').homedir(), '.cache'));
  } catch {
    return null;
  }
}

/**
 * The folder behind all links, for where a link leads can change; null where another user may put
 * something into it, of root's also where one may put another folder in its place.
 */
function ofOurs(folder) {
  const fs = require('node:fs');
  const path = require('node:path');
  let [there, missing] = [path.resolve(folder), ''];
  while (!fs.existsSync(there)) {
    missing = path.join(path.basename(there), missing);
    there = path.dirname(there);
  }
  const real = fs.realpathSync(there);
  const own = process.geteuid?.() ?? 0;
  const isSafe = (at) => {
    const { uid, mode } = fs.statSync(at);
    if (uid !== own) return false;
    // In a sticky folder what is there stays its owner's, but not what is still missing. Many have
    // a group of their own, that may write.
    if ((mode & 0o1000) !== 0 && at !== real) return true;
    return (mode & (own === 0 ? 0o022 : 0o002)) === 0;
  };
  for (let at = real; isSafe(at); at = path.dirname(at)) {
    if (own !== 0 || at === path.dirname(at)) return path.join(real, missing);
  }
  return null;
}

/** In the first of these folders that has it; else installed into the first that can be written. */
function ownNode(places) {
  const { existsSync } = require('node:fs');
  const known = places.map(programIn).find((file) => existsSync(file));
  if (known !== undefined) return known;
  try {
    return install(firstWritable(places));
  } catch (cause) {
    const text =
      `Weft needs Node ${MAJOR_MIN} or newer; this is ${process.version}, and installing one for Weft ` +
      `alone failed: ${cause.message}. Install Node ${MAJOR_MIN}, or let npm reach its registry.`;
    throw new Error(text, { cause });
  }
}

function firstWritable(places) {
  const { accessSync, constants, mkdirSync } = require('node:fs');
  const refused = [];
  for (const place of places) {
    try {
      mkdirSync(place, { recursive: true });
      accessSync(place, constants.W_OK);
      return place;
    } catch (error) {
      refused.push(error.message);
    }
  }
  throw new Error(refused.join('; '));
}

function packageName() {
  return `node-${process.platform}-${process.arch}`;
}

function programIn(place) {
  return require('node:path').join(place, VERSION, 'node_modules', packageName(), 'bin', 'node');
}

/** By npm, from the registry that it is set to, and only what has the integrity above. */
function install(place) {
  const { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } = require('node:fs');
  const { writeFileSync } = require('node:fs');
  const path = require('node:path');
  const integrity = INTEGRITY[`${process.platform}-${process.arch}`];
  if (integrity === undefined) {
    throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  }
  process.stderr.write(
    `Weft needs Node ${MAJOR_MIN}, and this is ${process.version}: installing one for Weft alone ` +
      `in ${place}, once (npm ci) ...\n`,
  );
  const fresh = mkdtempSync(path.join(place, 'new-'));
  try {
    const name = packageName();
    const root = { name: 'weft-node', version: VERSION, dependencies: { [name]: VERSION } };
    const packages = { '': root, [`node_modules/${name}`]: { version: VERSION, integrity } };
    const lock = { ...root, dependencies: undefined, lockfileVersion: 3, requires: true, packages };
    writeFileSync(path.join(fresh, 'package.json'), JSON.stringify({ ...root, private: true }));
    writeFileSync(path.join(fresh, 'package-lock.json'), JSON.stringify(lock));
    runNpm(['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], fresh);
    // Others are to run it, too.
    chmodSync(fresh, 0o755);
    // Somebody else may have been faster.
    if (!existsSync(programIn(place))) renameSync(fresh, path.join(place, VERSION));
    return programIn(place);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Runs npm, the one that runs this if one does; throws when it fails. Its words go to stderr. */
function runNpm(args, cwd) {
  const { spawnSync } = require('node:child_process');
  const npm = process.env.npm_execpath ?? '';
  // Another package manager sets it too.
  const known = require('node:path').basename(npm) === 'npm-cli.js';
  // Nobody here asked whether npm itself is new.
  const quiet = [...args, '--no-update-notifier'];
  const [command, rest] = known ? [process.execPath, [npm, ...quiet]] : ['npm', quiet];
  const done = spawnSync(command, rest, { cwd, stdio: ['ignore', 2, 2] });
  if (done.status === 0) return;
  const why = done.error?.message ?? `exit ${done.status ?? done.signal}`;
  throw new Error(`npm ${args[0]} failed: ${why}`);
}

/** Runs `node` with these arguments on this terminal, passes signals on, and ends as the child ended. */
function become(node, args, environment = process.env) {
  const { spawn } = require('node:child_process');
  const { constants } = require('node:os');
  const child = spawn(node, args, { stdio: 'inherit', env: environment });
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

exports.cacheFolder = cacheFolder;
exports.isModern = isModern;
exports.findNode = findNode;
exports.ownNode = ownNode;
exports.runNpm = runNpm;
exports.become = become;
