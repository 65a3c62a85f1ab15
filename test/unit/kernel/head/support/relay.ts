// What somebody puts into a directory of their own to be taken for who uses it: passes all bytes on
// to the head, and tells on its standard output what it saw.

import { connect, createServer } from 'node:net';

const [listenOn = '', head = ''] = process.argv.slice(2);

createServer((victim) => {
  const onward = connect(head);
  victim.on('data', (piece) => process.stdout.write(piece));
  onward.on('data', (piece) => process.stdout.write(piece));
  victim.pipe(onward).pipe(victim);
  victim.on('error', () => onward.destroy());
  onward.on('error', () => victim.destroy());
}).listen(listenOn, () => process.stderr.write('listening\n'));
