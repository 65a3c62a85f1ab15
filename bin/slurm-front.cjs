// Starts a program that speaks Slurm: its name comes first, and what follows is its own, word for word.

const [name = '', ...words] = process.argv.splice(2);
process.argv.push(...words);
module.exports = require('./start.cjs').start(name, `${name}.cjs`);
