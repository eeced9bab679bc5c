import { once } from 'node:events';
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

/** A request to a server of AWS. */
export interface AwsRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A server in front of one that answers as AWS. */
export interface AwsProxy {
  readonly url: string;
  /** All requests so far. */
  readonly asked: readonly AwsRequest[];
  /** Answers from now on with this error of AWS, or forwards. @param error its name, and its message for each request */
  fail(error: { name: string; message: (asked: AwsRequest) => string } | undefined): void;
  stop(): void;
}

/** Starts it. @param target the URL of the server behind it */
export async function startAwsProxy(target: string): Promise<AwsProxy> {
  const asked: AwsRequest[] = [];
  let error: Parameters<AwsProxy['fail']>[0];
  const server = createServer((incoming, answer) => {
    answer.on('error', () => undefined);
    // A client may leave in the middle, and the server behind it may stop: the client then sees that the connection ends.
    requestOf(incoming)
      .then(async (one) => {
        asked.push(one);
        if (error === undefined) await forward(target, one, answer);
        else refuse(error.name, error.message(one), one, answer);
      })
      .catch(() => answer.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    fail: (next) => {
      error = next;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function requestOf(incoming: IncomingMessage): Promise<AwsRequest> {
  const { method = '', url = '', headers } = incoming;
  return { method, path: url, headers, body: await text(incoming) };
}

async function forward(
  target: string,
  { method, path, headers, body }: AwsRequest,
  answer: ServerResponse,
): Promise<void> {
  const call = request(new URL(path, target), { method, headers }).end(body);
  const [got] = (await once(call, 'response')) as [IncomingMessage];
  call.on('error', () => answer.destroy());
  answer.writeHead(got.statusCode ?? 500, got.headers);
  await pipeline(got, answer);
}

/** DynamoDB answers in JSON, Route 53 in XML. */
function refuse(name: string, message: string, { headers }: AwsRequest, answer: ServerResponse): void {
  const isDynamo = headers['x-amz-target'] !== undefined;
  const json = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message });
  const xml = `<ErrorResponse><Error><Type>Sender</Type><Code>${name}</Code><Message>${message}</Message></Error></ErrorResponse>`;
  answer.writeHead(400, { 'Content-Type': isDynamo ? 'application/x-amz-json-1.0' : 'text/xml' });
  answer.end(isDynamo ? json : xml);
}
