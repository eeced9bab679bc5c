import { trafficStackResource } from '../../api/trafficstack/schema.ts';
import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../api/trafficweight/trafficWeight.ts';
import { hasFinalizer, removeFinalizer } from '../../runtime/apply/finalizer.ts';
import { listServed } from '../../runtime/client/client.ts';
import { PROMETHEUS_RULES } from '../../runtime/client/resources.ts';
import type { CleanupContext } from '../contract/context.ts';
import { DEFAULT_STACK } from '../contract/stackOwnership.ts';
import { defineController } from '../contract/module.ts';
import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';
import { createTrafficStackMetrics } from './metrics.ts';
import { FIELD_MANAGER, FINALIZER } from './names.ts';
import { builtInsOf } from './render/dashboards.ts';
import { isOfOperator } from './render/defaultStack.ts';
import { runStacks } from './run.ts';

/** The controller of TrafficStacks: brings components up in the order of their dependencies. */
export const trafficStack = defineController({
  name: 'trafficstack',
  kinds: [trafficStackResource],
  flags: {},
  rights: trafficStackRights,
  registerMetrics: createTrafficStackMetrics,
  builtIns: ({ namespace }) => builtInsOf(namespace),
  create: (context, { namespace, stacks, defaultStack, stackNamespace, stackObjectKind }) =>
    runStacks(context, {
      ...{ namespace, namespaces: stackNamespace, objectKinds: stackObjectKind },
      ...{ hasUsers: stacks, hasDefault: defaultStack },
    }),
  cleanUp,
});

/**
 * Removes the finalizers of all TrafficStacks, because only the operator would do so. Their workloads keep running, as the Deployments of
 * TrafficWatches do. Other controllers clean up built-in components. Deletes the stack `default` if the operator made it. Idempotent.
 *
 * @throws ApiError, TransportError
 */
export async function cleanUp({ client, logger }: Pick<CleanupContext, 'client' | 'logger'>): Promise<void> {
  const stacks = await listServed(client, TRAFFIC_STACKS);
  const finalized = stacks.filter((stack) => hasFinalizer(stack, FINALIZER));
  for (const stack of finalized) await removeFinalizer(client, TRAFFIC_STACKS, stack, FINALIZER, FIELD_MANAGER);
  for (const { metadata } of stacks.filter(isOfOperator)) {
    await client.delete(TRAFFIC_STACKS, { name: metadata?.name ?? '' });
  }
  if (finalized.length > 0) logger.info({ stacks: finalized.length }, 'finalizers of TrafficStacks are off');
}

const { group, plural } = TRAFFIC_STACKS;
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'patch', 'delete'];

/** Objects of stacks in the namespaces of users: read in every namespace, written in allowed ones. */
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

/** Returns the RBAC rights of the controller. The wings that render the objects of the stack `default` have rights on them by name. */
export function trafficStackRights(): ControllerRights {
  return {
    controller: {
      cluster: [
        {
          ...rule(group, [plural], ['list', 'watch', 'create', 'patch']),
          why: 'create: the stack "default". patch: that one, and the finalizer.',
        },
        { ...rule(group, [plural], ['delete'], [DEFAULT_STACK]), why: 'If the flags no longer deploy anything.' },
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
            why: 'The ServiceAccounts of built-in components. The rights to write them are by their names.',
          },
          {
            ...rule('events.k8s.io', ['events'], ['list']),
            why: 'Why a component is not ready, where no status tells: a quota, a volume, a probe.',
          },
        ],
        namespaces: [
          ...OBJECTS.map(({ group: of, plurals, why }) => ({
            ...rule(of, plurals, WRITE),
            why: `${why}: in every namespace, or only in the namespaces of a value.`,
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
