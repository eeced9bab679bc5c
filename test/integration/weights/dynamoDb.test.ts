import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { BackendError, type ReadOptions } from '../../../src/weights/backend/backend.ts';
import { DynamoDbBackend } from '../../../src/weights/backend/dynamoDb.ts';
import { startAws, type Aws } from '../../harness/moto.ts';
import { createWeightTable, CURRENT, DESIRED, weights, type WeightTable } from '../../harness/weightTable.ts';
import { stubCredentials } from './credentials.ts';

let aws: Aws;
let table: WeightTable;
const { signal } = new AbortController();

beforeAll(async () => {
  aws = await startAws();
  stubCredentials(aws);
  table = await createWeightTable(aws);
});
afterAll(async () => {
  table.close();
  await aws.stop();
  vi.unstubAllEnvs();
});

/** A row of no table that moto has. */
const OTHER = { tableName: 't', region: 'eu-west-1', clusterName: 'a' };

/** The options of a cluster that never had a weight. */
const first = (initialWeight: number) => ({ known: undefined, initialWeight, allowAllZero: false });

const backend = (clusterName: string, over: { tableName?: string } = {}): DynamoDbBackend =>
  new DynamoDbBackend({
    ...{ tableName: table.name, region: 'eu-west-1', endpointUrl: aws.url, clusterName },
    ...over,
  });

/** The result of a read, or the error that it rejects with. */
const resultOf = (one: DynamoDbBackend): Promise<unknown> =>
  one.read(first(0), signal).catch((error: unknown) => error);

/** The same, from a server that answers so instead of DynamoDB. */
async function readFrom(answer: RequestListener): Promise<unknown> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const result = await resultOf(new DynamoDbBackend({ ...OTHER, endpointUrl: `http://127.0.0.1:${port}` }));
  server.closeAllConnections();
  server.close();
  return result;
}

describe('the row of a cluster', () => {
  it('is read as k8s-traffic-controller wrote it', async () => {
    await table.put('a', weights(75, 50));
    expect(await backend('a').read(first(5), signal)).toEqual({ desired: 75, current: 50 });
  });

  it('is created with the initial weight, by one of several at once', async () => {
    const read = await Promise.all(Array.from({ length: 5 }, () => backend('new').read(first(5), signal)));
    expect(new Set(read.map((each) => JSON.stringify(each)))).toEqual(new Set(['{"desired":5}']));
    expect(await table.row('new')).toEqual({ desired: 5 });
    expect(await backend('new').read(first(9), signal)).toEqual({ desired: 5 });
  });

  it.each([
    ['256', { N: '256' }, '256'],
    ['negative', { N: '-1' }, '-1'],
    ['no integer', { N: '1.5' }, '1.5'],
    ['a text', { S: '75' }, 'no number'],
    ['absent', undefined, 'absent'],
  ])('with a desired weight that is %s is an error that names it', async (_, value, told) => {
    await table.put('bad', { ...(value && { [DESIRED]: value }), [CURRENT]: { N: '50' } });
    await expect(backend('bad').read(first(5), signal)).rejects.toMatchObject({
      reason: 'InvalidWeight',
      message: `DesiredWeight of bad in the table traffic-controller is ${told}: must be an integer from 0 to 255`,
    });
  });

  it('with an invalid current weight is read all the same', async () => {
    await table.put('half', { [DESIRED]: { N: '75' }, [CURRENT]: { S: 'x' } });
    expect(await backend('half').read(first(5), signal)).toEqual({ desired: 75, current: undefined });
  });

  it('gets the weight that is in force, unless another weight is desired by now', async () => {
    await table.put('ack', weights(75, 50));
    expect(await backend('ack').acknowledge(75, signal)).toBe(true);
    expect(await table.row('ack')).toEqual({ desired: 75, current: 75 });
    await table.put('ack', weights(10, 75));
    expect(await backend('ack').acknowledge(60, signal)).toBe(false);
    expect(await table.row('ack')).toEqual({ desired: 10, current: 75 });
  });
});

