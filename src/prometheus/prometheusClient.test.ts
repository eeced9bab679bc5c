import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { delay, http, HttpResponse } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PrometheusEndpoint } from './endpoint.ts';
import { createPrometheusClient } from './prometheusClient.ts';

const SERVER = 'http://prometheus.example.com:9090';
const QUERY = `${SERVER}/api/v1/query`;
const SUCCESS = {
  status: 'success',
  data: { resultType: 'vector', result: [{ metric: { device: 'eth0' }, value: [1, '2'] }] },
};
const server = setupServer();
let directory: string;

beforeAll(() => server.listen({ onUnhandledFrame: 'error' }));
beforeEach(async () => (directory = await mkdtemp(join(tmpdir(), 'usage-'))));
afterEach(async () => {
  server.resetHandlers();
  await rm(directory, { recursive: true });
});
afterAll(() => server.close());

/** Answers every query with `reply` and returns the received requests. */
function answer(reply: () => Response | Promise<Response>, path = QUERY): Request[] {
  const requests: Request[] = [];
  const resolver = ({ request }: { request: Request }) => {
    requests.push(request.clone());
    return reply();
  };
  server.use(http.get(path, resolver), http.post(path, resolver));
  return requests;
}

const succeed = () => HttpResponse.json(SUCCESS);

async function ask(
  endpoint: Partial<PrometheusEndpoint> = {},
  { expression = 'up', signal = new AbortController().signal, largestAnswerBytes = 1e6 } = {},
) {
  const client = createPrometheusClient({ url: SERVER, ...endpoint }, { largestAnswerBytes });
  const all: unknown[] = [];
  try {
    const query = {
      expression,
      visitor: { visit: (series: unknown) => all.push(series) },
      signal,
      timeoutMs: 8_000,
    };
    return { ...(await client.query(query)), all };
  } finally {
    client.close();
  }
}

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe('the request', () => {
  it('accepts compressed answers, unless Prometheus is near', async () => {
    const requests = answer(succeed);
    await ask();
    await ask({ isNear: true });
    const encodings = requests.map(({ headers }) => headers.get('accept-encoding'));
    expect(encodings).toEqual([expect.stringContaining('gzip'), 'identity']);
  });

  it('has the query and a timeout, but no time: the server uses its own', async () => {
    const requests = answer(succeed);
    expect(await ask()).toMatchObject({ series: 1, all: SUCCESS.data.result });
    const { searchParams } = new URL(requests[0]!.url);
    expect(Object.fromEntries(searchParams)).toEqual({ query: 'up', timeout: '8000ms' });
    expect(requests[0]!.method).toBe('GET');
  });

  it('is a POST if the query is too long for a request line', async () => {
    const requests = answer(succeed);
    const expression = `up{node=~"${'n|'.repeat(3_000)}"}`;
    await ask({}, { expression });
    expect(requests[0]!.method).toBe('POST');
    expect(requests[0]!.url).toBe(QUERY);
    expect(Object.fromEntries(new URLSearchParams(await requests[0]!.text()))).toEqual({
      query: expression,
      timeout: '8000ms',
    });
  });

  it('goes to the path prefix', async () => {
    const requests = answer(succeed, `${SERVER}/team/prometheus/api/v1/query`);
    await ask({ url: `${SERVER}/team/prometheus/` });
    expect(requests).toHaveLength(1);
  });

  it('has the extra headers', async () => {
    const requests = answer(succeed);
    await ask({ headers: { 'X-Scope-OrgID': 'tenant-7' } });
    expect(requests[0]!.headers.get('X-Scope-OrgID')).toBe('tenant-7');
    expect(requests[0]!.headers.get('Authorization')).toBeNull();
  });

  it('has basic auth with the password of a file', async () => {
    const requests = answer(succeed);
    await ask({ basicAuth: { username: 'me', passwordFile: await file('password', 'se:cret\n') } });
    expect(requests[0]!.headers.get('Authorization')).toBe(`Basic ${btoa('me:se:cret')}`);
  });

  it('has the current token of a file, because the kubelet replaces it every hour', async () => {
    const requests = answer(succeed);
    const path = await file('token', 'first');
    const client = createPrometheusClient({ url: SERVER, bearerTokenFile: path });
    const query = {
      expression: 'up',
      visitor: { visit: () => undefined },
      signal: new AbortController().signal,
      timeoutMs: 1,
    };
    await client.query(query);
    await writeFile(path, 'second, longer');
    await client.query(query);
    client.close();
    const tokens = requests.map((request) => request.headers.get('Authorization'));
    expect(tokens).toEqual(['Bearer first', 'Bearer second, longer']);
  });
});

