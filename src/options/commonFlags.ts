import { flag, withDefault, type FlagProblem, type FlagTable, type FlagValues } from './flagTable.ts';
import { address, boolean, dnsLabel, logLevel, path, wholeNumber } from './values.ts';
import { optionalText } from './connectivityValues.ts';
import type { LOG_LEVELS } from '../runtime/process/logger.ts';

/** Flags of every command that connects to the API server. */
export const COMMON_FLAGS = {
  namespace: withDefault(dnsLabel, 'traffic-operator-system', 'Namespace of the operator and of Prometheus.'),
  kubeconfig: flag(path, 'Kubeconfig file for the connection to the API server.', {
    defaultNote: '$KUBECONFIG, ~/.kube/config, or the pod’s service account',
  }),
  logLevel: withDefault(logLevel, 'info', 'Lowest level that is logged.'),
} as const satisfies FlagTable;

export type CommonFlags = FlagValues<typeof COMMON_FLAGS>;

/** The flags for what a process serves about itself. */
export const SERVER_FLAGS = {
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

export type ServerFlags = FlagValues<typeof SERVER_FLAGS>;

/** Whether the flags of the metrics fit together. */
export function metricsProblem({
  metricsBindAddress,
  metricsSecure,
  metricsCertPath,
}: ServerFlags): FlagProblem<'metricsSecure'> | undefined {
  return metricsSecure && metricsBindAddress !== 'off' && metricsCertPath === undefined
    ? { key: 'metricsSecure', message: 'needs --metrics-cert-path, a directory with tls.crt and tls.key' }
    : undefined;
}

/** The flags of a process that runs controllers: where it runs, and what it serves. */
export const PROCESS_FLAGS = {
  ...COMMON_FLAGS,
  leaderElect: withDefault(boolean, 'false', 'Elect one replica as leader; the other replicas stand by.'),
  ...SERVER_FLAGS,
} as const satisfies FlagTable;

export type ProcessFlags = FlagValues<typeof PROCESS_FLAGS>;

type LogLevel = (typeof LOG_LEVELS)[number];

const IGNORED = 'Accepted for compatibility; this program logs JSON lines to standard output.';

/** The logging flags of Go's glog, which the original server and agent have. */
export const GLOG_FLAGS = {
  v: flag(wholeNumber(0, 10), 'Verbosity of the original program: from 4 on, as --log-level=debug.'),
  logtostderr: flag(boolean, IGNORED),
  alsologtostderr: flag(boolean, IGNORED),
  stderrthreshold: flag(optionalText, IGNORED),
  vmodule: flag(optionalText, IGNORED),
  log_dir: flag(optionalText, IGNORED),
  log_backtrace_at: flag(optionalText, IGNORED),
} as const satisfies FlagTable;

/** The verbosity from which on the original programs log each report. */
const DEBUG_VERBOSITY = 4;

/** The level of a program that has both kinds of flags: the more verbose of the two. */
export function levelOf({ v, logLevel }: { v: number | undefined; logLevel: LogLevel }): LogLevel {
  return v !== undefined && v >= DEBUG_VERBOSITY && logLevel !== 'trace' ? 'debug' : logLevel;
}
