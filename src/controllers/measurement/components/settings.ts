import type {
  CommonSpec,
  NodeExporterSpec,
  PrometheusSpec,
  PrometheusStorage,
} from '../../../api/trafficstack/trafficStack.ts';
import { prometheusDuration, readDuration } from '../../../runtime/process/duration.ts';
import { LEAST_SAMPLES_PER_WINDOW } from '../../../usage/evaluate/snapshot.ts';
import { given, placementIn, pullSecretsOf } from '../../contract/builtIn.ts';
import {
  bareName,
  defaultMeasurementOptions,
  halfOf,
  wholeName,
  type MeasurementOptions,
  type PrometheusOptions,
  type PrometheusVolume,
} from '../options.ts';

const DEFAULTS = defaultMeasurementOptions('');

/**
 * The options with the settings of a node-exporter of a stack. It tolerates all taints, and runs on all nodes but those that its own
 * settings leave out, whatever is common to others: each node is measured.
 */
export function withExporter(
  options: MeasurementOptions,
  { ignoredDevices, ...settings }: NodeExporterSpec = {},
  common: CommonSpec = {},
): MeasurementOptions {
  const { priorityClassName } = common;
  const devices = ignoredDevices === undefined ? {} : { ignoredDevices: wholeName(ignoredDevices) };
  return {
    ...options,
    imagePullSecrets: pullSecretsOf(common, options.imagePullSecrets),
    exporter: { ...options.exporter, ...given({ priorityClassName }), ...given(settings), ...devices },
  };
}

/** The options with the settings of a Prometheus of a stack. */
export function withPrometheus(
  options: MeasurementOptions,
  settings: PrometheusSpec = {},
  common: CommonSpec = {},
): MeasurementOptions {
  const { priorityClassName, nodeSelector, tolerations } = common;
  const { scrapeInterval, retention, retentionSize, storage, ...ofPod } = settings;
  return {
    ...options,
    imagePullSecrets: pullSecretsOf(common, options.imagePullSecrets),
    prometheus: {
      ...options.prometheus,
      ...given({ priorityClassName, nodeSelector, tolerations }),
      ...given(ofPod),
      ...given({ scrapeIntervalSeconds: secondsOf(scrapeInterval), retentionTime: retention }),
      ...(storage !== undefined && samplesIn(storage)),
      ...given({ retentionSize }),
    },
  };
}

/** A size that is set for the volume of the flags need not fit into this one. */
function samplesIn(storage: PrometheusStorage): Pick<PrometheusOptions, 'volume' | 'retentionSize'> {
  const volume = volumeOf(storage);
  return { volume, retentionSize: standardSize(volume) };
}

function volumeOf({ size, storageClassName, existingClaim }: PrometheusStorage): PrometheusVolume | undefined {
  if (existingClaim !== undefined) return { kind: 'existing', claimName: existingClaim };
  return size === undefined ? undefined : { kind: 'claim', size, ...given({ storageClassName }) };
}

/** The size limit of samples that nobody has set. */
function standardSize(volume: PrometheusVolume | undefined): string {
  return volume?.kind === 'claim' ? halfOf(volume.size) : DEFAULTS.prometheus.retentionSize;
}

function secondsOf(duration: string | undefined): number | undefined {
  const ms = duration === undefined ? undefined : readDuration(duration);
  return ms === undefined ? undefined : ms / 1000;
}

/** What is wrong with the settings of a Prometheus beside the flags: a sentence. */
export function prometheusProblem(
  { windowSeconds }: Pick<MeasurementOptions, 'windowSeconds'>,
  { scrapeInterval, retention }: PrometheusSpec = {},
): string | undefined {
  if (windowSeconds === undefined) return undefined;
  const least = LEAST_SAMPLES_PER_WINDOW * (secondsOf(scrapeInterval) ?? 0);
  if (windowSeconds < least) {
    return `prometheus.scrapeInterval is "${scrapeInterval}": --window is ${windowSeconds}s, and must be four scrapes, ${least}s, at least`;
  }
  const kept = retention === undefined ? undefined : prometheusDuration(retention);
  if (kept === undefined || windowSeconds * 1000 <= kept) return undefined;
  return `prometheus.retention is "${retention}": must be ${windowSeconds}s at least, which is --window`;
}

/**
 * The settings with which a node-exporter of a stack is as these options say, whatever the flags become. The names that the operator itself
 * ignores are left out: a newer version may know more.
 */
export function exporterSettings({ exporter }: MeasurementOptions): NodeExporterSpec {
  const { port, affinity, resources, ignoredDevices } = exporter;
  const isOfFlag = ignoredDevices !== DEFAULTS.exporter.ignoredDevices;
  return {
    ...{ port, ...placementIn(exporter), ...given({ affinity }), resources },
    ...(isOfFlag && { ignoredDevices: bareName(ignoredDevices) }),
  };
}

/** The same for a Prometheus. */
export function prometheusSettings({ prometheus }: MeasurementOptions): PrometheusSpec {
  const { resources, scrapeIntervalSeconds, retentionTime, retentionSize, volume } = prometheus;
  return {
    ...placementIn(prometheus),
    resources,
    scrapeInterval: `${scrapeIntervalSeconds}s`,
    retention: retentionTime,
    ...(retentionSize !== standardSize(volume) && { retentionSize }),
    storage: storageOf(volume),
  };
}

function storageOf(volume: PrometheusVolume | undefined): PrometheusStorage {
  if (volume === undefined) return {};
  if (volume.kind === 'existing') return { existingClaim: volume.claimName };
  const { size, storageClassName } = volume;
  return { size, ...given({ storageClassName }) };
}
