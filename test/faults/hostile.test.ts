import type { V1CustomResourceDefinition, V1JSONSchemaProps } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TRAFFIC_WATCHES } from '../../src/api/trafficwatch/schema.ts';
import { DEPLOYMENTS } from '../../src/runtime/client/resources.ts';
import { CRDS } from '../harness/customResource.ts';
import { expectApplied } from '../harness/applied.ts';
import { startFixture, type Fixture } from '../harness/fixture.ts';
import { writesOf, type AuditedRequest } from '../harness/audit.ts';
import { bystanders, create, fates, unfitKeys, type Answer, type Bystanders } from './hostileScene.ts';
import { hostileWatches, type Hostile } from './hostileWatches.ts';
import { measured } from '../harness/measured.ts';
import { grantOperator } from './rbac.ts';
import { unfitKey } from '../harness/unfitKey.ts';

/** Odd TrafficWatches by the hundred, past a CRD that checks them and past one that lets everything through. */
const SEED = Number(process.env.HOSTILE_SEED ?? 20_250_101);
const COUNT = 200;
const CRD = 'trafficwatches.traffic.example.com';
/** As the API has it; client-node's type has other names for the extensions. */
const ANYTHING = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as V1JSONSchemaProps;
/** Every look lists some twenty MiB. */
const WAIT = { timeout: 120_000, interval: 2_000 };
const LONG = 400_000;
/** The operator's, by which the audit log knows it. */
const USER = 'operator';
/** Names that odd ones try to take. */
const FOREIGN = ['foreign-0', 'a-4', 'b-4', 'constructor'];
/** Matches messages that name the wrong field, as the API server or the operator writes it. */
const NAMES_A_PLACE =
  /spec|metadata|request (is|body)|[Rr]equest entity too large|too large|json|exceeded max depth|already exists|label key|Deployment/;

/** The message of the condition by its reason: field and value, or the other owner. */
const TELLS: Readonly<Record<string, RegExp>> = {
  InvalidSpec: /^(spec|metadata)[\w.]* (is|has) /,
  DeploymentInvalid: /the API server refuses the Deployment: .*(\.?(spec|metadata)\.|too large|failed to convert)/s,
  DeploymentNotOwned: /^Deployment default\/\S+ exists/,
  // While the CRD changes, the API server may write a status by the schema before it, without unknown fields of the spec.
  SpecFieldsLost: /^the API server dropped spec\.[^,]+, because the CRD was replaced/,
  LabelKeyTaken: /^label key \S+ belongs to TrafficWatch default\/\S+,/,
  TooManyTrafficWatches: / this one has more than 200 levels of fields: /,
};

let f: Fixture;
let before: Bystanders;
/** Names of all TrafficWatches that were ever sent. */
const sent = new Set(['nearby', 'bare']);

beforeAll(async () => {
  f = await startFixture({ nodes: ['n1', 'n2'] });
  f.exporter.setPercent('n1', 50);
  for (const name of FOREIGN) await f.createForeignDeployment(name);
  await f.setLabels('n1', { [unfitKey('person')]: 'true', 'example.com/role': 'db' });
  await f.createWatch('nearby', { maxBandwidthPercent: '10' });
  // A tick of 10 s: hundreds of objects, whose figures are written each time, on whatever machine this is.
  await grantOperator(f.client, { kind: 'User', name: USER });
  // Hundreds of one namespace, all of which are to be decided.
  const pace = ['--interval=10s', '--window=20s', '--most-watches-per-namespace=2000'];
  await f.startOperator(pace, { kubeconfig: await f.controlPlane.user(USER) });
  await vi.waitFor(async () => {
    expect(await f.labels(unfitKey('nearby'))).toEqual({ n1: 'true', n2: 'false' });
    expectApplied(await f.client.get(DEPLOYMENTS, { namespace: 'default', name: 'nearby' }));
  }, WAIT);
  before = await bystanders(f, [...FOREIGN, 'nearby']);
  measured(`hostile TrafficWatches: seed ${SEED}`);
}, LONG);
afterAll(async () => {
  await f.stop();
});

async function createAll(batch: readonly Hostile[]): Promise<Map<Hostile, Answer>> {
  const answers = new Map<Hostile, Answer>();
  for (const hostile of batch) {
    sent.add(hostile.name);
    answers.set(hostile, await create(f, hostile));
  }
  return answers;
}

/** Refusals must say what is wrong; what was taken must come to an end that a person can read. */
async function checkFates(what: string, answers: ReadonlyMap<Hostile, Answer>): Promise<void> {
  const refused = [...answers].filter(([, { status }]) => status >= 300);
  const unclear = refused.filter(([, { status, message }]) =>
    status >= 500 ? !message.includes('too large') : !NAMES_A_PLACE.test(message),
  );
  expect(unclear.map(([{ what }, { status, message }]) => [what, status, message])).toEqual([]);
  const taken = new Map(
    [...answers].filter(([, { status }]) => status < 300).map(([hostile]) => [hostile.name, hostile]),
  );
  const found = await vi.waitFor(async () => {
    const all = new Map([...(await fates(f))].filter(([name]) => taken.has(name)));
    const open = [...all].filter(([, fate]) => fate.kind === 'Open');
    expect(open.map(([name, fate]) => [name, taken.get(name)?.what, fate])).toEqual([]);
    return all;
  }, WAIT);
  const count: Record<string, number> = {};
  for (const [name, fate] of found) {
    const kind = fate.kind === 'Stalled' ? fate.reason : fate.kind;
    count[kind] = (count[kind] ?? 0) + 1;
    if (fate.kind === 'Stalled') expect(fate.message, taken.get(name)?.what).toMatch(TELLS[fate.reason] ?? /^$/);
  }
  measured(`${what}: ${answers.size} made, ${refused.length} refused by the API server, ${JSON.stringify(count)}`);
}

