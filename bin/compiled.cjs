// Loads a program of dist/ with what was compiled of it before. Node's own cache keeps a file as it
// was just after it was read, when none of its functions was compiled; this one keeps the functions
// that a command uses, which is most of what a short command does.

const fs = require('node:fs');
const { createRequire } = require('node:module');
const path = require('node:path');
const vm = require('node:vm');
const { cacheFolder } = require('./modern-node.cjs');

/** What the build writes at the beginning of a program: a mark of all that follows. */
const MARK = /^\/\* ([0-9a-f]{16}) \*\//;
/**
 * Runs of one command from whose ends the cache is written: one that failed has not used much of
 * it, and options bring functions of their own.
 */
const RUNS_KEPT = 4;
/** Files of one command that are kept: those of other releases, and of other versions of Node. */
const FILES_KEPT = 3;
/** Files that nobody has written for so long go: of commands that are typed they are made anew. */
const KEPT_MS = 30 * 86_400_000;

/**
 * The exports of the program in this file, which has no `import()`; `command`: by what it is used.
 */
exports.load = (file, command) => {
  const folder = cacheFolder();
  // Options of Node change what is compiled, or look at who loads what.
  const isPlain = process.execArgv.length === 0 && !process.env.NODE_OPTIONS;
  if (folder === null || !isPlain || !fs.existsSync(file)) return require(file);
  // The build sees to it that a program is ASCII: each sign then takes one byte here, too.
  const text = fs.readFileSync(file, 'latin1');
  const [, mark] = MARK.exec(text) ?? [];
  if (mark === undefined) return require(file);
  const name = `${path.basename(file, '.cjs')}-${command}-`;
  const cache = path.join(folder, 'weft', 'functions', `${name}${mark}-${process.version}`);
  const script = compile(file, text, { cache, name });
  const module = { exports: {} };
  const others = createRequire(file);
  const own = (id) =>
    id.endsWith('.cjs') ? exports.load(path.resolve(path.dirname(file), id), command) : others(id);
  script.runInThisContext().call(exports, module.exports, own, module, file, path.dirname(file));
  return module.exports;
};

function compile(file, text, { cache, name }) {
  const { runs, data } = readCache(cache);
  const words = 'exports, require, module, __filename, __dirname';
  const script = new vm.Script(`(function (${words}) {${text}\n})`, {
    filename: file,
    cachedData: data,
  });
  const past = script.cachedDataRejected === false ? runs : 0;
  if (past < RUNS_KEPT) {
    process.on('exit', () => {
      keep(cache, name, () => [script.createCachedData(), Buffer.of(past + 1)]);
    });
  }
  return script;
}

/** The last byte says how many runs have added to it. */
function readCache(cache) {
  try {
    const bytes = fs.readFileSync(cache);
    return { runs: bytes.at(-1) ?? 0, data: bytes.subarray(0, -1) };
  } catch {
    return { runs: 0, data: undefined }; // None yet, or none that can be read: all is compiled.
  }
}

/** Whole or not at all: many run the same command at once, and some die. */
function keep(cache, name, makeParts) {
  const folder = path.dirname(cache);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.accessSync(folder, fs.constants.W_OK);
    const fresh = `${cache}.${process.pid}`;
    try {
      write(fresh, makeParts());
      fs.renameSync(fresh, cache);
    } finally {
      fs.rmSync(fresh, { force: true });
    }
    dropOld(folder, name);
  } catch {
    // Without a cache all runs as well, only slower.
  }
}

function write(file, parts) {
  const to = fs.openSync(file, 'wx', 0o600);
  try {
    for (const part of parts) fs.writeSync(to, part);
    fs.fsyncSync(to);
  } finally {
    fs.closeSync(to);
  }
}

function dropOld(folder, name) {
  const files = fs.readdirSync(folder).map((one) => {
    const file = path.join(folder, one);
    return { file, isOfName: one.startsWith(name), writtenAt: fs.statSync(file).mtimeMs };
  });
  const own = files.filter(({ isOfName }) => isOfName).sort((a, b) => b.writtenAt - a.writtenAt);
  const aged = files.filter(({ writtenAt }) => Date.now() - writtenAt > KEPT_MS);
  for (const { file } of [...own.slice(FILES_KEPT), ...aged]) fs.rmSync(file, { force: true });
}
