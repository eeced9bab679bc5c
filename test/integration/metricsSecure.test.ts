import { mkdir, mkdtemp, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';
import { createAuthority, type KeyPair } from '../../src/runtime/testing/certificates.ts';
import { kubectl as runKubectl } from '../harness/kubectl.ts';
import { useConnectedPlane } from './connectedPlane.ts';
import { startOperator, type Operator } from '../harness/operator.ts';
import { startPrometheus } from '../harness/prometheus.ts';
import { whenAllowed } from './rights.ts';

/**
 * The operator's metrics by HTTPS, as with `metrics.secure`: its process has the token and the rights of the chart's
 * ServiceAccount, certificate files that are replaced as by a kubelet, and clients with tokens of the API server.
 */
const NAMESPACE = 'traffic-operator-system';
const REVIEWS = ['tokenreviews', 'subjectaccessreviews'];
/** A denial is cached for 10 s, and files are checked every 10 s. */
const WAIT = { timeout: 90_000, interval: 200 };
const authority = createAuthority('metrics');

interface Answer {
  status: number;
  text: string;
}

const scene = useConnectedPlane();
let certificates: string;
let operator: Operator;

async function kubectl(args: readonly string[], input?: object): Promise<string> {
  return runKubectl(scene.plane, args, input);
}

const tokenOf = async (account: string): Promise<string> =>
  (await kubectl(['create', 'token', account, '-n', NAMESPACE])).trim();

/** Creates an account; returns its token. */
async function createAccount(name: string): Promise<string> {
  await kubectl(['create', 'serviceaccount', name, '-n', NAMESPACE]);
  return tokenOf(name);
}

/** As in the chart's README. */
async function allow(account: string): Promise<void> {
  const binding = ['--clusterrole=metrics-reader', `--serviceaccount=${NAMESPACE}:${account}`];
  await kubectl(['create', 'clusterrolebinding', account, ...binding]);
}

/** Creates the objects of `helm install` with HTTPS, except `leftOut`. */
async function install(leftOut: (resource: string) => boolean): Promise<void> {
  const items = helmTemplate('--set', 'metrics.secure=true,metrics.certSecret=tls').filter((each) => !isHook(each));
  for (const object of items) if (object.kind === 'ClusterRole') object.rules = rulesWithout(object, leftOut);
  await kubectl(['apply', '--server-side', '-f-'], { apiVersion: 'v1', kind: 'List', items });
  await inForce(leftOut);
}

/** The API server uses rights shortly after they were written; the operator asks as soon as it starts. */
async function inForce(leftOut: (resource: string) => boolean): Promise<void> {
  const { client } = scene.connected;
  const user = `system:serviceaccount:${NAMESPACE}:traffic-operator`;
  const toCreate = (group: string, resource: string) => {
    return { verbs: ['create'], apiGroups: [`${group}.k8s.io`], resources: [resource] };
  };
  for (const resource of REVIEWS) {
    const group = resource === 'tokenreviews' ? 'authentication' : 'authorization';
    await whenAllowed(client, user, toCreate(group, resource), { allowed: !leftOut(resource) });
  }
  await whenAllowed(client, user, toCreate('coordination', 'leases'), { namespace: NAMESPACE });
}

function rulesWithout({ rules }: Manifest, leftOut: (resource: string) => boolean): object[] {
  const kept = (rules as { resources: string[] }[]).filter(({ resources }) => !resources.some(leftOut));
  expect(kept.length).toBe((rules as object[]).length - REVIEWS.filter(leftOut).length);
  return kept;
}

/** Replaces a certificate as a kubelet does: a new directory, and a link that is switched to it. */
async function mount({ cert, key }: KeyPair, version: string): Promise<void> {
  const directory = join(certificates, `..${version}`);
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'tls.crt'), cert);
  await writeFile(join(directory, 'tls.key'), key);
  await symlink(`..${version}`, join(certificates, '..data_tmp'));
  await rename(join(certificates, '..data_tmp'), join(certificates, '..data'));
}

/** The operator's process as its own ServiceAccount. */
async function start(): Promise<void> {
  const { url, directory } = scene.plane;
  const config = {
    clusters: [{ name: 'c', cluster: { server: url, 'certificate-authority': join(directory, 'ca.crt') } }],
    users: [{ name: 'u', user: { token: await tokenOf('traffic-operator') } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  };
  const kubeconfig = join(directory, 'operator.kubeconfig');
  await writeFile(kubeconfig, JSON.stringify(config));
  const secure = ['--metrics-secure', `--metrics-cert-path=${certificates}`];
  const args = [...secure, '--leader-elect', `--namespace=${NAMESPACE}`];
  // Its Prometheus does not answer; its metrics do not need it.
  operator = await startOperator({ kubeconfig, prometheusUrl: 'http://127.0.0.1:9', args });
}

const port = (): number => Number(new URL(operator.metricsUrl).port);

/** GET /metrics by HTTPS, on a new connection. */
function get(token?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const options = { host: '127.0.0.1', port: port(), path: '/metrics', headers, ca: authority.cert, agent: false };
    const call = request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    call.on('error', reject).end();
  });
}