describe('the answer', () => {
  it('is passed to the visitor unchanged, including native histograms and NaN', async () => {
    const result = [
      { metric: { device: 'a' }, histogram: [1, { count: '1', sum: '2', buckets: [] }] },
      { metric: { device: 'b' }, value: [1, 'NaN'] },
      { metric: { device: 'c' }, value: [1, '+Inf'] },
      { metric: { device: 'd' }, value: 'garbage' },
      null,
    ];
    answer(() => HttpResponse.json({ status: 'success', data: { resultType: 'vector', result } }));
    expect((await ask()).all).toEqual(result);
  });

  it('includes warnings and infos', async () => {
    answer(() => HttpResponse.json({ ...SUCCESS, warnings: ['store-2 did not answer'], infos: ['not a counter'] }));
    expect(await ask()).toMatchObject({ series: 1, warnings: ['store-2 did not answer'], infos: ['not a counter'] });
  });
});

describe('an error', () => {
  const html = '<html>hunter2 Bad Gateway</html>';
  const failed = (status: number, errorType: string, error: string) =>
    HttpResponse.json({ status: 'error', errorType, error }, { status });
  it.each<[reason: string, message: string, why: string, reply: () => Response]>([
    ['BadStatus', 'HTTP 502 Bad Gateway', 'a proxy without its server', () => HttpResponse.html(html, { status: 502 })],
    ['BadStatus', 'HTTP 404 Not Found', 'a wrong prefix', () => HttpResponse.text('hunter2', { status: 404 })],
    ['BadStatus', 'HTTP 599', 'a status without a name', () => new HttpResponse(null, { status: 599 })],
    [
      'Unauthorized',
      'HTTP 401 Unauthorized',
      'no or a wrong password',
      () => new HttpResponse('hunter2', { status: 401 }),
    ],
    ['Unauthorized', 'HTTP 403 Forbidden', 'a missing permission', () => failed(403, 'forbidden', 'hunter2')],
    ['BadAnswer', 'not JSON', 'garbage', () => HttpResponse.text('hunter2')],
    ['BadAnswer', 'not come from the Prometheus API', 'another API', () => HttpResponse.json({ hunter2: true })],
    ['BadAnswer', 'not JSON', 'nothing', () => new HttpResponse(null, { status: 200 })],
    ['QueryFailed', 'bad_data: parse error', 'an invalid query', () => failed(400, 'bad_data', 'parse error')],
    ['QueryFailed', 'timeout: too slow', 'a server that gave up', () => failed(503, 'timeout', 'too slow')],
    [
      'QueryFailed',
      'execution: many-to-many',
      'an error with status 200',
      () => failed(200, 'execution', 'many-to-many'),
    ],
  ])('is %s, "%s": %s', async (reason, message, _why, reply) => {
    answer(reply);
    const failure = ask();
    await expect(failure).rejects.toMatchObject({ name: 'PrometheusError', reason });
    await expect(failure).rejects.toThrow(message);
    await expect(failure).rejects.not.toThrow('hunter2');
  });

  it('does not follow a redirect, which would leak the headers, but names its target', async () => {
    answer(() => HttpResponse.redirect('https://login.example.com/?token=hunter2', 302));
    const failure = ask({ headers: { 'X-Scope-OrgID': 'me' } });
    await expect(failure).rejects.toThrow('HTTP 302 Found to https://login.example.com; redirects are not followed');
  });

  it('is TooLarge for a body above the limit', async () => {
    answer(() => HttpResponse.text('x'.repeat(200_000)));
    await expect(ask({}, { largestAnswerBytes: 100_000 })).rejects.toMatchObject({ reason: 'TooLarge' });
  });

  it('redacts secrets in the error message of Prometheus, and shortens it', async () => {
    const bearerTokenFile = await file('token', 'hunter2');
    answer(() => failed(422, 'execution', `Bearer hunter2 is\nnot ${'long '.repeat(1_000)}`));
    const failure = ask({ bearerTokenFile, headers: { 'X-Key': 'long' } });
    await expect(failure).rejects.toThrow(/^execution: Bearer \[redacted\] is not \[redacted\].{0,180}$/);
  });

  it('is the reason of the signal if it is aborted', async () => {
    answer(async () => {
      await delay('infinite');
      return succeed();
    });
    const waiting = new AbortController();
    const failure = ask({}, { signal: waiting.signal });
    waiting.abort(new Error('too late'));
    await expect(failure).rejects.toThrow('too late');
  });
});
