import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DynamoDbBackend } from '../../../src/weights/backend/dynamoDb.ts';
import { Route53 } from '../../../src/weights/route53/route53.ts';
import { createWeightTable, weights, type WeightTable } from '../../harness/weightTable.ts';
import { startAwsProxy, type AwsProxy, type AwsRequest } from './awsProxy.ts';
import { stubCredentials } from './credentials.ts';
import { startZone, type Zone } from './zone.ts';

/** Tests the requests to AWS, and their identity. moto itself allows everything to everybody. */
const PAGE = readFileSync(new URL('../../../docs/weights.md', import.meta.url), 'utf8');
const { signal } = new AbortController();

interface Statement {
  readonly Effect: string;
  readonly Action: string[];
  readonly Resource: string;
  readonly Condition?: Record<string, Record<string, string[]>>;
}

const [, json = ''] = /^```json\n(.*?)^```/ms.exec(PAGE) ?? [];
const [own, others] = (JSON.parse(json) as { Statement: [Statement, Statement] }).Statement;

let zone: Zone;
let table: WeightTable;
let proxy: AwsProxy;

beforeAll(async () => {
  zone = await startZone('example.org');
  table = await createWeightTable(zone.aws);
  proxy = await startAwsProxy(zone.aws.url);
  stubCredentials(zone.aws);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  proxy.stop();
  table.close();
  await zone.stop();
});

interface TableCall {
  readonly Key?: { ClusterName: { S: string } };
  readonly Item?: { ClusterName: { S: string } };
  readonly TransactItems?: readonly Record<string, TableCall>[];
}

/**
 * The action and the key of the row of a request, which IAM checks. A transaction needs the right to each of its parts
 * (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html).
 */
function actionsOf({ headers, body }: AwsRequest): [action: string, row: string | undefined][] {
  const call = JSON.parse(body) as TableCall;
  const name = String(headers['x-amz-target']).split('.').at(-1) ?? '';
  if (call.TransactItems === undefined) return [[`dynamodb:${name}`, rowOf(call)]];
  return call.TransactItems.flatMap((item) =>
    Object.entries(item).map(([kind, part]): [string, string | undefined] => [`dynamodb:${kind}Item`, rowOf(part)]),
  );
}

function rowOf({ Key, Item }: TableCall): string | undefined {
  return (Key ?? Item)?.ClusterName.S;
}

const backendAt = (endpointUrl: string) =>
  new DynamoDbBackend({ tableName: table.name, region: 'eu-west-1', endpointUrl, clusterName: 'cluster-a' });

describe('the policy in docs/weights.md', () => {
  it('is what a cluster needs to read, create, acknowledge and mark its row, and to know that another cluster has traffic', async () => {
    const backend = backendAt(proxy.url);
    const read = (allowAllZero = false) => backend.read({ known: 100, initialWeight: 0, allowAllZero }, signal);
    await read();
    await backend.acknowledge(100, signal);
    await table.put('cluster-b', weights(100, 100));
    await table.desire('cluster-a', 0);
    await read();
    await read(true);
    backend.close();
    const asked = proxy.asked.flatMap(actionsOf);
    const actions = (isOwn: boolean): string[] => [
      ...new Set(asked.filter(([, row]) => (row === 'cluster-a') === isOwn).map(([action]) => action)),
    ];
    expect(actions(true).sort()).toEqual([...own.Action].sort());
    expect(own.Condition).toEqual({ 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['cluster-a'] } });
    expect(actions(false).sort()).toEqual([...others.Action].sort());
    for (const { Effect, Resource } of [own, others]) {
      expect([Effect, Resource]).toEqual(['Allow', `arn:aws:dynamodb:eu-west-1:111122223333:table/${table.name}`]);
    }
  });

  it('has one action more with hosted zones', async () => {
    const before = proxy.asked.length;
    const reader = new Route53(proxy.url);
    await reader.page(zone.id, undefined, signal);
    reader.close();
    const asked = proxy.asked.slice(before).map(({ method, path }) => `${method} ${path.split('?')[0]}`);
    expect(asked).toEqual([`GET /2013-04-01/hostedzone/${zone.id}/rrset`]);
    expect(PAGE.match(/route53:\w+/g)).toEqual(['route53:ListResourceRecordSets']);
  });
});

/** Credentials of a role that the token of a ServiceAccount gives (IRSA). */
describe('with the token of a ServiceAccount', () => {
  /** Access keys of a role begin so: "Understanding unique ID prefixes" in the user guide of IAM. */
  const OF_A_ROLE = /^AWS4-HMAC-SHA256 Credential=ASIA[A-Z0-9]+\//;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'traffic-token-'));
    const token = join(directory, 'token');
    await writeFile(token, 'a.b.c');
    vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
    vi.stubEnv('AWS_ENDPOINT_URL_STS', zone.aws.url);
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::111122223333:role/weights');
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', token);
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it.each([
    { what: 'a table', read: () => backendAt(proxy.url).acknowledge(1, signal) },
    { what: 'a hosted zone', read: () => new Route53(proxy.url).page(zone.id, undefined, signal) },
  ])('asks for $what as the role', async ({ read }) => {
    const before = proxy.asked.length;
    // The role is of another account, in which moto has neither.
    await expect(read()).rejects.toThrow();
    const asked = proxy.asked.slice(before);
    expect(asked).not.toEqual([]);
    for (const { headers } of asked) expect(headers.authorization).toMatch(OF_A_ROLE);
  });
});