/** The common name of the certificate on a new connection. */
function shown(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ host: '127.0.0.1', port: port(), ca: authority.cert }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN));
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

const METRICS = { status: 200, text: expect.stringContaining('traffic_operator_leader') as string };
const refused = (status: number, text: string): Answer => ({ status, text: `${text}\n` });

beforeAll(async () => {
  certificates = await mkdtemp(join(scene.plane.directory, 'certificate-'));
  await mount(authority.issue('first'), '1');
  for (const file of ['tls.crt', 'tls.key']) await symlink(`..data/${file}`, join(certificates, file));
  await kubectl(['create', 'namespace', NAMESPACE]);
  await kubectl(['create', 'clusterrole', 'metrics-reader', '--verb=get', '--non-resource-url=/metrics']);
});

describe('with the rights of the chart', () => {
  let reader: string;
  let other: string;
  beforeAll(async () => {
    await install(() => false);
    [reader, other] = await Promise.all([createAccount('reader'), createAccount('other')]);
    await allow('reader');
    await start();
  });
  afterAll(() => operator.terminate());

  it('an account that may get /metrics gets them', async () => {
    // The API server uses a binding shortly after it was written.
    await vi.waitFor(async () => expect(await get(reader)).toEqual(METRICS), WAIT);
  });

  it('an account without the right does not get them, until it has the right', async () => {
    expect(await get(other)).toEqual(refused(403, 'forbidden'));
    await allow('other');
    await vi.waitFor(async () => expect(await get(other)).toEqual(METRICS), WAIT);
  });

  it('nobody gets them without a token, with an invalid one, or with the token of a deleted account', async () => {
    expect(await get()).toEqual(refused(401, 'unauthenticated'));
    expect(await get('made-up')).toEqual(refused(401, 'unauthenticated'));
    const gone = await createAccount('gone');
    await allow('gone');
    await kubectl(['delete', 'serviceaccount', 'gone', '-n', NAMESPACE]);
    // The same for a deleted account.
    await vi.waitFor(async () => expect(await get(gone)).toEqual(refused(401, 'unauthenticated')), WAIT);
  });

  it('nobody gets them without TLS', async () => {
    await expect(fetch(operator.metricsUrl)).rejects.toThrow();
  });

  it('a Prometheus scrapes it with its token', async () => {
    const [credentials, ca] = ['reader.token', 'metrics-ca.crt'].map((name) => join(scene.plane.directory, name));
    await Promise.all([writeFile(credentials!, reader), writeFile(ca!, authority.cert)]);
    const prometheus = await startPrometheus({
      config: {
        global: { scrape_interval: '1s', scrape_timeout: '1s' },
        scrape_configs: [
          {
            job_name: 'operator',
            scheme: 'https',
            authorization: { credentials_file: credentials },
            tls_config: { ca_file: ca },
            static_configs: [{ targets: [`127.0.0.1:${port()}`] }],
          },
        ],
      },
    });
    try {
      await vi.waitFor(async () => {
        const answer = await fetch(`${prometheus.url}/api/v1/query?query=traffic_operator_leader`);
        expect(await answer.json()).toMatchObject({ data: { result: [{ metric: { job: 'operator' } }] } });
      }, WAIT);
    } finally {
      await prometheus.stop();
    }
  });

  it('the same process uses a replaced certificate for the next connection', async () => {
    expect(await shown()).toBe('first');
    await mount(authority.issue('second'), '2');
    await vi.waitFor(async () => expect(await shown()).toBe('second'), WAIT);
    expect(await get(reader)).toEqual(METRICS);
    expect(operator.log().match(/"msg":"starting"/g)).toHaveLength(1);
  });

  it('the API server refused the operator nothing', async () => {
    const audit = (await readFile(scene.plane.auditLog, 'utf8')).split('\n');
    const own = audit.filter((line) =>
      line.includes(`"username":"system:serviceaccount:${NAMESPACE}:traffic-operator"`),
    );
    for (const resource of REVIEWS)
      expect(own.filter((line) => line.includes(`"resource":"${resource}"`))).not.toEqual([]);
    expect(own.filter((line) => /"code":40[13]/.test(line))).toEqual([]);
  });
});

describe.each(REVIEWS)('without the right to create %s', (resource) => {
  beforeAll(async () => {
    await install((each) => each === resource);
    await start();
  });
  afterAll(() => operator.terminate());

  it('nobody gets them, and the log names the right', async () => {
    const reader = await createAccount(`reader-without-${resource}`);
    await allow(`reader-without-${resource}`);
    expect(await get(reader)).toEqual(refused(503, 'busy'));
    const told = (): string[] =>
      operator
        .log()
        .split('\n')
        .filter((line) => line.includes('whether a client may read the metrics'));
    // The log line may be written after the response.
    await vi.waitFor(() => expect(told()).not.toEqual([]), WAIT);
    expect(told()).toEqual([expect.stringContaining(`cannot create resource \\"${resource}\\"`)]);
  });
});
