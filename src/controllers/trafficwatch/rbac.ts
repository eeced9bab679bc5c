import { NO_RIGHTS, rule, type ControllerRights } from '../contract/rights.ts';

const GROUP = 'traffic.example.com';

/** The rights that TrafficWatches need, and those of their clean-up. */
export function trafficWatchRights(): ControllerRights {
  return {
    controller: {
      cluster: [
        { ...rule('', ['nodes'], ['list', 'watch', 'patch']), why: 'Verdicts are node labels.' },
        rule(GROUP, ['trafficwatches'], ['list', 'watch', 'patch']),
        rule(GROUP, ['trafficwatches/status'], ['patch']),
        {
          ...rule(GROUP, ['trafficwatches/finalizers'], ['update']),
          why: 'To be an owner that holds up its own deletion, where the admission plugin OwnerReferencesPermissionEnforcement is on.',
        },
        {
          ...rule('apps', ['deployments'], ['get', 'list', 'watch', 'create', 'patch']),
          why: 'The workloads, in whichever namespaces the TrafficWatches are.',
        },
        {
          ...rule('', ['pods'], ['list', 'watch']),
          why: 'Pods that failed: a kubelet that restarts rejects those on an unfit node.',
        },
      ],
      own: [],
    },
    cleanup: {
      ...NO_RIGHTS,
      cluster: [rule('', ['nodes'], ['list', 'patch']), rule(GROUP, ['trafficwatches'], ['list', 'patch'])],
    },
  };
}
