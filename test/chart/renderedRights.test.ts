import type { V1ValidatingAdmissionPolicySpec } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { helmTemplate, isHook, type Manifest } from '../../scripts/chart/helm.ts';
import { CONTROLLERS } from '../../src/controllers/registry.ts';
import { find, podOf } from './rendered.ts';

const NAMESPACE = 'traffic-operator-system';

describe('the rights', () => {
  interface Rule {
    apiGroups: string[];
    resources: string[];
    verbs: string[];
    resourceNames?: string[];
  }
  /** One line for each right: 'apps/daemonsets/node-exporter patch'. */
  const rightsOf = (rules: readonly Rule[]): string[] =>
    rules.flatMap(({ apiGroups, resources, verbs, resourceNames = ['*'] }) =>
      apiGroups.flatMap((group) =>
        resources.flatMap((resource) =>
          resourceNames.flatMap((name) => verbs.map((verb) => `${group}/${resource}/${name} ${verb}`)),
        ),
      ),
    );
  /** Two controllers may need the same right. */
  const unique = (rights: readonly string[]): string[] => [...new Set(rights)].sort();
  /** Roles of the process for DNS weights, of the connectivity server and of the placement webhook. */
  const OF_OTHERS = /-(weights|connectivity|server|placement)$/;
  const rendered = (kind: string, hook = false, ...args: string[]): string[] =>
    rightsOf(
      helmTemplate(...args)
        .filter((object) => object.kind === kind && isHook(object) === hook && !OF_OTHERS.test(object.metadata.name))
        .flatMap(({ rules }) => rules as Rule[]),
    );
  const ofWeights = (kind: string, ...args: string[]): string[] =>
    rightsOf(find(helmTemplate(...args), kind, false, 'weights').rules as Rule[]);
  /** The label-only installation: the smallest. */
  const WITHOUT = ['--set', 'trafficWatch.deployments.enabled=false'];
  const leaseRights = (name: string): string[] => [
    'coordination.k8s.io/leases/* create',
    ...['get', 'list', 'watch', 'update'].map((verb) => `coordination.k8s.io/leases/${name} ${verb}`),
  ];
  /** The own needs of the process: events, and the Lease. */
  const ofProcess = {
    ClusterRole: ['create', 'patch'].map((verb) => `events.k8s.io/events/* ${verb}`),
    Role: leaseRights('traffic-operator'),
  };
  const ofCleanup = {
    ClusterRole: [],
    Role: [
      ...['get', 'patch'].map((verb) => `apps/deployments/traffic-operator ${verb}`),
      'batch/jobs/traffic-operator-cleanup get',
      'coordination.k8s.io/leases/* create',
      ...['get', 'update', 'delete'].map((verb) => `coordination.k8s.io/leases/traffic-operator ${verb}`),
    ],
  };

  it.each([
    ['ClusterRole', 'cluster'],
    ['Role', 'own'],
  ] as const)('of each %s are exactly the rights of the controllers and of the process', (kind, where) => {
    const rights = CONTROLLERS.map((controller) => controller.rights(NAMESPACE));
    const manager = rights.flatMap(({ controller }) => rightsOf(controller[where] as Rule[]));
    expect(manager.length).toBeGreaterThan(10);
    expect(unique(rendered(kind, false, ...WITHOUT))).toEqual(unique([...manager, ...ofProcess[kind]]));
    const cleanup = rights.flatMap((controller) => rightsOf(controller.cleanup[where] as Rule[]));
    expect(unique(rendered(kind, true, ...WITHOUT))).toEqual(unique([...cleanup, ...ofCleanup[kind]]));
  });

  it('of an optional controller are there with its value, and only there', () => {
    const optional = CONTROLLERS.flatMap((controller) => controller.rights(NAMESPACE).onlyWith ?? []);
    const sets = optional.map(({ values }) => values);
    expect(sets).toEqual([
      ['connectivity'],
      ['trafficWatch.deployments'],
      ['weights'],
      ['stacks'],
      ['stacks', 'weights'],
    ]);
    for (const values of sets) {
      const everywhere = values.includes('stacks') ? ['stacks.namespaces={*}'] : [];
      const enabled = [...values.map((value) => `${value}.enabled=true`), ...everywhere].join();
      const isOn = (each: (typeof optional)[number]): boolean => each.values.every((value) => values.includes(value));
      const given = optional.filter((each) => isOn(each) && each.process === undefined);
      for (const [kind, where] of [['ClusterRole', 'cluster'] as const, ['Role', 'own'] as const]) {
        const rules = given.flatMap((each) => [...each[where], ...(kind === 'Role' ? [] : (each.namespaces ?? []))]);
        const wanted = unique([...rendered(kind, false, ...WITHOUT), ...rightsOf(rules as Rule[])]);
        expect(unique(rendered(kind, false, ...WITHOUT, '--set', enabled))).toEqual(wanted);
      }
    }
  });

  it('of the process for DNS weights are the rights of its controller, and the manager has none of them', () => {
    const all = CONTROLLERS.flatMap((controller) => controller.rights(NAMESPACE).onlyWith ?? []);
    const optional = all.filter(({ process }) => process === 'weights');
    for (const stacks of [false, true]) {
      const args = ['--set', `stacks.enabled=${stacks},weights.enabled=true`];
      const given = optional.filter(({ values }) => stacks || !values.includes('stacks'));
      const cluster = given.flatMap((each) => rightsOf(each.cluster as Rule[]));
      const own = given.flatMap((each) => rightsOf(each.own as Rule[]));
      expect(unique(ofWeights('ClusterRole', ...args))).toEqual(unique([...cluster, ...ofProcess.ClusterRole]));
      expect(unique(ofWeights('Role', ...args))).toEqual(unique([...own, ...leaseRights('traffic-operator-weights')]));
      const manager = [...rendered('ClusterRole', false, ...args), ...rendered('Role', false, ...args)];
      expect(manager.filter((right) => /dnsendpoints|ingresses|httproutes|trafficweights\/status/.test(right))).toEqual(
        [],
      );
    }
    const binding = find(helmTemplate('--set', 'weights.enabled=true'), 'ClusterRoleBinding', false, 'weights');
    expect(binding.subjects).toMatchObject([{ kind: 'ServiceAccount', name: 'traffic-operator-weights' }]);
  });

  it('have no write of a workload but by name, without stacks and the Deployments of TrafficWatches', () => {
    const writes = rendered('ClusterRole', false, ...WITHOUT).filter((right) =>
      / (create|patch|update|delete)/.test(right),
    );
    const workloads = writes.filter((right) => /^(apps|batch)\/|^\/(pods|replicationcontrollers)\//.test(right));
    expect(workloads.length).toBeGreaterThan(0);
    expect(
      workloads.filter((right) => !/\/daemonsets\/(node-exporter|netchecker-agent(-hostnet)?) /.test(right)),
    ).toEqual([]);
  });

  /** With a value that lists namespaces: the rights everywhere and in these namespaces, where they are bound, and the flags for them. */
  function boundBy(values: string, flag: string) {
    const objects = helmTemplate('--set', values).filter((object) => !isHook(object));
    const roleOf = ({ roleRef }: Manifest): string => (roleRef as { name: string } | undefined)?.name ?? '';
    const clusterWide = objects.filter(({ kind }) => kind === 'ClusterRoleBinding').map(roleOf);
    const roles = objects.filter(({ kind }) => kind === 'ClusterRole');
    const everywhere = roles.filter(({ metadata }) => clusterWide.includes(metadata.name));
    const [bound, ...others] = roles.filter((role) => !everywhere.includes(role));
    expect(others).toEqual([]);
    const { name } = bound!.metadata;
    const bindings = objects.filter((object) => roleOf(object) === name);
    const account = { kind: 'ServiceAccount', name: 'traffic-operator', namespace: NAMESPACE };
    for (const { subjects } of bindings) expect(subjects).toEqual([account]);
    return {
      everywhere: unique(everywhere.flatMap(({ rules }) => rightsOf(rules as Rule[]))),
      bound: unique(rightsOf(bound!.rules as Rule[])),
      bindings: bindings.map(({ kind, metadata }) => `${kind} ${metadata.namespace!}`),
      flags: podOf(find(objects, 'Deployment')).containers[0].args.filter((arg) => arg.startsWith(flag)),
    };
  }

  it('to write the Deployments of TrafficWatches are bound only in the namespaces of the value', () => {
    const values = 'trafficWatch.deployments.namespaces={shop,lab}';
    expect(boundBy(values, '--deployment')).toEqual({
      everywhere: unique([
        ...rendered('ClusterRole', false, ...WITHOUT),
        ...['list', 'watch'].map((verb) => `apps/deployments/* ${verb}`),
        'traffic.example.com/trafficwatches/finalizers/* update',
      ]),
      bound: ['create', 'patch'].map((verb) => `apps/deployments/* ${verb}`),
      bindings: ['RoleBinding shop', 'RoleBinding lab'],
      flags: ['--deployment-namespace=shop', '--deployment-namespace=lab'],
    });
  });

  it('to write the objects of stacks are bound only in the namespaces of the value, and of the release', () => {
    const { everywhere, bound, bindings, flags } = boundBy(
      `trafficWatch.deployments.enabled=false,stacks.enabled=true,stacks.namespaces={shop,lab,${NAMESPACE}}`,
      '--stack-namespace',
    );
    const own = CONTROLLERS.flatMap((each) => each.rights(NAMESPACE).onlyWith ?? []);
    const { cluster = [], namespaces = [] } = own.find(({ values }) => values.join() === 'stacks') ?? {};
    expect(everywhere).toEqual(unique([...rendered('ClusterRole', false, ...WITHOUT), ...rightsOf(cluster as Rule[])]));
    const unnamed = /^(apps|policy|monitoring\.coreos\.com|)\/[a-z]+\/\* (create|patch|delete)/;
    expect(everywhere.filter((right) => unnamed.test(right))).toEqual(['/nodes/* patch']);
    expect(bound).toEqual(unique(rightsOf(namespaces as Rule[])));
    expect(bound).toContain('/pods/* delete');
    expect(bindings).toEqual([NAMESPACE, 'shop', 'lab'].map((namespace) => `RoleBinding ${namespace}`));
    expect(flags).toEqual(['shop', 'lab', NAMESPACE].map((namespace) => `--stack-namespace=${namespace}`));
  });

  it('on kinds of objects of stacks are on these kinds alone, and to write them only in the namespaces', () => {
    const values = 'trafficWatch.deployments.enabled=false,stacks.enabled=true,stacks.namespaces={shop}';
    const kind = (index: number, ...of: string[]) => of.map((each) => `stacks.objectKinds[${index}].${each}`).join();
    const kinds = [
      kind(0, 'apiVersion=example.org/v1', 'kind=Thing', 'resource=things'),
      kind(1, 'apiVersion=v1', 'kind=PersistentVolumeClaim', 'resource=persistentvolumeclaims'),
    ].join();
    const before = boundBy(values, '--stack-object-kind');
    const after = boundBy(`${values},${kinds}`, '--stack-object-kind');
    const more = (is: readonly string[], was: readonly string[]) => is.filter((right) => !was.includes(right));
    const on = (...verbs: string[]) =>
      verbs.flatMap((verb) => [`/persistentvolumeclaims/* ${verb}`, `example.org/things/* ${verb}`]).sort();
    expect(more(after.everywhere, before.everywhere)).toEqual(on('get', 'list', 'watch'));
    expect(more(after.bound, before.bound)).toEqual(on('create', 'delete', 'patch'));
    // The policy that limits the operator to its own objects covers these kinds.
    const limited = (more: string) => {
      const policies = helmTemplate('--set', more).filter(({ kind: is }) => is === 'ValidatingAdmissionPolicy');
      const own = policies.find(({ metadata }) => metadata.name.endsWith('-own-objects'))?.spec as
        V1ValidatingAdmissionPolicySpec | undefined;
      return own?.matchConstraints?.resourceRules?.flatMap(({ resources = [] }) => resources) ?? [];
    };
    expect(more(limited(`${values},${kinds}`), limited(values))).toEqual(['things']);
    expect([before.flags, after.flags]).toEqual([
      [],
      [
        '--stack-object-kind=example.org/v1/things/Thing',
        '--stack-object-kind=v1/persistentvolumeclaims/PersistentVolumeClaim',
      ],
    ]);
  });

  it.each(['stacks.enabled=true', 'stacks.enabled=true,stacks.namespaces=null'])(
    'to write the objects of stacks are bound only in the namespace of the release with %s',
    (values) => {
      const { bindings, flags } = boundBy(`trafficWatch.deployments.enabled=false,${values}`, '--stack-namespace');
      expect(bindings).toEqual([`RoleBinding ${NAMESPACE}`]);
      expect(flags).toEqual([`--stack-namespace=${NAMESPACE}`]);
    },
  );

  it('of the manager are two more where it has to ask who may read its metrics, and only there', () => {
    const secure = ['--set', 'metrics.secure=true,metrics.certSecret=c'];
    const without = rendered('ClusterRole');
    const more = ['authentication.k8s.io/tokenreviews/* create', 'authorization.k8s.io/subjectaccessreviews/* create'];
    expect(rendered('ClusterRole', false, ...secure).sort()).toEqual([...without, ...more].sort());
    expect(rendered('ClusterRole', false, ...secure, '--set', 'metrics.enabled=false')).toEqual(without);
    expect(rendered('Role', false, ...secure)).toEqual(rendered('Role'));
    const weights = ['--set', 'weights.enabled=true'];
    expect(ofWeights('ClusterRole', ...weights, ...secure).sort()).toEqual(
      [...ofWeights('ClusterRole', ...weights), ...more].sort(),
    );
    expect(rendered('ClusterRole', true, ...secure)).toEqual(rendered('ClusterRole', true));
  });

  it('have neither wildcards nor secrets', () => {
    const all = ['ClusterRole', 'Role'].flatMap((kind) => [...rendered(kind), ...rendered(kind, true)]);
    // To read which bindings of policies exist binds nothing.
    const harmless = 'admissionregistration.k8s.io/mutatingadmissionpolicybindings/* list';
    const found = all.filter((right) => /^\*|\/\*\/|secrets| \*$|escalate|bind|impersonate/.test(right));
    expect(found.filter((right) => right !== harmless)).toEqual([]);
  });

  it('are not made where another owner manages them', () => {
    const objects = helmTemplate('--set', 'rbac.create=false,serviceAccount.create=false,serviceAccount.name=mine');
    expect(objects.filter((object) => !isHook(object) && /Role|ServiceAccount/.test(object.kind))).toEqual([]);
    expect(podOf(find(objects, 'Deployment')).serviceAccountName).toBe('mine');
  });
});
