import { flag, withDefault, type FlagTable, type FlagValues } from './flagTable.ts';
import { dnsLabel, logLevel, path } from './values.ts';

/** What every command takes that talks to the API server. */
export const COMMON_FLAGS = {
  namespace: withDefault(dnsLabel, 'traffic-operator-system', 'Namespace of the operator and of what it deploys.'),
  kubeconfig: flag(path, 'File that says how to reach the API server.', {
    defaultNote: '$KUBECONFIG, ~/.kube/config, or the pod’s service account',
  }),
  logLevel: withDefault(logLevel, 'info', 'How much is logged.'),
} as const satisfies FlagTable;

export type CommonFlags = FlagValues<typeof COMMON_FLAGS>;
