import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../api/trafficweight/trafficWeight.ts';
import { PROMETHEUS_RULES } from '../../runtime/client/resources.ts';
import { DEFAULT_STACK } from '../contract/keepers.ts';
import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';

const { group, plural } = TRAFFIC_STACKS;
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'patch', 'delete'];

/** What stacks have objects of in the namespaces of users. It is read in every namespace, and written in those that are allowed. */
const OBJECTS = [
  { group: 'apps', plurals: ['deployments', 'statefulsets', 'daemonsets'], why: 'The workloads of components' },
  { group: '', plurals: ['services', 'configmaps'], why: 'The Services and files of components' },
  { group: 'apps', plurals: ['controllerrevisions'], why: 'The last ready revision of components, for rollbacks' },
  {
    ...{ group: PROMETHEUS_RULES.group, plurals: [PROMETHEUS_RULES.plural] },
    why: 'The PrometheusRule of a component of the type Rules',
  },
  { group: 'policy', plurals: ['poddisruptionbudgets'], why: 'Of components with high availability' },
] as const;

/** The RBAC rights of the controller of TrafficStacks. Those on the objects of the stack `default` are by name: see the wings that render them. */
export function trafficStackRights(): ControllerRights {
  return {
    controller: {
      cluster: [
        {
          ...rule(group, [plural], ['list', 'watch', 'create', 'patch']),
          why: 'create: the stack "default". patch: that one, and the finalizer.',
        },
        { ...rule(group, [plural], ['delete'], [DEFAULT_STACK]), why: 'If the flags deploy nothing any more.' },
        rule(group, [`${plural}/status`], ['patch']),
        {
          ...rule(group, [`${plural}/finalizers`], ['update']),
          why: 'For the owner references, if the admission plugin OwnerReferencesPermissionEnforcement is enabled.',
        },
        { ...rule('apps', ['daemonsets'], READ), why: 'To find an existing node-exporter.' },
        { ...rule('', ['services'], READ), why: 'To find an existing Prometheus.' },
        {
          ...rule('', ['pods'], ['list', 'watch']),
          why: 'Why a component is not ready, and whether own pods of node-exporter listen.',
        },
      ],
      own: [
        {
          ...rule('apps', ['controllerrevisions'], [...READ, ...WRITE]),
          why: 'The last ready revision of components, for rollbacks.',
        },
        {
          ...rule('events.k8s.io', ['events'], ['list']),
          why: 'Why a component is not ready, where no status tells: a quota, a volume, a probe.',
        },
      ],
    },
    cleanup: {
      ...NO_RIGHTS,
      cluster: [rule(group, [plural], ['list', 'patch']), rule(group, [plural], ['delete'], [DEFAULT_STACK])],
    },
    onlyWith: [
      {
        values: ['stacks'],
        own: [],
        cluster: [
          ...OBJECTS.map(({ group: of, plurals, why }) => ({ ...rule(of, plurals, READ), why: `${why}.` })),
          {
            ...rule('', ['serviceaccounts'], READ),
            why: 'Those of built-in components. The rights to write them are by their names.',
          },
          {
            ...rule('events.k8s.io', ['events'], ['list']),
            why: 'Why a component is not ready, where no status tells: a quota, a volume, a probe.',
          },
        ],
        namespaces: [
          ...OBJECTS.map(({ group: of, plurals, why }) => ({
            ...rule(of, plurals, WRITE),
            why: `${why}: in every namespace, or only in those of a value.`,
          })),
          { ...rule('', ['pods'], ['delete']), why: 'One of a failed revision, which a StatefulSet would wait for.' },
        ],
      },
      {
        values: ['stacks', 'weights'],
        own: [],
        cluster: [
          {
            ...rule(TRAFFIC_WEIGHTS.group, [TRAFFIC_WEIGHTS.plural], [...READ, ...WRITE]),
            why: 'The TrafficWeights of components.',
          },
        ],
      },
    ],
  };
}