describe('a cluster that goes to 0', () => {
  const ALL_ZERO = {
    reason: 'AllZero',
    message:
      'no other cluster of the table clusters has CurrentWeight above 0, no NoTraffic, and a SeenAt within an hour; all clusters would be at 0. ' +
      'Give another cluster a weight first, or set allowAllZero',
  };
  let clusters: WeightTable;
  const read = (name: string, over: Partial<ReadOptions> = {}) =>
    backend(name, { tableName: clusters.name }).read({ ...first(0), ...over }, signal);

  beforeAll(async () => {
    clusters = await createWeightTable(aws, 'clusters');
  });
  afterAll(() => clusters.close());
  beforeEach(async () => {
    for (const name of ['a', 'b', 'c']) await clusters.delete(name);
  });

  it('may while another cluster has traffic, and not as the last one', async () => {
    await clusters.put('a', weights(0, 75));
    await clusters.put('b', weights(0, 25));
    await clusters.put('c', weights(100, 0));
    expect(await read('a')).toEqual({ desired: 0, current: 75 });
    await expect(read('b')).rejects.toMatchObject(ALL_ZERO);
    // Neither again: it is marked.
    expect(await read('a')).toEqual({ desired: 0, current: 75 });
    await backend('c', { tableName: clusters.name }).acknowledge(100, signal);
    expect(await read('b')).toEqual({ desired: 0, current: 25 });
  });

  it('may not if no operator has shown for an hour that the other clusters are there, as a renamed cluster', async () => {
    const { SeenAt: _, ...original } = weights(100, 100);
    await clusters.put('a', weights(0, 75));
    await clusters.put('b', original);
    await clusters.put('c', weights(100, 100, 3_600));
    await expect(read('a')).rejects.toMatchObject(ALL_ZERO);
    // Its operator reads the row.
    await read('c', { known: 100 });
    expect(await read('a')).toEqual({ desired: 0, current: 75 });
  });

  it('counts again when a weight above 0 is in force', async () => {
    await clusters.put('a', weights(0, 75));
    await clusters.put('b', weights(0, 25));
    await read('a');
    const cluster = backend('a', { tableName: clusters.name });
    expect(await cluster.acknowledge(0, signal)).toBe(true);
    await expect(read('b')).rejects.toMatchObject(ALL_ZERO);
    await clusters.desire('a', 50);
    await expect(read('b')).rejects.toMatchObject(ALL_ZERO);
    expect(await cluster.acknowledge(50, signal)).toBe(true);
    expect(await read('b')).toEqual({ desired: 0, current: 25 });
  });

  it('counts again also if it was to have its weight again before it had acknowledged 0', async () => {
    await clusters.put('a', weights(0, 100));
    await clusters.put('b', weights(100, 100));
    await read('a');
    await clusters.desire('a', 100);
    expect(await read('a', { known: 0 })).toEqual({ desired: 100, current: undefined });
    expect(await backend('a', { tableName: clusters.name }).acknowledge(100, signal)).toBe(true);
    expect(await read('a', { known: 100 })).toEqual({ desired: 100, current: 100 });
    await clusters.desire('b', 0);
    expect(await read('b')).toEqual({ desired: 0, current: 100 });
  });

  it('must ask for the weight that its records have, whatever the row says is in force', async () => {
    await clusters.put('a', weights(0, 0));
    await expect(read('a', { known: 100 })).rejects.toMatchObject({ ...ALL_ZERO, held: 100 });
    await clusters.put('a', weights(0, 75));
    await expect(read('a')).rejects.toMatchObject({ ...ALL_ZERO, held: 75 });
    await clusters.put('new', weights(0, 0));
    expect(await read('new', { initialWeight: 100 })).toEqual({ desired: 0, current: 0 });
  });

  it('is one of several that want to at the same time, again and again', async () => {
    for (let round = 0; round < 10; round += 1) {
      for (const name of ['a', 'b', 'c']) await clusters.put(name, weights(0, 50));
      const ends = await Promise.allSettled(['a', 'b', 'c'].map((name) => read(name)));
      expect(ends.filter(({ status }) => status === 'fulfilled').length, `round ${round}`).toBeLessThan(3);
    }
  });

  /** The calls of a read, to a server with a row that is to go to 0, and these errors of other calls. */
  async function readWith(errors: Readonly<Record<string, object>>): Promise<{ calls: string[]; read: unknown }> {
    const calls: string[] = [];
    const row = { ClusterName: { S: 'a' }, ...weights(0, 75) };
    const others = { Items: [{ ClusterName: { S: 'b' }, ...weights(100, 100) }] };
    const read = await readFrom((request, response) => {
      const call = String(request.headers['x-amz-target']).split('.').at(-1) ?? '';
      calls.push(call);
      const error = errors[call];
      if (error !== undefined) response.statusCode = 400;
      response.end(JSON.stringify(error ?? { GetItem: { Item: row }, Scan: others }[call] ?? {}));
    });
    return { calls, read };
  }
  const errorOf = (name: string, more: object = {}) => {
    return { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'no', ...more };
  };

  it('marks its row without the right to read the others', async () => {
    const { calls, read: got } = await readWith({ Scan: errorOf('AccessDeniedException') });
    expect([calls, got]).toEqual([['GetItem', 'Scan', 'UpdateItem'], { desired: 0, current: 75 }]);
  });

  it.each([
    ['the others cannot be read', { Scan: errorOf('ResourceNotFoundException') }, 'ResourceNotFoundException'],
    [
      'another program writes a row at the same time',
      {
        TransactWriteItems: errorOf('TransactionCanceledException', {
          CancellationReasons: [{ Code: 'TransactionConflict' }],
        }),
      },
      'TransactionCanceledException',
    ],
  ])('may not, and is unavailable, if %s', async (_, errors, name) => {
    expect((await readWith(errors)).read).toMatchObject({
      reason: 'BackendUnavailable',
      message: `DynamoDB (table t, region eu-west-1) answered ${name}`,
    });
  });

  it('may as the last one if that is allowed, or if it has no traffic anyway', async () => {
    await clusters.put('a', weights(0, 75));
    expect(await read('a', { allowAllZero: true })).toEqual({ desired: 0, current: 75 });
    await clusters.put('b', weights(0, 0));
    expect(await read('b')).toEqual({ desired: 0, current: 0 });
  });
});

