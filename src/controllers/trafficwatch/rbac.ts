import { GROUP } from '../../api/group.ts';
import { POD_PLACEMENT_NAME, POD_PLACEMENTS } from '../../api/podplacement/schema.ts';
import { readKinds } from './observe/workload/targets.ts';
import { KEEP_VERBS, NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';

/** The RBAC rights of the controller of TrafficWatches and of its clean-up. */
export function trafficWatchRights(): ControllerRights {
  return {
    controller: {
      cluster: [
        { ...rule('', ['nodes'], ['list', 'watch', 'patch']), why: 'Verdicts are node labels.' },
        rule(GROUP, ['trafficwatches'], ['list', 'watch', 'patch']),
        rule(GROUP, ['trafficwatches/status'], ['patch']),
        {
          ...rule(GROUP, [POD_PLACEMENTS.plural], KEEP_VERBS, [POD_PLACEMENT_NAME]),
          why: 'What the policy gives the pods of a namespace. An apply creates them by name.',
        },
        {
          ...rule('apps', readKinds('apps'), ['get']),
          why: 'The selectors of workloads that spec.targetRef names, and the Deployments of the TrafficWatches.',
        },
        rule('batch', readKinds('batch'), ['get']),
        {
          ...rule(
            'admissionregistration.k8s.io',
            ['mutatingadmissionpolicies', 'mutatingadmissionpolicybindings', 'mutatingwebhookconfigurations'],
            ['list'],
          ),
          why: 'Whether the policy, or else the webhook, that gives pods the node affinity is installed.',
        },
        {
          ...rule('discovery.k8s.io', ['endpointslices'], ['list']),
          why: 'Whether that webhook has a pod that is ready.',
        },
        {
          ...rule('', ['pods'], ['list', 'watch']),
          why: 'Pods that a kubelet rejects on an unfit node or that are evicted from it, and pods that find no node while nodes are unfit.',
        },
      ],
      own: [],
    },
    cleanup: {
      ...NO_RIGHTS,
      cluster: [
        rule('', ['nodes'], ['list', 'patch']),
        rule(GROUP, ['trafficwatches'], ['list', 'patch']),
        rule(GROUP, [POD_PLACEMENTS.plural], ['list', 'delete'], [POD_PLACEMENT_NAME]),
      ],
    },
    onlyWith: [
      {
        values: ['trafficWatch.deployments'],
        own: [],
        cluster: [
          {
            ...rule(GROUP, ['trafficwatches/finalizers'], ['update']),
            why: 'For blockOwnerDeletion, if the admission plugin OwnerReferencesPermissionEnforcement is enabled.',
          },
          { ...rule('apps', ['deployments'], ['list', 'watch']), why: 'The Deployments of the TrafficWatches.' },
        ],
        namespaces: [
          {
            ...rule('apps', ['deployments'], ['create', 'patch']),
            why: 'To write the Deployments of the TrafficWatches: in every namespace, or only in the namespaces of a value.',
          },
        ],
      },
    ],
  };
}
