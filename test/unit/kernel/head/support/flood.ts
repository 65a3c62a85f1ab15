// Somebody who opens many connections to a socket, asks without credentials on each and stays:
// `flood.ts SOCKET CONNECTIONS REQUESTS`. Says on standard error when all have been answered or
// closed.

import { connect } from 'node:net';

const [socketPath = '', connections = '0', requests = '0'] = process.argv.slice(2);
const text = 'GET /v1/whoami HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(Number(requests));
// A request that never ends: its connection has proven nobody and waits.
const begun = 'GET / HTTP/1.1\r\nhost: x\r\nx-half: ';
let open = Number(connections);

function over(): void {
  open -= 1;
  if (open === 0) process.stderr.write('all\n');
}

for (let at = 0; at < Number(connections); at += 1) {
  let answers = 0;
  let isOver = false;
  const end = (): void => {
    if (!isOver) over();
    isOver = true;
  };
  const socket = connect(socketPath, () => {
    socket.write(`${text}${begun}`);
    if (Number(requests) === 0) end();
  });
  socket.setEncoding('latin1').on('data', (piece: string) => {
    answers += piece.split('HTTP/1.1 ').length - 1;
    if (answers >= Number(requests)) end();
  });
  socket.on('error', end).on('close', end);
}
