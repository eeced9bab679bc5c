import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { COMPONENT_STATES } from '../../../src/api/trafficstack/terms.ts';
import {
  TRAFFIC_STACKS,
  type ComponentSpec,
  type TrafficStack,
  type TrafficStackSpec,
} from '../../../src/api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../../src/api/trafficweight/trafficWeight.ts';
import { COMPONENT_LABEL } from '../../../src/controllers/trafficstack/names.ts';
import { isNotFound } from '../../../src/runtime/client/errors.ts';
import { resourcePath } from '../../../src/runtime/client/resource.ts';
import { CONFIG_MAPS, NAMESPACES, NODES } from '../../../src/runtime/client/resources.ts';
import { findCondition } from '../../../src/runtime/controller/conditions.ts';
import { DNS_ENDPOINTS } from '../../../src/weights/records/endpoint.ts';
import { installCrd, trafficWeightCrd } from '../../harness/customResource.ts';
import { dnsEndpointCrd } from '../../harness/externalDns.ts';
import { kubectl } from '../../harness/kubectl.ts';
import { connect, type Connected } from '../../harness/runtimeScene.ts';
import { giveRoom } from '../injection/world.ts';
import { NODE } from './kubelet.ts';
import { component, PERSON, startScene, USER, WAIT, type StackScene } from './scene.ts';

/**
 * The examples of docs/stack.md: the API server takes each, and an operator acts on it. The tables are tested in
 * scripts/stackDoc.test.ts.
 */
const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const PAGE = read('docs/stack.md');
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);
const CONSOLE = blocks('console').flatMap((block) => block.split(/^[$] /m).slice(1));
const SAMPLE = parseAllDocuments(read('deploy/samples/trafficstack.yaml'))
  .map((document) => document.toJS() as TrafficStack)
  .find(({ kind }) => kind === TRAFFIC_STACKS.kind)!;

type Status = NonNullable<TrafficStack['status']>;
/** A block: a part of a spec. */
type Fragment = Partial<TrafficStackSpec & ComponentSpec & { spec: Partial<TrafficStackSpec>; config: object[] }>;

const DB = component('db', {
  kind: 'StatefulSet',
  workload: { namespace: 'shop', replicas: 3, services: [{ headless: true, ports: [{ port: 5432 }] }] },
});

/** The spec that a block is, or the smallest spec with the part of a spec that a block is. */
function specOf(block: Fragment): TrafficStackSpec {
  const { spec, components, config, ready } = block;
  if (spec !== undefined) return { ...spec, components: withRest(spec.components ?? [component('web')]) };
  if (components !== undefined) return { components: withRest(components) };
  const { workload } = component('api', { workload: { namespace: 'shop' } });
  if (config !== undefined) {
    return {
      components: [DB, { ...component('api', { dependsOn: ['db'] }), workload: { ...workload, config } as never }],
    };
  }
  if (ready !== undefined) return { components: [component('web', { ready })] };
  throw new Error(`an example that is no part of a TrafficStack: ${JSON.stringify(block)}`);
}

/** Adds a workload where the page leaves it out, and the components of the sample that they depend on. */
function withRest(components: readonly ComponentSpec[]): ComponentSpec[] {
  const whole = components.map((each) =>
    each.type === 'Workload' && each.workload === undefined ? { ...component(each.name), ...each } : each,
  );
  const names = new Set(whole.map(({ name }) => name));
  const lacking = whole.flatMap(({ dependsOn = [] }) => dependsOn).filter((name) => !names.has(name));
  return [...whole, ...SAMPLE.spec.components.filter(({ name }) => lacking.includes(name))] as ComponentSpec[];
}

/** Without the values of the chart. */
const YAML = blocks('yaml').flatMap((text) => {
  const block = parse(text) as Fragment;
  return 'stacks' in block ? [] : [block];
});
const SPECS = YAML.map(specOf);

/** The statuses in the outputs of `kubectl get -o yaml`, without their gaps. */
const STATUSES: Status[] = CONSOLE.filter((text) => /^kubectl get trafficstack \w+ -o yaml\n/.test(text)).map(
  (text) => (parse(text.replace(/^.*\n/, '').replaceAll(/^ *…\n/gm, '')) as { status: Status }).status,
);

/** The cells of a table that kubectl prints. */
const rowsOf = (text: string): string[][] =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ {2,}/));

let s: StackScene;
let connected: Connected;
beforeAll(async () => {
  s = await startScene(USER);
  const { client } = s.f;
  connected = connect(s.f.controlPlane);
  await installCrd(client, trafficWeightCrd(), TRAFFIC_WEIGHTS);
  await installCrd(client, await dnsEndpointCrd(), DNS_ENDPOINTS);
  const namespaces = ['traffic-operator-system', 'shop', 'databases', 'monitoring'];
  for (const name of namespaces) await client.create(NAMESPACES, { metadata: { name } });
  const labels = { pool: 'infra', 'node-role.kubernetes.io/control-plane': '' };
  await client.mergePatch(NODES, { name: NODE }, { metadata: { labels } }, PERSON);
  const kinds = ['networking.k8s.io/v1/ingresses/Ingress', 'batch/v1/jobs/Job'].map(
    (kind) => `--stack-object-kind=${kind}`,
  );
  const args = ['--stacks', '--weights', '--default-stack=false', '--scrape-interval=1s', ...kinds];
  // With a Prometheus of its own: otherwise the type Prometheus is not offered.
  const pace = ['--interval=1s', '--window=20s'];
  await s.f.startOperator(args, { prometheusUrl: undefined, until: 'alive', pace });
});
afterAll(async () => {
  await connected.transport.close();
  await s.stop();
});

