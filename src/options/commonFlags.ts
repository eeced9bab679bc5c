import { flag, withDefault, type FlagTable, type FlagValues } from './flagTable.ts';
import { address, boolean, dnsLabel, logLevel, path } from './values.ts';

/** Flags of every command that connects to the API server. */
export const COMMON_FLAGS = {
  namespace: withDefault(dnsLabel, 'traffic-operator-system', 'Namespace of the operator and of Prometheus.'),
  kubeconfig: flag(path, 'Kubeconfig file for the connection to the API server.', {
    defaultNote: '$KUBECONFIG, ~/.kube/config, or the pod’s service account',
  }),
  logLevel: withDefault(logLevel, 'info', 'Lowest level that is logged.'),
} as const satisfies FlagTable;

export type CommonFlags = FlagValues<typeof COMMON_FLAGS>;

/** The flags of a process that runs controllers: where it runs, and what it serves. */
export const PROCESS_FLAGS = {
  ...COMMON_FLAGS,
  leaderElect: withDefault(boolean, 'false', 'Elect one replica as leader; the other replicas stand by.'),
  healthProbeBindAddress: withDefault(address, ':8081', 'Address that serves /healthz and /readyz.'),
  metricsBindAddress: withDefault(address, '0', 'Address that serves /metrics.'),
  metricsSecure: withDefault(
    boolean,
    'false',
    'Serve /metrics over HTTPS, and only to clients that may get the non-resource URL /metrics.',
  ),
  metricsCertPath: flag(
    path,
    'Directory with tls.crt and tls.key for /metrics. The files are reloaded when they change.',
  ),
  enableHttp2: withDefault(boolean, 'false', 'Enable HTTP/2 for /metrics over HTTPS.'),
} as const satisfies FlagTable;

export type ProcessFlags = FlagValues<typeof PROCESS_FLAGS>;
