import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { DynamoDbBackend } from '../../../src/weights/backend/dynamoDb.ts';
import { Route53 } from '../../../src/weights/route53/route53.ts';
import { startAws, type Aws } from '../../harness/moto.ts';

/** Credentials of a role that the token of a ServiceAccount gives (IRSA). */
const { signal } = new AbortController();
/** Access keys of a role begin so: "Understanding unique ID prefixes" in the user guide of IAM. */
const OF_A_ROLE = /^AWS4-HMAC-SHA256 Credential=ASIA[A-Z0-9]+\//;
let aws: Aws;
let directory: string;
let service: Server;
let url: string;
/** Of each request to the service, whose answers are empty. */
let authorizations: (string | undefined)[];

beforeAll(async () => {
  aws = await startAws();
  directory = await mkdtemp(join(tmpdir(), 'traffic-token-'));
  const token = join(directory, 'token');
  await writeFile(token, 'a.b.c');
  service = createServer((request, response) => {
    authorizations.push(request.headers.authorization);
    response.statusCode = 400;
    response.end();
  });
  await once(service.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  vi.stubEnv('AWS_ACCESS_KEY_ID', undefined);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', undefined);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ENDPOINT_URL_STS', aws.url);
  vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::111122223333:role/weights');
  vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', token);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  service.close();
  await rm(directory, { recursive: true, force: true });
  await aws.stop();
});

it.each([
  [
    'a table',
    async () => {
      const backend = new DynamoDbBackend({ tableName: 't', region: 'eu-west-1', endpointUrl: url, clusterName: 'a' });
      await backend.read({ known: undefined, initialWeight: 0, allowAllZero: false }, signal);
    },
  ],
  ['a hosted zone', () => new Route53(url).page('Z1', undefined, signal)],
])('reads %s as the role', async (_, read) => {
  authorizations = [];
  await expect(read()).rejects.toThrow();
  expect(authorizations.length).toBeGreaterThan(0);
  for (const authorization of authorizations) expect(authorization).toMatch(OF_A_ROLE);
});
