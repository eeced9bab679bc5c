import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { BackendError } from '../../../src/weights/backend/backend.ts';
import { DynamoDbBackend } from '../../../src/weights/backend/dynamoDb.ts';
import { startAws, type Aws } from '../../harness/moto.ts';
import { createWeightTable, CURRENT, DESIRED, weights, type WeightTable } from '../../harness/weightTable.ts';

let aws: Aws;
let table: WeightTable;
const { signal } = new AbortController();

beforeAll(async () => {
  aws = await startAws();
  for (const [name, value] of Object.entries(aws.environment)) vi.stubEnv(name, value);
  vi.stubEnv('AWS_ENDPOINT_URL', undefined);
  table = await createWeightTable(aws);
});
afterAll(async () => {
  table.close();
  await aws.stop();
  vi.unstubAllEnvs();
});

const backend = (clusterName: string, over: { tableName?: string; initialWeight?: number } = {}): DynamoDbBackend =>
  new DynamoDbBackend({
    ...{ tableName: table.name, region: 'eu-west-1', endpointUrl: aws.url, clusterName, initialWeight: 5 },
    ...over,
  });

describe('the row of a cluster', () => {
  it('is read as k8s-traffic-controller wrote it', async () => {
    await table.put('a', weights(75, 50));
    expect(await backend('a').read(signal)).toEqual({ desired: 75, current: 50 });
  });

  it('is created with the initial weight, by one of several at once', async () => {
    const read = await Promise.all(Array.from({ length: 5 }, () => backend('new').read(signal)));
    expect(new Set(read.map((each) => JSON.stringify(each)))).toEqual(new Set(['{"desired":5,"current":5}']));
    expect(await table.row('new')).toEqual({ desired: 5, current: 5 });
    expect(await backend('new', { initialWeight: 9 }).read(signal)).toEqual({ desired: 5, current: 5 });
  });

  it.each([
    ['256', { N: '256' }, '256'],
    ['negative', { N: '-1' }, '-1'],
    ['no integer', { N: '1.5' }, '1.5'],
    ['a text', { S: '75' }, 'no number'],
    ['absent', undefined, 'absent'],
  ])('with a desired weight that is %s is an error that names it', async (_, value, told) => {
    await table.put('bad', { ...(value && { [DESIRED]: value }), [CURRENT]: { N: '50' } });
    await expect(backend('bad').read(signal)).rejects.toMatchObject({
      reason: 'InvalidWeight',
      message: `DesiredWeight of bad in the table traffic-controller is ${told}: must be an integer from 0 to 255`,
    });
  });

  it('with an invalid current weight is read all the same', async () => {
    await table.put('half', { [DESIRED]: { N: '75' }, [CURRENT]: { S: 'x' } });
    expect(await backend('half').read(signal)).toEqual({ desired: 75, current: undefined });
  });

  it('gets the weight that is in force, unless another one is desired by now', async () => {
    await table.put('ack', weights(75, 50));
    await backend('ack').acknowledge(75, signal);
    expect(await table.row('ack')).toEqual({ desired: 75, current: 75 });
    await table.put('ack', weights(10, 75));
    await backend('ack').acknowledge(60, signal);
    expect(await table.row('ack')).toEqual({ desired: 10, current: 75 });
  });
});

describe('a failure', () => {
  const failure = async (one: DynamoDbBackend): Promise<BackendError> => {
    const error: unknown = await one.read(signal).catch((thrown: unknown) => thrown);
    if (!(error instanceof BackendError)) throw new Error('no BackendError', { cause: error });
    return error;
  };

  it('of a table that is not there is named, without what AWS says', async () => {
    expect(await failure(backend('a', { tableName: 'nowhere' }))).toMatchObject({
      reason: 'BackendUnavailable',
      message: 'DynamoDB (table nowhere, region eu-west-1) answered ResourceNotFoundException',
    });
  });

  it('of a server that does not answer', async () => {
    const options = { tableName: 't', region: 'eu-west-1', clusterName: 'a', initialWeight: 0 };
    const { message, reason } = await failure(new DynamoDbBackend({ ...options, endpointUrl: 'http://127.0.0.1:9' }));
    expect(reason).toBe('BackendUnavailable');
    expect(message).toMatch(/^DynamoDB \(table t, region eu-west-1\) did not answer: \w+$/);
  });

  it('of an endpoint that speaks something else', async () => {
    const other = new DynamoDbBackend({
      ...{ tableName: 't', region: 'eu-west-1', clusterName: 'a', initialWeight: 0 },
      endpointUrl: `${aws.url}/moto-api/data.json?`,
    });
    expect((await failure(other)).message).toContain('has no row of a after it was created');
  });
});
