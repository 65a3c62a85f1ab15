// A stand-in for a program that cannot start.

process.stderr.write('the store is locked by process 7\n');
process.exit(1);
