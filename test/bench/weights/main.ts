/**
 * Measures a changed weight with many Ingresses: the operator's bundle on a real API server, without external-dns.
 *
 *   node test/bench/weights/main.ts --out docs/performance/weights.json
 *
 * Ends with status 1 if a goal is missed: the time of the change, or a write while nothing changes. Environment: INGRESSES (5000),
 * REPETITIONS (5), QUIET_SECONDS (60).
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { TRAFFIC_WATCHES } from '../../../src/api/trafficwatch/schema.ts';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { chartHeapOption } from '../../harness/chartHeap.ts';
import { startControlPlane, type ControlPlane } from '../../harness/controlPlane.ts';
import { installCrd, trafficWatchCrd, trafficWeightCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd } from '../../harness/externalDns.ts';
import { imageEnvironment } from '../../harness/imageEnvironment.ts';
import { sleep, until } from '../../harness/measured.ts';
import { withNodeOptions } from '../../harness/nodeOptions.ts';
import { startOperator, type Operator } from '../../harness/operator.ts';
import { cpuSeconds, residentBytes } from '../../harness/processUse.ts';
import { connect } from '../../harness/runtimeScene.ts';
import { AuditTail } from '../auditTail.ts';
import { resultOf, type Figure } from '../figure.ts';
import { failIfMissed, positiveInteger, positiveNumber } from '../goals.ts';
import { machine } from '../machine.ts';
import { renderTable } from '../table.ts';
import { barePatches } from './barePatches.ts';
import { createIngresses, createWeight, NAMESPACE, setWeight, weightInForce } from './cluster.ts';
import { figuresOf } from './figures.ts';

const BUNDLE = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const USER = 'bench-operator';
const LONGEST = { timeout: 600_000, every: 500 };
/** After a change, until the status is written and garbage is collected. */
const REST_MS = 30_000;
const AUDIT_POLICY = {
  ...{ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] },
  rules: [{ level: 'Metadata', users: [USER] }, { level: 'None' }],
};

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const ingresses = positiveInteger('INGRESSES', process.env.INGRESSES ?? '5000');
const repetitions = positiveInteger('REPETITIONS', process.env.REPETITIONS ?? '5');
const quietSeconds = positiveNumber('QUIET_SECONDS', process.env.QUIET_SECONDS ?? '60');
const run = { command: 'make bench-weights', ...machine(), repetitions, ingresses };

function start(kubeconfig: string): Promise<Operator> {
  Object.assign(process.env, imageEnvironment());
  return withNodeOptions(chartHeapOption(), () =>
    startOperator({ kubeconfig, prometheusUrl: 'http://127.0.0.1:9', main: BUNDLE, command: 'trafficweights' }),
  );
}

async function writesOfRecords(audit: AuditTail, since: number) {
  const requests = await audit.requests(since);
  return requests.filter(({ verb, resource }) => verb === 'patch' && resource === DNS_ENDPOINTS.plural);
}

/** Milliseconds from the change of the weight to the answer of the last PATCH. */
async function measureChange(client: Connected, audit: AuditTail, weight: number): Promise<number> {
  const since = Date.now();
  await setWeight(client, weight);
  const answered = () => writesOfRecords(audit, since);
  await until('all DNSEndpoints have the weight', async () => (await answered()).length >= ingresses, LONGEST);
  const last = (await answered()).reduce((latest, { answeredAt }) => Math.max(latest, answeredAt), 0);
  await until('the weight is in force', async () => (await weightInForce(client)) === weight, LONGEST);
  return last - since;
}

type Connected = ReturnType<typeof connect>['client'];

async function measure(plane: ControlPlane, client: Connected): Promise<Figure[]> {
  const audit = new AuditTail(plane.auditLog);
  const kubeconfig = await plane.user(USER, ['system:masters']);
  let operator = await start(kubeconfig);
  await sleep(REST_MS);
  const empty = residentBytes(operator.pid);
  await createIngresses(client, ingresses);
  await createWeight(client, 1);
  await until('the first weight is in force', async () => (await weightInForce(client)) === 1, LONGEST);
  await operator.terminate();

  const took: number[] = [];
  const bare: number[] = [];
  const cpu: number[] = [];
  const memory: number[] = [];
  const quiet: number[] = [];
  for (let n = 0; n < repetitions; n += 1) {
    const [bareWeight, changedWeight] = [100 + 2 * n, 101 + 2 * n];
    await setWeight(client, bareWeight);
    const live = await client.list(DNS_ENDPOINTS, { namespace: NAMESPACE });
    bare.push(await barePatches(plane, { user: USER, live, weight: bareWeight }));
    const started = Date.now();
    operator = await start(kubeconfig);
    await until('what was patched is in force', async () => (await weightInForce(client)) === bareWeight, LONGEST);
    if ((await writesOfRecords(audit, started)).length > 0)
      throw new Error('the operator wrote what was already patched');
    await sleep(REST_MS);
    const before = cpuSeconds(operator.pid);
    took.push(await measureChange(client, audit, changedWeight));
    cpu.push(cpuSeconds(operator.pid) - before);
    await sleep(REST_MS);
    const since = Date.now();
    await sleep(quietSeconds * 1_000);
    quiet.push((await audit.requests(since)).filter(({ verb }) => !['get', 'list', 'watch'].includes(verb)).length);
    memory.push(residentBytes(operator.pid));
    await operator.terminate();
  }
  await audit.close();
  return figuresOf({ ingresses, quietSeconds, empty, took, bare, cpu, memory, quiet });
}

const plane = await startControlPlane({
  auditPolicy: AUDIT_POLICY,
  apiServerFlags: ['--etcd-compaction-interval=1m', '--audit-log-maxsize=0'],
});
const { client, transport } = connect(plane);
try {
  await installCrd(client, trafficWatchCrd(), TRAFFIC_WATCHES);
  await installCrd(client, trafficWeightCrd(), TRAFFIC_WEIGHTS);
  await installCrd(client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  const results = (await measure(plane, client)).map(resultOf);
  console.log(`\n${renderTable(results)}`);
  if (values.out !== undefined) {
    mkdirSync(dirname(values.out), { recursive: true });
    writeFileSync(values.out, `${JSON.stringify({ ...run, results }, null, 2)}\n`);
  }
  failIfMissed(results, run);
} finally {
  await transport.close();
  await plane.stop();
}
