// What every program in this folder does: hand over to a Node that is new enough, keep compiled
// code between runs, and load the program from the sources or, in a package, from dist/. Required
// and not imported, as all that it loads: with imports Node.js reads every name that a module has.

const { existsSync, readFileSync } = require('node:fs');
const path = require('node:path');
const { become, cacheFolder, findNode, isModern } = require('./modern-node.cjs');

const root = path.resolve(__dirname, '..');
const ALL = 'programs.cjs';
const QUICK = 'quick.cjs';
const TESTS_BUILT = 'NODE_TESTS_BUILT_WEFT';

/**
 * Runs the program of this name; loading its module is what starts it. `bundle`: the file of a
 * package that it is in.
 */
exports.start = (name, bundle = ALL) => {
  if (!isModern()) return handOver(path.join(root, 'bin', `${name}.mjs`));
  // Only a checkout has src/; there dist/ may be older than the sources.
  const source = path.join(root, 'src', 'bin', 'programs.ts');
  if (existsSync(source) && !isTestedAsBuilt()) {
    keepCompiled();
    return startSource(source, name);
  }
  return startBuilt(name, bundle);
};

/**
 * The whole run of the tests starts programs by thousands, has just built them, and says in which
 * checkout: a package's start takes half the time. Another checkout that a test makes has its own
 * programs. What the commands submit runs from the sources.
 */
function isTestedAsBuilt() {
  if (process.env[TESTS_BUILT] !== root) return false;
  delete process.env[TESTS_BUILT];
  return true;
}

async function startSource(source, name) {
  const { PROGRAMS } = await import(require('node:url').pathToFileURL(source).href);
  return PROGRAMS[name]();
}

/**
 * Runs a module by its place below src/, or dist/. What was compiled is kept at once: those who run
 * functions of users mostly end by a signal.
 */
exports.run = async (place) => {
  // The Node of an image that a pool's workers have may be any.
  if (!isModern()) return handOver(process.argv[1]);
  keepCompiled();
  const source = path.join(root, 'src', `${place}.ts`);
  const file = existsSync(source) ? source : path.join(root, 'dist', `${place}.js`);
  await import(require('node:url').pathToFileURL(file).href);
  setImmediate(require('node:module').flushCompileCache);
};

/** In the user's own cache: what somebody else has put there is never run. */
function keepCompiled() {
  const folder = cacheFolder();
  if (folder === null) return;
  require('node:module').enableCompileCache(path.join(folder, 'weft', 'compiled'));
}

function startBuilt(name, bundle) {
  const { load } = require('./compiled.cjs');
  if (bundle !== ALL) return load(builtFile(bundle), name).PROGRAMS[name]();
  const [, , word] = process.argv;
  if (name === 'weft' && quickWords().includes(word)) return load(builtFile(QUICK), word).weft();
  keepCompiled();
  return require(builtFile(bundle)).PROGRAMS[name]();
}

/** Words of the quick commands, in a file of their own: loading the commands takes 20 ms of CPU. */
const quickWords = () => JSON.parse(readFileSync(builtFile('quick.json'), 'utf8'));

const builtFile = (name) => path.join(root, 'dist', 'bin', name);

function handOver(file) {
  try {
    become(findNode(), [file, ...process.argv.slice(2)]);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 125;
  }
}
