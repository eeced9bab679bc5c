import { TRAFFIC_STACKS } from '../../api/trafficstack/trafficStack.ts';
import { TRAFFIC_WEIGHTS } from '../../api/trafficweight/trafficWeight.ts';
import { PROMETHEUS_RULES } from '../../runtime/client/resources.ts';
import { DEFAULT_STACK } from '../contract/keepers.ts';
import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';

const { group, plural } = TRAFFIC_STACKS;
const KEEP = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** The RBAC rights of the controller of TrafficStacks. */
export function trafficStackRights(): ControllerRights {
  return {
    controller: NO_RIGHTS,
    cleanup: {
      ...NO_RIGHTS,
      cluster: [rule(group, [plural], ['list', 'patch']), rule(group, [plural], ['delete'], [DEFAULT_STACK])],
    },
    onlyWith: [
      {
        values: ['stacks'],
        own: [],
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
          {
            ...rule('apps', ['deployments', 'statefulsets', 'daemonsets'], KEEP),
            why: 'The workloads of components, and a node-exporter of somebody else.',
          },
          { ...rule('', ['services', 'configmaps'], KEEP), why: 'The Services and files of components.' },
          {
            ...rule('', ['serviceaccounts'], ['get', 'list', 'watch']),
            why: 'Those of built-in components. The controllers that deploy them without a stack have the rights to write them, by their names.',
          },
          {
            ...rule('apps', ['controllerrevisions'], KEEP),
            why: 'The last ready revision of components, for rollbacks.',
          },
          {
            ...rule(PROMETHEUS_RULES.group, [PROMETHEUS_RULES.plural], KEEP),
            why: 'The PrometheusRule of a component of the type Rules.',
          },
          { ...rule('policy', ['poddisruptionbudgets'], KEEP), why: 'Of components with high availability.' },
          {
            ...rule('', ['pods'], ['list', 'watch', 'delete']),
            why: 'Why a component is not ready. delete: one of a failed revision, which a StatefulSet would wait for.',
          },
          {
            ...rule('events.k8s.io', ['events'], ['list']),
            why: 'The same, where no status tells: a quota, a volume, a probe.',
          },
        ],
      },
      {
        values: ['stacks', 'weights'],
        own: [],
        cluster: [
          {
            ...rule(TRAFFIC_WEIGHTS.group, [TRAFFIC_WEIGHTS.plural], KEEP),
            why: 'The TrafficWeights of components.',
          },
        ],
      },
    ],
  };
}
