// The workload: GET /N is answered with N bytes. Runs in a pod, as `node --eval` of the operator's image.
import { createServer } from 'node:http';

const PORT = 8080;
const LARGEST = 16_000_000;
/** Clients drop a pod that ends within half a second; until then it answers, as a preStop hook would have it: ms. */
const DRAIN = 3_000;
const body = Buffer.alloc(LARGEST, 'x');

const server = createServer(({ url }, response) => {
  const size = Number(url.slice(1));
  const isSize = Number.isInteger(size) && size >= 0 && size <= LARGEST;
  response.statusCode = isSize ? 200 : 404;
  response.end(isSize ? body.subarray(0, size) : '');
});
// A connection is closed by its client alone: it may send a request while the server closes it.
server.keepAliveTimeout = 600_000;
server.listen(PORT);
process.on('SIGTERM', () => setTimeout(() => process.exit(0), DRAIN));