describe('a failure', () => {
  const thrown = (result: unknown): BackendError => {
    if (!(result instanceof BackendError)) throw new Error('no BackendError', { cause: result });
    return result;
  };
  const failure = async (one: DynamoDbBackend): Promise<BackendError> => thrown(await resultOf(one));

  it('of a table that is not there is named, without what AWS says', async () => {
    expect(await failure(backend('a', { tableName: 'nowhere' }))).toMatchObject({
      reason: 'BackendUnavailable',
      message: 'DynamoDB (table nowhere, region eu-west-1) answered ResourceNotFoundException',
    });
  });

  const NO_ANSWER = /^DynamoDB \(table t, region eu-west-1\) did not answer: \w+$/;

  it('of a server that does not answer', async () => {
    const { message, reason } = await failure(new DynamoDbBackend({ ...OTHER, endpointUrl: 'http://127.0.0.1:9' }));
    expect(reason).toBe('BackendUnavailable');
    expect(message).toMatch(NO_ANSWER);
  });

  /** The error of reading from a server that answers so. */
  const failureOf = async (answer: (response: ServerResponse) => void): Promise<BackendError> =>
    thrown(await readFrom((_, response) => answer(response)));

  it('of a server whose answer does not end', { timeout: 60_000 }, async () => {
    const { message } = await failureOf((response) => response.writeHead(200, { 'Content-Length': 100 }).write('{'));
    expect(message).toMatch(NO_ANSWER);
  });

  it('of a server that has an empty number, which is not 0', async () => {
    const row = { ClusterName: { S: 'a' }, DesiredWeight: { N: '' } };
    expect(await failureOf((response) => response.end(JSON.stringify({ Item: row })))).toMatchObject({
      reason: 'InvalidWeight',
      message: 'DesiredWeight of a in the table t is no number: must be an integer from 0 to 255',
    });
  });

  it('of an endpoint that speaks something else', async () => {
    const other = new DynamoDbBackend({ ...OTHER, endpointUrl: `${aws.url}/moto-api/data.json?` });
    expect((await failure(other)).message).toContain('has no row of a after it was created');
  });
});