/** As `kubectl apply --dry-run=server` sends it: unknown and misspelt fields are refused. */
function dryRun(over: object): Promise<TrafficStack> {
  const stack = { apiVersion: 'traffic.example.com/v1alpha1', kind: 'TrafficStack', metadata: { name: 'example' } };
  return connected.transport.request<TrafficStack>({
    method: 'POST',
    path: resourcePath(TRAFFIC_STACKS, {}),
    query: { dryRun: 'All', fieldValidation: 'Strict' },
    body: { ...stack, ...over },
  });
}

async function create(spec: TrafficStackSpec): Promise<void> {
  await s.f.client.create(TRAFFIC_STACKS, { metadata: { name: 'example' }, spec });
  onTestFinished(async () => {
    await s.f.client.delete(TRAFFIC_STACKS, { name: 'example' });
    await vi.waitFor(() => expect(s.stack('example')).rejects.toSatisfy(isNotFound), WAIT);
  });
}

describe('an example of docs/stack.md', () => {
  it('exists, for specs and for statuses', () => {
    expect([SPECS.length, STATUSES.length]).toEqual([15, 2]);
  });

  it('is the shop of the sample', () => {
    const shown = SPECS[0]!.components[0];
    expect(SAMPLE.spec.components.find(({ name }) => name === shown!.name)).toMatchObject(shown!);
  });

  // One after the other: they have the same name.
  it.each(SPECS.map((spec) => ({ spec, names: spec.components.map(({ name }) => name).join() })))(
    'is taken by the API server, and the operator acts on it: $names',
    async ({ spec }) => {
      expect((await dryRun({ spec })).spec).toMatchObject(spec);
      await create(spec);
      await vi.waitFor(async () => {
        const { metadata, status } = await s.stack('example');
        expect(status?.observedGeneration).toBe(metadata?.generation);
        const { reason, message } = findCondition(status?.conditions, 'Stalled') ?? {};
        expect({ reason, message }).toEqual({ reason: 'NotStalled', message: 'Nothing is in the way.' });
        const refused = status?.components?.filter((each) => each.reason === 'WriteFailed') ?? [];
        // Of a CRD that is not installed here.
        expect(refused.filter(({ type }) => type !== 'Rules')).toEqual([]);
        expect(status?.components).toHaveLength(spec.components.length);
      }, WAIT);
    },
  );

  it('would be refused with a field that is misspelt', async () => {
    const spec = { ...SPECS[0], component: [] };
    await expect(dryRun({ spec })).rejects.toMatchObject({ status: 400 });
  });

  it.each(STATUSES.map((status) => ({ status })))(
    'has the fields of a status, and its words: %#',
    async ({ status }) => {
      const [spec] = SPECS;
      await dryRun({ spec, status });
      const states = (status.components ?? []).map(({ state }) => state);
      expect(states.length).toBeGreaterThan(0);
      expect(COMPONENT_STATES).toEqual(expect.arrayContaining(states));
      const misspelt = { ...status, components: [{ ...status.components?.[0], states: 'Ready' }] };
      await expect(dryRun({ spec, status: misspelt })).rejects.toMatchObject({ status: 400 });
    },
  );

  it('shows the columns, and the row of the sample, that kubectl prints', async () => {
    const shown = CONSOLE.filter((text) => /^kubectl get trafficstacks?( \w+)?\n/.test(text)).map((text) =>
      rowsOf(text).slice(1),
    );
    expect(shown.length).toBeGreaterThan(3);
    await giveRoom(s.f, [NODE]);
    await s.create('shop', SAMPLE.spec.components);
    await s.ready('shop');
    const [head, row] = rowsOf(await kubectl(s.f.controlPlane, ['get', 'trafficstack', 'shop']));
    for (const [first] of shown) expect(first).toEqual(head);
    // All but the age.
    expect(shown.map(([, first]) => first?.slice(0, -1))).toContainEqual(row?.slice(0, -1));
    expect(row).toHaveLength(head?.length ?? 0);
    await s.f.client.delete(TRAFFIC_STACKS, { name: 'shop' });
    await vi.waitFor(() => expect(s.stack('shop')).rejects.toSatisfy(isNotFound), WAIT);
  });

  it('has the file that the page shows', async () => {
    const spec = SPECS.find(({ components }) => components[0] === DB)!;
    await create(spec);
    const [, output] = CONSOLE.flatMap((text) => /^kubectl exec .*db\.conf\n([^]*)$/.exec(text) ?? []);
    await vi.waitFor(async () => {
      const labelSelector = `${COMPONENT_LABEL}=api`;
      const [found] = await s.f.client.list(CONFIG_MAPS, { namespace: 'shop', labelSelector });
      expect(found?.data?.['db.conf']).toBe(output);
    }, WAIT);
  });
});
