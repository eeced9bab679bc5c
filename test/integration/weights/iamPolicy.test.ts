import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DynamoDbBackend } from '../../../src/weights/backend/dynamoDb.ts';
import { Route53 } from '../../../src/weights/route53/route53.ts';
import { createWeightTable, weights, type WeightTable } from '../../harness/weightTable.ts';
import { startAwsProxy, type AwsProxy, type AwsRequest } from './awsProxy.ts';
import { stubCredentials } from './credentials.ts';
import { startZone, type Zone } from './zone.ts';

/** The policy in docs/weights.md allows what is asked of AWS, and no more. moto itself allows everything. */
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
 * What IAM asks of a request: the action, and the key of the row if it is of one. A transaction needs the right to each of its parts
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

it('is what a cluster needs to read, create, acknowledge and mark its row, and to know that another one has traffic', async () => {
  const options = { tableName: table.name, region: 'eu-west-1', endpointUrl: proxy.url, clusterName: 'cluster-a' };
  const backend = new DynamoDbBackend(options);
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
