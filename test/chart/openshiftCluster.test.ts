import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { helmTemplate } from '../../scripts/chart/helm.ts';
import { established } from '../harness/customResource.ts';
import { securityContextConstraintsCrd } from '../harness/openshift.ts';
import { CHART, type Cluster, HELMS, startCluster } from './cluster.ts';

/** A real API server that serves SecurityContextConstraints by OpenShift's own CRD; it admits pods without them. */
const NAMESPACE = 'network';
const KIND = 'securitycontextconstraints.security.openshift.io';
const DONE = { ok: true, text: expect.any(String) as string };
const CONNECTIVITY = 'connectivity.enabled=true';
const SCCS = helmTemplate('--set', `openshift.enabled=true,${CONNECTIVITY}`).filter(
  ({ kind }) => kind === 'SecurityContextConstraints',
);
const NAMES = ['connectivity-agents', 'node-exporter'].map((name) => `${KIND}/${NAMESPACE}-traffic-operator-${name}`);
const WAIT = { timeout: 120_000, interval: 300 };

let cluster: Cluster;
const accepts = (object: object) => cluster.kubectl(['create', '--dry-run=server', '--validate=strict', '-f-'], object);
const names = async (): Promise<string[]> =>
  (await cluster.kubectl(['get', KIND, '-oname'])).text.split('\n').filter((line) => line.startsWith(KIND));

beforeAll(async () => {
  cluster = await startCluster();
  expect(await cluster.kubectl(['create', '-f-'], await securityContextConstraintsCrd())).toEqual(DONE);
  await established(cluster.kubectl, [`crd/${KIND}`]);
  // Its fields are published some time after it was created; helm asks for the kinds that are served.
  const told = { ok: false, text: expect.stringContaining('unknown field "allowAll"') as string };
  await vi.waitFor(async () => expect(await accepts({ ...SCCS[0], allowAll: true })).toEqual(told), WAIT);
});
afterAll(() => cluster.stop());

describe("OpenShift's schema, with strict field validation", () => {
  it.each(SCCS)('accepts the SecurityContextConstraints $metadata.name', async (scc) => {
    expect(await accepts(scc)).toEqual(DONE);
  });

  const without = (field: string): object =>
    Object.fromEntries(Object.entries(SCCS[0]!).filter(([name]) => name !== field));
  it.each<[string, () => object, RegExp]>([
    ['a misspelt field', () => ({ ...SCCS[0], allowHostNetworks: true }), /unknown field "allowHostNetworks"/],
    ['a misspelt field of a strategy', () => ({ ...SCCS[0], runAsUser: { typ: 'RunAsAny' } }), /"runAsUser.typ"/],
    ['a wrong type', () => ({ ...SCCS[0], volumes: 'none' }), /volumes: Invalid value/],
    ['a missing field', () => without('readOnlyRootFilesystem'), /readOnlyRootFilesystem: Required value/],
  ])('refuses %s, or it would prove nothing', async (_what, object, message) => {
    expect(await accepts(object())).toEqual({ ok: false, text: expect.stringMatching(message) as string });
  });
});

describe.each(HELMS)('a release of %s', (program) => {
  const install = (...values: string[]) =>
    cluster.helm(
      program,
      ...['upgrade', '--install', 'traffic-operator', CHART, '-n', NAMESPACE, '--create-namespace'],
      ...values.flatMap((value) => ['--set', value]),
    );
  const pod = async (): Promise<{ securityContext: object; containers: [{ args: string[] }] }> => {
    const path = '-ojsonpath={.spec.template.spec}';
    const { text } = await cluster.kubectl(['-n', NAMESPACE, 'get', 'deployment/traffic-operator', path]);
    return JSON.parse(text) as { securityContext: object; containers: [{ args: string[] }] };
  };
  afterAll(async () => {
    await cluster.helm(program, 'uninstall', 'traffic-operator', '-n', NAMESPACE, '--no-hooks');
  });

  it('finds the kind without a value, and makes pods without IDs and the SCCs', async () => {
    expect(await install(CONNECTIVITY)).toEqual(DONE);
    const { securityContext, containers } = await pod();
    expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(containers[0].args).toContain('--openshift=true');
    expect((await names()).sort()).toEqual(NAMES);
  });

  it('is upgraded without a change of the SCCs', async () => {
    const state = async (): Promise<string> =>
      (await cluster.kubectl(['get', NAMES[1]!, '-ojsonpath={.metadata.generation}'])).text;
    const before = await state();
    expect(await install(CONNECTIVITY)).toEqual(DONE);
    expect(await state()).toBe(before);
  });

  it('takes an SCC away with the pods that need it, and all of them where the values say that this is not OpenShift', async () => {
    expect(await install('connectivity.enabled=false')).toEqual(DONE);
    expect(await names()).toEqual([NAMES[1]]);
    expect(await install('openshift.enabled=false', CONNECTIVITY)).toEqual(DONE);
    expect(await names()).toEqual([]);
    expect((await pod()).securityContext).toMatchObject({ runAsUser: 65532, runAsGroup: 65532, fsGroup: 65532 });
  });
});