/** Whether an operator may write this in any case: labels of nodes, TrafficWatches and their Deployments. */
function mayWrite({ verb, resource, namespace, name }: AuditedRequest): boolean {
  if (resource === 'events') return ['create', 'patch'].includes(verb) && namespace === 'default';
  if (resource === 'nodes') return verb === 'patch' && ['n1', 'n2'].includes(name);
  if (namespace !== 'default' || !sent.has(name)) return false;
  if (resource === 'deployments') return ['create', 'patch'].includes(verb) && !FOREIGN.includes(name);
  return verb === 'patch' && ['trafficwatches', 'trafficwatches/status'].includes(resource);
}

async function checkOthers(): Promise<void> {
  expect(await bystanders(f, [...FOREIGN, 'nearby'])).toEqual(before);
  const writes = writesOf(f.controlPlane, USER);
  expect(new Set(writes.map(({ resource }) => resource))).toContain('deployments');
  expect(writes.filter((write) => !mayWrite(write))).toEqual([]);
  await vi.waitFor(async () => expect((await fetch(`${f.operator().healthUrl}/readyz`)).status).toBe(200), WAIT);
  const thrown = f
    .operator()
    .log()
    .match(/"type":"(TypeError|RangeError|ReferenceError|SyntaxError)","message":"[^"]*/g);
  expect([...new Set(thrown)]).toEqual([]);
}

/** @returns how long a TrafficWatch took that there is nothing to say against: ms */
async function normalOne(name: string): Promise<number> {
  const begin = performance.now();
  sent.add(name);
  await f.createWatch(name, { maxBandwidthPercent: '10' });
  await vi.waitFor(async () => {
    expect(await f.labels(unfitKey(name))).toEqual({ n1: 'true', n2: 'false' });
    expect((await fates(f)).get(name)).toEqual({ kind: 'Deployment' });
  }, WAIT);
  return performance.now() - begin;
}

/** Deletes all but `nearby`, and waits until nothing of them is left. */
async function deleteAll(which: (name: string) => boolean): Promise<void> {
  const left = async (): Promise<string[]> =>
    [...(await fates(f)).keys()].filter((name) => name !== 'nearby' && which(name));
  for (const name of await vi.waitFor(left, WAIT)) {
    await f.client.delete(TRAFFIC_WATCHES, { namespace: 'default', name });
  }
  await vi.waitFor(async () => expect(await left()).toEqual([]), WAIT);
}

async function writeSchema(versions: V1CustomResourceDefinition['spec']['versions']): Promise<void> {
  await f.client.mergePatch(CRDS, { name: CRD }, { spec: { versions } }, { fieldManager: 'person' });
}

describe('odd TrafficWatches past the CRD', () => {
  it(
    'are refused or come to an end that says why, and touch nobody else',
    async () => {
      await checkFates('with the CRD', await createAll(hostileWatches(COUNT, SEED, 'a')));
      await checkOthers();
    },
    LONG,
  );

  it(
    'do not keep a normal one from its labels and Deployment',
    async () => {
      measured(`with the CRD: a normal one took ${Math.round(await normalOne('normal-a'))} ms`);
    },
    LONG,
  );

  it(
    'can all be deleted',
    async () => {
      await deleteAll(() => true);
      await vi.waitFor(async () => expect(await unfitKeys(f)).toEqual([unfitKey('nearby'), unfitKey('person')]), WAIT);
      await checkOthers();
    },
    LONG,
  );
});

describe('odd TrafficWatches, let through by another CRD', () => {
  let versions: V1CustomResourceDefinition['spec']['versions'];

  it(
    'are refused or come to an end that says why, and touch nobody else',
    async () => {
      versions = (await f.client.get(CRDS, { name: CRD })).spec.versions;
      const anything = structuredClone(versions);
      anything[0]!.schema = { openAPIV3Schema: ANYTHING };
      await writeSchema(anything);
      const text = JSON.stringify({
        metadata: { name: 'bare' },
        apiVersion: 'traffic.example.com/v1alpha1',
        kind: 'TrafficWatch',
      });
      const bare: Hostile = { name: 'bare', what: 'no spec', text, status: undefined };
      await vi.waitFor(async () => expect(await create(f, bare)).toMatchObject({ status: 201 }), WAIT);
      await checkFates('with a CRD that checks nothing', await createAll(hostileWatches(COUNT, SEED, 'b')));
      await checkOthers();
    },
    LONG,
  );

  it(
    'do not keep a normal one from its labels and Deployment',
    async () => {
      measured(`with a CRD that checks nothing: a normal one took ${Math.round(await normalOne('normal-b'))} ms`);
    },
    LONG,
  );

  it(
    'can all be deleted, also when the CRD checks again',
    async () => {
      await deleteAll((name) => /[02468]$/.test(name));
      await writeSchema(versions);
      await deleteAll(() => true);
      await vi.waitFor(async () => expect(await unfitKeys(f)).toEqual([unfitKey('nearby'), unfitKey('person')]), WAIT);
      await checkOthers();
    },
    LONG,
  );
});
