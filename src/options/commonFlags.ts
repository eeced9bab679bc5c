import { flag, withDefault, type FlagTable, type FlagValues } from './flagTable.ts';
import { dnsLabel, logLevel, path } from './values.ts';

/** Flags of every command that connects to the API server. */
export const COMMON_FLAGS = {
  namespace: withDefault(dnsLabel, 'traffic-operator-system', 'Namespace of the operator and of Prometheus.'),
  kubeconfig: flag(path, 'Kubeconfig file for the connection to the API server.', {
    defaultNote: '$KUBECONFIG, ~/.kube/config, or the pod’s service account',
  }),
  logLevel: withDefault(logLevel, 'info', 'Lowest level that is logged.'),
} as const satisfies FlagTable;

export type CommonFlags = FlagValues<typeof COMMON_FLAGS>;
